"""What the fuzzers run: every reader on any bytes; nothing but ReadError may come out."""

from heeler.io import ReadError
from heeler.io.bif import network as bif_network
from heeler.io.bif import parser as bif_parser
from heeler.io.uai import evidence, model, results

#: A reader's limit in fuzzing, small enough that using it up takes no time.
MAX_ENTRIES = 10_000


def read_uai(data):
    """Read a UAI model in both forms."""
    return [
        model.build(model.parse(data, log10=log10, max_entries=MAX_ENTRIES))
        for log10 in (False, True)
    ]


def read_bif(data):
    """Read a BIF network."""
    return bif_network.build(bif_parser.parse(data.decode("latin-1")), MAX_ENTRIES)


def read_evidence(data):
    """Read evidence, checked and not checked against a model."""
    return evidence.parse_evidence(data), evidence.parse_evidence(data, [2, 3, 2, 21])


TARGETS = {
    "uai": read_uai,
    "bif": read_bif,
    "evidence": read_evidence,
    "results": results.parse_results,
}

NETWORK = b"""network "a b" { property x = "1;2"; } // comment
variable rain { type discrete [ 2 ] { no, yes }; property p; }
variable "wet grass" { type discrete [ 3 ] { <5, "5 (or so)", 12+ }; }
probability ( rain ) { table 0.8, 2e-1; }
probability ( "wet grass" | rain ) { (no) 1 0 0; /* rest */ default .5, .25, .25; }
"""
SEEDS = {
    "uai": [
        (
            b"MARKOV 3\n2 2 3\n4\n1 0\n2 0 1\n2 1 2\n0\n\n2\n .436 .564\n4\n .128 .872\n .92 8e-2\n"
            b"6\n .21 .333 .457\n .811 0 .189\nc comment\n1 0.5 # end"
        ),
        b"BAYES 2 2 3 2 1 0 2 0 1 2 .25 .75 6 .1 .2 .7 .3 .3 .4",
        b"MARKOV 1 3 1 1 0 3 -4 2.5 -inf",
    ],
    "bif": [NETWORK],
    "evidence": [b"2 1 0 3 1", b"2\n1 2 0\n2 0 0 3 20\n", b"0"],
    "results": [
        b"PR\n-12.5",
        b"MAR\n1\n2 2 .25 .75 3 .1 .2 .7\n",
        b"MPE\n-BEGIN-\n2 0 1\n-BEGIN-\n1\n2 1 1\n",
    ],
}


def run(target, data):
    """Read bytes and return whether they were accepted; anything but ReadError passes through."""
    try:
        TARGETS[target](data)
    except ReadError as error:
        # Whatever the bytes were, the message can be printed.
        str(error).encode("utf-8", "strict")
        return False
    return True
