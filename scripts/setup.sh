#!/bin/sh
# Make a virtual environment with kgrag, its tools and the versions of constraints.txt.
#
# usage: setup.sh FOLDER        PYTHON=/path/to/python chooses the interpreter, EXTRAS=dev,ocr what
#                               of pyproject.toml is installed
set -eu
cd "$(dirname "$0")/.."
venv=$1

# A command of that name may be missing, too old, or a shim for a version that is not installed.
is_recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3.11 python3 python3.12 python3.13 python3.14
fi
python=
for candidate in "$@"; do
    if is_recent "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    {
        echo "kgrag needs Python 3.11 or newer. Tried:"
        for candidate in "$@"; do
            echo "  $candidate: $("$candidate" --version 2>&1 | tail -n 1)"
        done
        echo "Remedy: install it, or say where it is: make PYTHON=/path/to/python3.11 ..."
    } >&2
    exit 1
fi

echo "set-up: $("$python" --version) in $venv"
if ! "$python" -m venv --clear "$venv"; then
    echo "The venv module of $python is not whole." >&2
    echo "Remedy, on Debian and Ubuntu: apt-get install python3-venv" >&2
    exit 1
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable ".[${EXTRAS:-dev}]"
