#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a clone to every test's result, in one command: sets up, builds with warnings as errors, runs all tests. Needs no
# display: a test with windows brings its own virtual screen. A second run builds only what changed.
#
#   packaging/test.sh [further ctest arguments, e.g. -L unit or -R tst_topology]
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

"$checkout/packaging/setup.sh"
# Without it the tests of exported and imported networks compare with recorded outputs alone, and say so.
if [ -z "${RESIDUA_PYTHON:-}" ] && "$checkout/packaging/python.sh"; then
  export RESIDUA_PYTHON="$python_folder/bin/python3" # tests have caches of their own, and would not find it
elif [ -z "${RESIDUA_PYTHON:-}" ]; then
  say "going on without PyTorch for Python"
fi
configure_and_build ci
# Tests run side by side: OpenMP threads that spin while waiting would take the cores from each other.
export OMP_WAIT_POLICY=passive
cd "$checkout/build/ci"
ctest --output-on-failure --parallel "$(cores)" "$@" || fail "tests failed (above)"
