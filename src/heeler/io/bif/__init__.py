"""BIF files: Bayesian networks with named variables and values.

A file has blocks: `network NAME { }`, `variable NAME { type discrete [ K ] { value, ... }; }` and
`probability ( CHILD | PARENT, ... ) { ... }`. A probability block gives the child's distribution
for each joint value of the parents as `(value, ...) p, ...;`, for the values not listed as
`default p, ...;`, or for everything as `table p, ...;` in counting order of the variables as they
stand in the block's head, the last fastest (the child, standing first, is the slowest). Properties
are skipped; comments are `// ...` and `/* ... */`; names may be quoted.
"""

from heeler.io.bif.network import Network, Table, Variable, read
from heeler.io.bif.parser import parse
from heeler.io.bif.writer import write

__all__ = ["Network", "Table", "Variable", "parse", "read", "write"]
