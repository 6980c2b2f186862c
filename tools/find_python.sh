#!/bin/sh
# Prints a Python that can run heeler, or says what is missing. PYTHON=... names one to try first.
set -eu

fits='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 15))'

for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.14 python3.15 python3.11 python; do
    # Running it is the only sure test: launchers exist for versions that are not installed.
    if "$candidate" -c "$fits" 2>/dev/null; then
        if "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
            echo "$candidate"
            exit 0
        fi
        without_venv=$candidate
    fi
done

if [ -n "${without_venv:-}" ]; then
    echo "heeler: $without_venv fits but lacks the modules venv and ensurepip" >&2
    echo "(on Debian and Ubuntu they are in the package python3-venv)." >&2
else
    found=$(python3 --version 2>/dev/null || echo "no python3")
    echo "heeler needs Python 3.11 to 3.15; found $found." >&2
    echo "Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
fi
exit 1
