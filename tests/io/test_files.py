"""Bytes in and out: limits, broken compression, all or nothing."""

import gzip
import lzma
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heeler.io import files
from heeler.io.errors import ReadError
from heeler.io.files import read_bytes, split_name, write_bytes

TEXT = b"MARKOV 1 2 0\n" * 1000


def test_split_name():
    assert split_name("a/b.x.uai.gz") == (".uai", ".gz")
    assert split_name("b.BIF.XZ") == (".bif", ".xz")
    assert split_name("plain") == ("", "")
    assert split_name("model.gz") == ("", ".gz")


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_round_trip(tmp_path, ending):
    path = tmp_path / f"file.uai{ending}"
    write_bytes(path, TEXT)
    assert read_bytes(path) == TEXT
    assert (path.stat().st_size < len(TEXT) // 4) == bool(ending)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_several_streams_and_wrong_names(tmp_path, compress):
    path = tmp_path / "file.uai"
    path.write_bytes(compress(TEXT) + compress(b"") + compress(TEXT))
    assert read_bytes(path) == TEXT * 2


def test_padded_xz(tmp_path):
    path = tmp_path / "file.uai.xz"
    path.write_bytes(lzma.compress(TEXT) + b"\0" * 8 + lzma.compress(TEXT) + b"\0" * 4)
    assert read_bytes(path) == TEXT * 2


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress)])
def test_broken_compression(tmp_path, ending, compress):
    path = tmp_path / f"file.uai.{ending}"
    whole = compress(os.urandom(5000))
    for broken in (whole[:-9], whole[:40], whole[:60] + b"?" * 40 + whole[100:], whole + b"junk"):
        path.write_bytes(broken)
        with pytest.raises(ReadError, match=f"sound {ending}-compressed"):
            read_bytes(path)
    path.write_bytes(b"MARKOV")
    with pytest.raises(ReadError, match=f"{ending}-compressed data, found none"):
        read_bytes(path)


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_limit(tmp_path, ending):
    path = tmp_path / f"file.uai{ending}"
    write_bytes(path, b" " * 5_000_000)
    assert len(read_bytes(path, 5_000_000)) == 5_000_000
    with pytest.raises(ReadError, match="max_bytes=4999999"):
        read_bytes(path, 4_999_999)
    with pytest.raises(ValueError, match="max_bytes"):
        read_bytes(path, 0)


def test_decompression_stops_at_the_limit(tmp_path, monkeypatch):
    # 200 MB of blanks in 200 kB: no more than one piece over the limit may come out.
    path = tmp_path / "bomb.uai.gz"
    path.write_bytes(gzip.compress(b" " * 200_000_000, 1))
    sizes = []
    pieces = files._pieces

    def counted(*arguments):
        for piece in pieces(*arguments):
            sizes.append(len(piece))
            yield piece

    monkeypatch.setattr(files, "_pieces", counted)
    with pytest.raises(ReadError, match="at most"):
        read_bytes(path, 10**6)
    assert sum(sizes) <= 10**6 + 2**20


def test_huge_xz_dictionary_is_refused(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**29, "preset": 0}]
    path = tmp_path / "file.uai.xz"
    path.write_bytes(lzma.compress(b"MARKOV", filters=filters))
    with pytest.raises(ReadError, match="sound xz"):
        read_bytes(path)


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_any_compressed_bytes(tmp_path, compress):
    path = tmp_path / "file.uai"
    whole = compress(TEXT)

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(st.integers(6, len(whole)), st.integers(0, 20), st.binary(max_size=8))
    def check(first, cut, middle):
        path.write_bytes(whole[:first] + middle + whole[first + cut :])
        try:
            found = read_bytes(path, 2 * len(TEXT))
        except ReadError:
            return
        # What is accepted passed the checksum, whatever the header says of names and times.
        assert found == TEXT

    check()


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.uai"
    write_bytes(path, b"old")

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_bytes(path, b"new")
    assert os.listdir(tmp_path) == ["file.uai"]
    assert path.read_bytes() == b"old"


def test_permissions(tmp_path):
    path = tmp_path / "file.uai"
    write_bytes(path, b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    write_bytes(path, b"y")
    assert path.stat().st_mode & 0o777 == 0o640
