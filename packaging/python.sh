#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs PyTorch for Python, of the version that setup.sh has LibTorch of, what makes and runs ONNX graphs with it, and
# ruff, in the cache outside the checkout: what the tests of exported networks run them with, and `export --to onnx`. 3 GB
# to download, 5 GB on disk; without it those tests write the folders, do not compare them, and say so. RESIDUA_PYTHON
# names a Python of your own instead.
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

torch_version=$(awk '$1 == "torch" { print $3 }' "$checkout/packaging/wheels.txt")
ruff_version=0.17.6
packages=("torch==$torch_version" "ruff==$ruff_version" onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/residua"
target="$cache/python"

mkdir -p "$cache" 2>/dev/null || fail "cannot create the cache directory $cache"
exec 9>"$cache/python.lock"
flock 9
if [ "$(cat "$target/packages" 2>/dev/null)" = "${packages[*]}" ]; then
  say "PyTorch $torch_version for Python: there already, in $target"
  exit
fi
rm -rf "$target" # what a failure left, or other versions
python3 -m venv "$target" || fail "python3 -m venv failed: Debian has it in python3-venv"
"$target/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" ||
  { rm -rf "$target"; fail "pip could not install ${packages[*]} (above)"; }
echo "${packages[*]}" >"$target/packages"
say "PyTorch $torch_version for Python: installed in $target"
