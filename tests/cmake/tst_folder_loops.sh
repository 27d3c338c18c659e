#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tst_folder_loops.sh CHECKOUT: no loop over a folder throws. A range-based loop over a directory iterator does if a read
# fails in mid-list, and ends the program in a thread without a handler; increment(code) reports the failure.
set -euo pipefail
throwing='for \([^;()]*:[^;]*directory_iterator[({]'
if ! grep -qE "$throwing" <<<'for (const auto& entry : fs::recursive_directory_iterator(to, code)) {'; then
  echo "the pattern finds nothing" >&2
  exit 1
fi
if grep -rnE "$throwing" --include='*.cpp' --include='*.h' "$1"/{app,editor,engine,kernels,projects,visualizers}; then
  echo "these loops throw; expected fs::directory_iterator with increment(code)" >&2
  exit 1
fi
