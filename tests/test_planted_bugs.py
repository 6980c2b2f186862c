"""Every kernel's tests notice a bug that is put into it: each test here plants one in a copy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMPILED = Path("src/heeler/compiled")
TWIN = "tests/kernel/test_general_twin.py"
LATTICE = "tests/compiled/test_lattice_twin.py"
COLOURED = "tests/compiled/test_coloured.py"
LANES = "tests/compiled/test_lanes.py"
# A row: what goes wrong, the file, what it says, what it says instead, the tests that must notice.
# The bugs are of the kind that leaves results plausible: no crash, no impossible number.
BUGS = [
    (
        "herding compares before it adds",
        "drivers.py",
        "    return total >> 32",
        "    return np.int64(np.int64(total) - p >= np.int64(1) << 31)",
        f"{TWIN}::test_herded_auto",
    ),
    (
        "the chosen value pays half of what it owes",
        "rows.py",
        "paid = b.select(mine, e.constant(_WORD, MOST, _ONE)",
        "paid = b.select(mine, e.constant(_WORD, MOST, _ONE // 2)",
        f"{TWIN}::test_herded_contexts",
    ),
    (
        "the score follows ones only",
        "loop.py",
        "score += (new - old) * gain",
        "score += new * gain",
        f"{TWIN}::test_random",
    ),
    (
        "the gain is always that of the first context",
        "conditionals.py",
        "gain = np.int64(conditional.gain[np.uintp(context)])",
        "gain = np.int64(conditional.gain[np.uintp(conditional.base[i])])",
        f"{TWIN}::test_herded_auto",
    ),
    (
        "local fields are told of half the changes",
        "conditionals.py",
        "conditional.fields[lane, j] += step * row[j]",
        "conditional.fields[lane, j] += max(step, 0) * row[j]",
        f"{TWIN}::test_random",
    ),
    (
        "the temperature is forgotten in rows of K values",
        "quantise.py",
        "exponential(beta * (log_weights[v] - top))",
        "exponential(log_weights[v] - top)",
        f"{TWIN}::test_temperature_schedule",
    ),
    (
        "the last place of a shuffle is drawn less often",
        "scans.py",
        "* (count - k)) >> 32)",
        "* (count - 1 - k)) >> 32)",
        f"{TWIN}::test_scans",
    ),
    (
        "contexts forget which value a variable had",
        "hashed.py",
        "change = zobrist(i, old) ^ zobrist(i, new)",
        "change = zobrist(i, new)",
        f"{TWIN}::test_herded_contexts",
    ),
    (
        "words repeat from block to block",
        "words.py",
        "philox(np.uint32(block * QUARTER + q), c1, c2, c3, k0, k1)",
        "philox(np.uint32(q), c1, c2, c3, k0, k1)",
        f"{TWIN}::test_more_positions_than_a_block_of_words",
    ),
    (
        "lanes take their neighbours in another order",
        "lane_blocks.py",
        "for j in (3, 2, 1, 0):",
        "for j in (2, 3, 1, 0):",
        f"{LANES}::test_tables_equal_couplings",
    ),
    (
        "lanes share their words",
        "words.py",
        "np.uint32(first_lane + lane)",
        "np.uint32(first_lane)",
        f"{LANES}::test_equals_slow_twin",
    ),
    (
        "colour classes overlap by a slot",
        "coloured.py",
        "first = max(start, plan.classes[number])",
        "first = max(start, plan.classes[number] - 1)",
        f"{COLOURED}::test_equals_slow_twin",
    ),
    (
        "coloured chains keep the latest state as the best",
        "coloured.py",
        "            if score > best_score:\n",
        "            if score != best_score:\n",
        f"{COLOURED}::test_equals_slow_twin",
    ),
    (
        "random lattices forget the site on the left",
        "lattice_random.py",
        "if plan.shape[LEFT] != 0:",
        "if plan.shape[LEFT] > 1:",
        f"{LATTICE}::test_engine_equals_twin",
    ),
    (
        "herded lattices forget the site on the left",
        "lattice_herded.py",
        "if plan.shape[LEFT] != 0:",
        "if plan.shape[LEFT] > 1:",
        f"{LATTICE}::test_engine_equals_twin",
    ),
    (
        "rows of a lattice do not close into a ring",
        "lattice_rows.py",
        "if plan.shape[WRAPS] != 0 and column + count == length:",
        "if plan.shape[WRAPS] > 1 and column + count == length:",
        f"{LATTICE}::test_engine_equals_twin",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "right", "wrong", "test"), [b[1:] for b in BUGS], ids=[b[0] for b in BUGS]
)
def test_a_planted_bug_is_noticed(tmp_path, file, right, wrong, test):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / COMPILED / file
    text = source.read_text(encoding="utf-8")
    assert right in text, "the kernel has changed: plant another bug"
    source.write_text(text.replace(right, wrong), encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            test,
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path / "src"),
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    # The test compared numbers and found them wrong: nothing crashed and nothing was refused.
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    assert "AssertionError" in done.stdout or "\nE       assert " in done.stdout, done.stdout[
        -2000:
    ]
