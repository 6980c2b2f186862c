"""First states of models from competitions, most of whose table entries are zero."""

import tarfile

import numpy as np

import heeler
from heeler.model import first_state


def _evidence(text):
    """Read evidence in both dialects: with and without a leading number of samples."""
    numbers = [int(word) for word in text.split()]
    if len(numbers) != 1 + 2 * numbers[0]:
        numbers = numbers[1:]
    return dict(zip(numbers[1::2], numbers[2::2], strict=True))


def test_pedigrees_and_diagnoses_have_a_first_state(shared_data, tmp_path):
    with tarfile.open(shared_data / "uai" / "uai2014.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    names = ("Pedigree_*.uai", "linkage_2*.uai", "Promedus_1*.uai")
    paths = sorted(path for name in names for path in tmp_path.rglob(name))
    assert len(paths) >= 8
    for path in paths:
        model = heeler.read(path)
        known = path.with_name(path.name + ".evid")
        if known.exists():
            model = model.given(_evidence(known.read_text()))
        assert model.has_zeros
        assert np.isfinite(model.log_score(first_state(model, seed=1, lanes=2))).all()
