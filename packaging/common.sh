# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Shared by setup.sh, run.sh, test.sh, python.sh, deb.sh and the installed residua-setup; sourced, not run.

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(basename "$0" .sh)

# What python.sh installs. projects/base/child_process.cpp looks there too.
# shellcheck disable=SC2034
python_folder="${XDG_CACHE_HOME:-${HOME:-}/.cache}/residua/python"

say() { printf '%s: %s\n' "$program" "$*"; }

# One line on standard error, whatever went wrong.
fail() {
  printf '%s: %s\n' "$program" "$*" | tr '\n' ' ' | sed 's/ *$//' >&2
  echo >&2
  exit 1
}

cores() { getconf _NPROCESSORS_ONLN; }

# configure_and_build PRESET [TARGET...]: the log is shown only when it says why the build failed.
configure_and_build() {
  local preset=$1 log="$checkout/build/$1/configure.log"
  shift
  mkdir -p "$checkout/build/$preset"
  (cd "$checkout" && cmake --preset "$preset") >"$log" 2>&1 || {
    cat "$log" >&2
    fail "configuring preset $preset failed (above, and in build/$preset/configure.log)"
  }
  say "building preset $preset with $(cores) cores"
  cmake --build "$checkout/build/$preset" --parallel "$(cores)" ${1:+--target "$@"} ||
    fail "building preset $preset failed (above)"
}
