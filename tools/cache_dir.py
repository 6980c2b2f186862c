"""Print the folder for Numba's compiled code that belongs to the present kernels.

Numba's cache looks at the file of the compiled function only, so an edit of a helper in another
file would leave stale machine code in use. Kernels live in `heeler.compiled` alone, so a folder
named by a hash of that package cannot be stale, and an edit elsewhere compiles nothing again.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Switching between a few versions of the sources stays fast; each folder is some tens of megabytes.
KEPT = 4


def source_hash(source: Path) -> str:
    """Hash the names and contents of all Python files below a folder.

    Parameters
    ----------
    source : Path
        The folder.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for file in sorted(source.rglob("*.py")):
        content = file.read_bytes()
        # Lengths keep two different trees from giving the same stream of bytes.
        digest.update(f"{file.relative_to(source).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def cache_directory(root: Path, kept: int = KEPT) -> Path:
    """Make the cache folder of the present sources and remove the oldest others.

    Parameters
    ----------
    root : Path
        The project's folder, holding `src/heeler/compiled`.
    kept : int
        How many folders stay, the present one included.

    Returns
    -------
    Path
        The folder, existing.
    """
    caches = root / ".cache" / "numba"
    current = caches / source_hash(root / "src" / "heeler" / "compiled")
    current.mkdir(parents=True, exist_ok=True)
    current.touch()
    others = [folder for folder in caches.iterdir() if folder.is_dir() and folder != current]
    others.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in others[kept - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)
    return current


if __name__ == "__main__":
    print(cache_directory(ROOT))
