"""Bytes from files and to files: bounded decompression, atomic writing."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from heeler.io.errors import ReadError

__all__ = ["MAX_BYTES", "MAX_ENTRIES", "read_bytes", "split_name", "write_bytes"]

#: Bytes of text, after decompression, that a reader accepts unless told otherwise (1 GiB).
MAX_BYTES = 2**30
#: Table entries that a reader accepts unless told otherwise (1 GiB of float64).
MAX_ENTRIES = 2**27

_PIECE = 2**20
# An xz header can ask for a 4 GiB dictionary before the first byte comes out; `xz -9` needs 65 MiB.
_XZ_MEMORY = 2**27
_COMPRESSIONS = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00"}


def split_name(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the ending that tells a file's format, and the one that tells its compression.

    Parameters
    ----------
    path : str or path-like
        The file, which need not exist.

    Returns
    -------
    format_ending, compression : str
        In lower case and with the dot, `""` when there is none.
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    compression = endings.pop() if endings and endings[-1] in _COMPRESSIONS else ""
    return (endings[-1] if endings else ""), compression


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Return a file's content, decompressed.

    Compression is recognised by the content, so a wrongly named file is read all the same; a name
    that promises compression must keep the promise.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int
        Limit on the decompressed size. No more than this and a little is ever held in memory.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    ReadError
        If the content is larger than `max_bytes`, or not what its compression promises.
    OSError
        If the file is missing or cannot be opened.
    """
    if max_bytes < 1:
        raise ValueError(f"max_bytes must be at least 1, got {max_bytes!r}")
    name = os.fspath(path)
    promised = split_name(path)[1]
    with open(path, "rb") as file:
        head = file.read(6)
        file.seek(0)
        found = next((e for e, magic in _COMPRESSIONS.items() if head.startswith(magic)), "")
        if promised and found != promised:
            raise ReadError(f"expected {promised[1:]}-compressed data, found none", name)
        pieces: list[bytes] = []
        size = 0
        try:
            for piece in _pieces(file, found):
                size += len(piece)
                if size > max_bytes:
                    raise ReadError(f"expected at most max_bytes={max_bytes} bytes of text", name)
                pieces.append(piece)
        except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
            message = f"expected sound {found[1:]}-compressed data: {error}"
            raise ReadError(message, name) from error
    return b"".join(pieces)


def _pieces(file: BinaryIO, compression: str) -> Iterator[bytes]:
    if compression == ".xz":
        yield from _xz_pieces(file)
        return
    source = gzip.GzipFile(fileobj=file) if compression == ".gz" else file
    while piece := source.read(_PIECE):
        yield piece


def _xz_pieces(file: BinaryIO) -> Iterator[bytes]:
    """Decompress a sequence of xz streams with a limit on the decompressor's own memory."""
    data = file.read(_PIECE)
    while data:
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not stream.eof:
            yield stream.decompress(data, max_length=_PIECE)
            data = b""
            if stream.needs_input and not stream.eof:
                data = file.read(_PIECE)
                if not data:
                    raise EOFError("the compressed data ends early")
        # Streams may be padded with zeros; anything else that follows must be another stream.
        data = (stream.unused_data or file.read(_PIECE)).lstrip(b"\0")
        while not data and (data := file.read(_PIECE)):
            data = data.lstrip(b"\0")


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file in one step, compressed if its name says so.

    A temporary file beside the target takes its place when it is complete, so that a reader never
    sees half a file and a failure leaves the old one.

    Parameters
    ----------
    path : str or path-like
        The file; `.gz` and `.xz` compress.
    data : bytes
        The content, not compressed.
    """
    target = Path(path)
    compression = split_name(path)[1]
    if compression == ".gz":
        # No time stamp: the same model gives the same bytes.
        data = gzip.compress(data, mtime=0)
    elif compression == ".xz":
        data = lzma.compress(data)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _usual_mode(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _usual_mode(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those that `open` would give."""
    with contextlib.suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
