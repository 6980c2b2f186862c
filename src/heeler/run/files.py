"""Runs and checkpoints as files: arrays and JSON, nothing that could be executed."""

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "heeler run 1"
_SETTINGS = "settings"


def write_run(
    path: str | os.PathLike[str], settings: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a run so that a kill at any moment leaves the old file or the new one, whole.

    Parameters
    ----------
    path
        The file.
    settings
        What JSON can hold.
    arrays
        The arrays, by name.
    """
    target = Path(path)
    text = np.frombuffer(json.dumps({"format": FORMAT, **settings}).encode(), np.uint8)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **{_SETTINGS: text}, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _check_format(settings: dict[str, Any]) -> None:
    """Take the format out of the settings; refuse another one."""
    if settings.pop("format") != FORMAT:
        raise ValueError("another format")


def read_run(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_run` wrote.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    settings : dict
        The settings.
    arrays : dict
        The arrays, by name.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        settings = json.loads(arrays.pop(_SETTINGS).tobytes())
        _check_format(settings)
    except FileNotFoundError:
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        AttributeError,
        TypeError,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(
            f"{os.fspath(path)!r} is not a run that this version of heeler can load: {error}"
        ) from None
    return settings, arrays
