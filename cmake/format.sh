#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Formats every C++ and CUDA source that git knows, by .clang-format; with --check only names those that differ.
# Releases of clang-format differ in details, so Debian 12's, 14, is the one that counts; exit 77 says it is not here.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
  echo "format: clang-format 14 is not here"
  exit 77
fi
mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')
if [ ${#files[@]} -eq 0 ]; then
  echo "format: this is no git checkout"
  exit 77
fi
if [ "${1:-}" != --check ]; then
  "$tool" -i "${files[@]}"
  exit
fi
differ=$("$tool" --dry-run -Werror "${files[@]}" 2>&1 | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error.*/format: \1 differs/p' | sort -u || true)
[ -z "$differ" ] || { echo "$differ"; echo "format: run cmake/format.sh"; exit 1; }
