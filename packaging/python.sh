#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs PyTorch for Python, of the version that setup.sh has LibTorch of, transformers and ruff, in the cache outside
# the checkout: what the tests of exported and imported networks run them with. 3 GB to download, 5 GB on disk; without
# it those tests write the folders, do not compare them, and say so. RESIDUA_PYTHON names a Python of your own instead.
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

torch_version=$(awk '$1 == "torch" { print $3 }' "$checkout/packaging/wheels.txt")
ruff_version=0.17.6
transformers_version=5.23.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/residua"
target="$cache/python"

mkdir -p "$cache" 2>/dev/null || fail "cannot create the cache directory $cache"
exec 9>"$cache/python.lock"
flock 9
if [ -x "$target/bin/python3" ] &&
  [ "$("$target/bin/python3" -c 'import importlib.metadata as m; print(m.version("torch"), m.version("transformers"))' 2>/dev/null)" = \
    "$torch_version $transformers_version" ]; then
  say "PyTorch $torch_version for Python: there already, in $target"
  exit
fi
rm -rf "$target" # what a failure left
python3 -m venv "$target" || fail "python3 -m venv failed: Debian has it in python3-venv"
"$target/bin/pip" install --quiet --disable-pip-version-check "torch==$torch_version" \
  "transformers==$transformers_version" "ruff==$ruff_version" ||
  { rm -rf "$target"; fail "pip could not install PyTorch $torch_version (above)"; }
say "PyTorch $torch_version for Python: installed in $target"
