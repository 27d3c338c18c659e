# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# What the shell tests share; sourced with the checkout as $1. Every case runs in a scratch directory of its own, with
# stand-ins for the commands that would touch the network or the system first on the path.

checkout=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
case_name=""

wrong() {
  echo "FAIL $case_name: $*"
  failures=$((failures + 1))
}

# stub NAME: a command on the path whose body is standard input.
stub() {
  { echo '#!/bin/bash'; cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}

# run COMMAND...: leaves status, out and err.
run() {
  status=0
  PATH="$bin:$PATH" "$@" >"$dir/out" 2>"$dir/err" </dev/null || status=$?
}

passes() { [ "$status" = 0 ] || wrong "exit status $status: $(cat "$dir/err")"; }
says() { grep -qF -- "$1" "$dir/out" "$dir/err" || wrong "not said: $1; out: $(cat "$dir/out"); err: $(cat "$dir/err")"; }

# A failure is one line on standard error.
fails_with() {
  [ "$status" != 0 ] || wrong "expected a failure"
  [ "$(wc -l <"$dir/err")" = 1 ] || wrong "expected one line, got: $(cat "$dir/err")"
  grep -qF -- "$1" "$dir/err" || wrong "expected '$1', got: $(cat "$dir/err")"
}

close() {
  if [ "$failures" != 0 ]; then exit 1; fi
  echo "all cases passed"
}
