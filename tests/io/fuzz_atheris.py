"""Coverage-guided fuzzing of one reader: `python fuzz_atheris.py TARGET RUNS`.

Needs atheris. Ends with code 0 after the given number of runs; anything but ReadError, more than
a few seconds for one input or too much memory is a crash, and its input is printed.
"""

import random
import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
with atheris.instrument_imports(include=["heeler.io"]):
    import io_fuzz


class Fuzzer:
    """Runs one reader on the inputs that atheris makes, and counts those that were accepted.

    Parameters
    ----------
    target : str
        The reader.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.accepted = 0
        self.seen = 0

    def __call__(self, data: bytes) -> None:
        """Read one input."""
        self.seen += 1
        self.accepted += io_fuzz.run(self.target, data)
        if self.seen % 1000 == 0:
            sys.stdout.write(f"seen {self.seen}, accepted {self.accepted}\n")
            sys.stdout.flush()


def main() -> None:
    """Fuzz as the command line says."""
    target, runs = sys.argv[1], int(sys.argv[2])
    random.seed(0)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(io_fuzz.SEEDS[target]):
            (Path(folder) / f"seed{number}").write_bytes(seed)
        options = [
            f"-runs={runs}", "-seed=1", "-max_len=2000", "-timeout=5", "-rss_limit_mb=1024",
            "-max_total_time=60", f"-artifact_prefix={folder}/",
        ]  # fmt: skip
        atheris.Setup([sys.argv[0], *options, folder], Fuzzer(target))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
