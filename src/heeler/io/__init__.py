"""Models from files and to files.

`heeler.read` and `heeler.write` go by the file's ending; the subpackages `heeler.io.uai` and
`heeler.io.bif` have what is particular to a format.
"""

from heeler.io import bif, uai
from heeler.io.anyfile import read, write
from heeler.io.errors import ReadError
from heeler.io.scans import read_scan, write_scan

__all__ = ["ReadError", "bif", "read", "read_scan", "uai", "write", "write_scan"]
