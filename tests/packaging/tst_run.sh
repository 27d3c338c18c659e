#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# packaging/run.sh and test.sh with stand-ins for the setup, the build and what they built: which commands follow.
set -euo pipefail
# shellcheck source=tests/packaging/check.sh disable=SC2016
. "$(dirname "$0")/check.sh"

begin() {
  case_name=$1
  dir="$scratch/$1" bin="$scratch/$1/bin"
  root="$dir/checkout" LOG="$dir/log"
  export LOG
  unset DISPLAY WAYLAND_DISPLAY
  mkdir -p "$bin" "$root/packaging" "$root/build/release/bin" "$root/build/ci" "$dir/mine"
  echo '{}' >"$dir/mine/project.json"
  cp "$checkout"/packaging/{run.sh,test.sh,common.sh} "$root/packaging/"
  : >"$LOG"
  stub cmake <<<'echo "cmake $*" >>"$LOG"'
  stub ctest <<<'echo "ctest $*" >>"$LOG"; echo "100% tests passed, 0 tests failed out of 1"'
  local built=$bin
  bin="$root/packaging"
  stub setup.sh <<<'echo "setup $*" >>"$LOG"'
  bin="$root/build/release/bin"
  stub residua <<<'echo "residua $*" >>"$LOG"'
  stub residua-cli <<'STUB'
echo "residua-cli $*" >>"$LOG"
case $1 in
  new) mkdir -p "$4" && echo '{}' >"$4/project.json" ;;
  train) mkdir -p "$4/checkpoints" ;;
  sample) echo "once upon a time" ;;
esac
STUB
  bin=$built
}
# The commands that were called, in order, each matched by its pattern.
called() {
  local lines pattern number=0
  mapfile -t lines <"$LOG"
  for pattern in "$@"; do
    # shellcheck disable=SC2053
    [[ ${lines[$number]:-nothing} == $pattern ]] || wrong "call $number: expected $pattern, got ${lines[$number]:-nothing}"
    number=$((number + 1))
  done
  [ "${#lines[@]}" = "$number" ] || wrong "more calls than expected: ${lines[*]:$number}"
}

begin headless
run bash "$root/packaging/run.sh"
passes
project="$root/build/example/ancre-language"
called "setup " "cmake --preset release" "cmake --build */release --parallel * --target residua residua-cli" \
  "residua-cli new --example ancre-language $project" "residua-cli train $project --run */runs/*" \
  "residua-cli report */runs/* -o */report.html" "residua-cli sample */runs/* --tokens 200"
says "once upon a time"
says "report      $root/build/example/runs/"
says "checkpoints $root/build/example/runs/"
says "sample      $root/build/example/runs/"

begin headless_project
run bash "$root/packaging/run.sh" "$dir/mine" --cpu
passes
called "setup --cpu" "cmake *" "cmake *" "residua-cli train $dir/mine --run $dir/mine/runs/*" "residua-cli report *" "residua-cli sample *"

begin no_sample
cli="$root/build/release/bin/residua-cli"
sed -i 's/  sample) .*/  sample) echo "the project is no language model" >\&2; exit 2 ;;/' "$cli"
run bash "$root/packaging/run.sh" "$dir/mine"
passes
says "no sample: the project is no language model"

begin training_fails
sed -i 's/  train) .*/  train) exit 3 ;;/' "$root/build/release/bin/residua-cli"
run bash "$root/packaging/run.sh" "$dir/mine"
fails_with "training $dir/mine failed"

begin window
export DISPLAY=:7
run bash "$root/packaging/run.sh" "$dir/mine"
passes
called "setup " "cmake *" "cmake *" "residua $dir/mine"

begin no_project
run bash "$root/packaging/run.sh" "$dir"
fails_with "$dir is no project: it holds no project.json"
called

begin build_fails
stub cmake <<<'[ "$1" = --preset ]'
run bash "$root/packaging/run.sh"
fails_with "building preset release failed"

begin tests
run bash "$root/packaging/test.sh" -L unit
passes
called "setup " "cmake --preset ci" "cmake --build */ci --parallel *" "ctest --output-on-failure --repeat until-pass:2 --parallel * -L unit"
says "100% tests passed, 0 tests failed out of 1"

begin unsteady
export RESIDUA_PYTHON=/usr/bin/python3
stub ctest <<'STUB'
echo "1/3 Test #1: a/tst_steady ............   Passed    0.10 sec"
echo "2/3 Test #2: a/tst_unsteady ..........***Failed    0.08 sec"
echo "    Test #2: a/tst_unsteady ..........   Passed    0.06 sec"
echo "3/3 Test #3: a/tst_wrong .............***Failed    0.06 sec"
echo "    Test #3: a/tst_wrong .............***Failed    0.04 sec"
exit 8
STUB
run bash "$root/packaging/test.sh"
fails_with "tests failed (above)"
says "UNSTEADY"
says "  a/tst_unsteady"
if grep -qE "^  a/tst_(steady|wrong)" "$dir/out"; then wrong "a test that is not unsteady is named"; fi

begin comparisons
stub ctest <<'STUB'
mkdir -p Testing/Temporary
cat >Testing/Temporary/LastTest.log <<'TESTS'
PASS   : TestPyTorchFolder::isCleanByRuff()
SKIP   : TestPyTorchFolder::isTheSameNetwork(plain) the folder is written and not compared: no torch
SKIP   : TestPyTorchFolder::isTheSameNetwork(of two words) the folder is written and not compared: no torch
SKIP   : TestCudaTraining::trainsAsTheCpuDoes(plain) no NVIDIA driver
TESTS
STUB
run bash "$root/packaging/test.sh"
passes
says "NOT COMPARED"
says "TestPyTorchFolder::isTheSameNetwork (2): the folder is written and not compared: no torch"
if grep -q Cuda "$dir/out"; then wrong "a test of another kind is named"; fi
run env RESIDUA_REQUIRE_PYTHON=1 bash "$root/packaging/test.sh"
fails_with "comparisons were skipped (above)"
stub ctest <<<'mkdir -p Testing/Temporary; echo "PASS   : TestPyTorchFolder::isTheSameNetwork(plain)" >Testing/Temporary/LastTest.log'
run env RESIDUA_REQUIRE_PYTHON=1 bash "$root/packaging/test.sh"
passes

close
