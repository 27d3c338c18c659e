#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a clone to every test's result, in one command: sets up, builds with warnings as errors, runs all tests. Needs no
# display: a test with windows brings its own virtual screen. A second run builds only what changed.
#
#   packaging/test.sh [further ctest arguments, e.g. -L unit or -R tst_topology]
#
# A test that fails runs once more. At the end it names those that passed then, and the comparisons with other people's
# programs that were skipped for want of Python's packages.
# RESIDUA_REQUIRE_PYTHON=1: one skipped comparison then counts as a failure.
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

# The comparisons that were skipped, each test once, with how many cases and why: empty where all were made.
skipped_comparisons() {
  awk '/^SKIP *: Test(ImportPackage|OnnxGraph|PyTorchFolder|TokenizersPackage)::/ {
         line = $0
         sub(/^SKIP *: /, "", line)
         name = line; sub(/\(.*/, "", name)
         sub(/^[^(]*\([^)]*\) */, "", line)
         if (!(name in cases)) { order[++tests] = name; why[name] = line }
         ++cases[name]
       }
       END { for (i = 1; i <= tests; ++i) printf "  %s (%d): %s\n", order[i], cases[order[i]], why[order[i]] }' \
    Testing/Temporary/LastTest.log 2>/dev/null || true
}

# The tests that failed once and passed when they were repeated, from what ctest printed.
unsteady_tests() {
  awk 'match($0, /Test +#[0-9]+: [^ ]+/) {
         name = substr($0, RSTART, RLENGTH); sub(/.*: /, "", name)
         if (/[*][*][*]/) failed[name] = 1
         else if (/ Passed /) { if (failed[name]) print "  " name }
       }' "$1"
}

configure_and_build ci
cd "$checkout/build/ci"
failed=""
mkdir -p Testing
ctest --output-on-failure --repeat until-pass:2 --parallel "$(cores)" "$@" | tee Testing/printed.log || failed=yes
unsteady=$(unsteady_tests Testing/printed.log)
if [ -n "$unsteady" ]; then
  say "UNSTEADY: failed once, and passed when repeated:"
  echo "$unsteady"
fi
skipped=$(skipped_comparisons)
if [ -n "$skipped" ]; then
  say "NOT COMPARED with PyTorch, transformers, tokenizers or ONNX, which packaging/python.sh installs:"
  echo "$skipped"
fi
[ -z "$failed" ] || fail "tests failed (above)"
if [ -n "$skipped" ] && [ "${RESIDUA_REQUIRE_PYTHON:-0}" = 1 ]; then
  fail "comparisons were skipped (above), and RESIDUA_REQUIRE_PYTHON asks for them"
fi
