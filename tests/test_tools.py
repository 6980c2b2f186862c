"""The project's own checks: each must notice what it is there for."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"


def load(name):
    """Import a script of tools/ as a module."""
    specification = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def docstrings():
    return load("check_docstrings")


def complaints(docstrings, thing):
    return list(docstrings.check_callable("thing", thing, thing.__doc__))


def test_right_docstring_passes(docstrings):
    def right(first, second, *rest, last=0, **options):
        """Do something.

        Parameters
        ----------
        first, second : int
            Two numbers: with a colon in the text.
        *rest : int
            More.
        last : {0, 1}, optional
            One more.
        **options
            Whatever.

        Returns
        -------
        int
            Not a parameter.
        """

    assert complaints(docstrings, right) == []


@pytest.mark.parametrize("names", [("first",), ("first", "other"), ("second", "first"), ()])
def test_wrong_docstring_is_noticed(docstrings, names):
    def wrong(first, second):
        pass

    entries = "".join(f"{name} : int\n    Text.\n" for name in names)
    wrong.__doc__ = f"Do it.\n\nParameters\n----------\n{entries}" if names else "Do it."
    (complaint,) = complaints(docstrings, wrong)
    assert "second" in complaint


def test_missing_docstring_is_noticed(docstrings):
    def silent():
        pass

    assert complaints(docstrings, silent) == ["thing: no docstring"]


def test_undescribed_field_of_a_record_is_noticed(docstrings):
    from typing import NamedTuple

    class Record(NamedTuple):
        """A record.

        Attributes
        ----------
        first : int
            Described.
        """

        first: int
        second: int

    assert complaints(docstrings, Record) == ["thing: fields not described: second"]


def test_cache_folder_follows_every_source_and_old_ones_go(tmp_path):
    cache = load("cache_dir")
    source = tmp_path / "src" / "heeler" / "compiled"
    source.mkdir(parents=True)
    (source / "kernel.py").write_text("one = 1\n")
    (source / "helper.py").write_text("two = 2\n")
    folders = [cache.cache_directory(tmp_path, kept=2)]
    assert cache.cache_directory(tmp_path, kept=2) == folders[0]
    for value in range(3):
        (source / "helper.py").write_text(f"two = {value + 3}\n")
        folders.append(cache.cache_directory(tmp_path, kept=2))
        # Clocks of file systems are coarse: say which folder is older.
        for age, folder in enumerate(folders):
            if folder.is_dir():
                os.utime(folder, (1_000_000 + age, 1_000_000 + age))
    assert len(set(folders)) == 4
    assert [folder.is_dir() for folder in folders] == [False, False, True, True]


def test_cache_folder_notices_a_renamed_file(tmp_path):
    cache = load("cache_dir")
    (tmp_path / "first.py").write_text("x = 1\n")
    before = cache.source_hash(tmp_path)
    (tmp_path / "first.py").rename(tmp_path / "second.py")
    assert cache.source_hash(tmp_path) != before


@pytest.mark.parametrize(
    ("reason", "present", "status"),
    [
        ("the folder ../shared/data is absent", True, 1),
        ("the folder ../shared/data is absent", False, 0),
        ("could not import dimod", True, 0),
    ],
)
def test_skip_for_data_that_are_there_fails(tmp_path, monkeypatch, reason, present, status):
    skips = load("check_skips")
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="b">'
        f'<skipped message="{reason}"/></testcase><testcase classname="a" name="c"/>'
        "</testsuite></testsuites>"
    )
    shared = tmp_path / "shared"
    if present:
        shared.mkdir()
    monkeypatch.setattr(sys, "argv", ["check_skips", "--shared", str(shared), str(report)])
    assert skips.main() == status
