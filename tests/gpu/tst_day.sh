#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# day.sh with stand-ins for the programs of its bundle: what it says of a stage that passes, fails, needs a GPU or hangs.
set -euo pipefail
# shellcheck source=tests/packaging/check.sh disable=SC2016
. "$1/tests/packaging/check.sh"

begin() {
  case_name=$1
  dir="$scratch/$1" bin="$scratch/$1/bin" bundle="$scratch/$1/bundle"
  mkdir -p "$bin" "$bundle/bin" "$bundle/lib" "$dir/site/torch/lib"
  echo torch >"$dir/site/torch/lib/libtorch_cpu.so"
  echo "libtorch_cpu.so 6" >"$bundle/built-with"
  export RESIDUA_TORCH="$dir/site"
  stub nvidia-smi <<<'exit 0'
  stub python3 <<<'echo "python3 $*"'
  stub ldd <<<'exit 0'
  stub compute-sanitizer <<<'echo 0 errors'
  stub ncu <<<'echo "mixRows dram__throughput 80"'
  bin="$bundle/bin"
  stub residua-cli <<<'echo "residua-cli $*"; echo custom kernels: in use'
  for program in bench_depth_mix bench_training engine_training kernels_tst_cuda_depth_mix; do
    stub "$program" <<<'echo "$0 $*"'
  done
}
day() {
  bin="$dir/bin"
  run bash "$checkout/tests/gpu/day.sh" "$bundle" "$dir/result" "$@"
}
state_of() { grep -E "^$2 +$1 " "$dir/result/summary.txt" >/dev/null || wrong "$1 is not $2: $(cat "$dir/result/summary.txt")"; }

begin passes
day 60 preflight devices mixing memory_check
passes
for name in preflight devices mixing memory_check; do state_of "$name" OK; done
says "residua-cli devices"
says "--device cuda --types bf16,fp32"
[ "$(wc -l <"$dir/result/summary.txt")" = 4 ] || wrong "stages that were not asked for ran"

begin fails
stub residua-cli <<<'echo custom kernels: not in use'
echo "libtorch_cpu.so 7" >"$bundle/built-with"
day 60 preflight devices kernels
[ "$status" = 1 ] || wrong "a failed stage ends with 0"
state_of preflight BAD
says "libtorch_cpu.so differs from the one of the build"
state_of devices BAD
says "not in use"
state_of kernels OK

begin without_gpu
bin="$dir/bin"
stub nvidia-smi <<<'exit 9'
bin="$bundle/bin"
stub bench_depth_mix <<<'echo "no NVIDIA driver"; exit 2'
stub engine_training <<<'echo "SKIP   : TestCudaTraining::trains() no NVIDIA driver"'
stub kernels_tst_cuda_depth_mix <<<'exit 1'
day 60 mixing training kernels
state_of mixing SKIP
state_of training SKIP
state_of kernels BAD

begin hangs
stub bench_depth_mix <<<'sleep 1000'
day 5 mixing gpt2
state_of mixing LATE
state_of gpt2 LATE
says "not started: the time was over"

close
