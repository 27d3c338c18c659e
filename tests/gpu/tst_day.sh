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
  for program in bench_depth_mix bench_training engine_training kernels_tst_cuda_depth_mix kernels_tst_cuda_transformer; do
    stub "$program" <<<'echo "$0 $*"'
  done
}
day() {
  bin="$dir/bin"
  run bash "$checkout/tests/gpu/day.sh" "$bundle" "$dir/result" "$@"
}
state_of() { grep -E "^$2 +$1 " "$dir/result/summary.txt" >/dev/null || wrong "$1 is not $2: $(cat "$dir/result/summary.txt")"; }

begin passes
day 60 preflight devices mixing racecheck
passes
for name in preflight devices mixing racecheck; do state_of "$name" OK; done
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
stub compute-sanitizer <<<'echo "bash: line 1: compute-sanitizer: command not found"; exit 127'
bin="$bundle/bin"
stub bench_depth_mix <<<'echo "no NVIDIA driver"; exit 2'
stub engine_training <<<'echo "SKIP   : TestCudaTraining::trains() no NVIDIA driver"'
stub kernels_tst_cuda_depth_mix <<<'exit 1'
bin="$dir/bin"
stub python3 <<<'echo "RuntimeError: Cannot initialize CUDA without ATen_cuda library."; exit 1'
bin="$bundle/bin"
day 60 mixing training peer_gpt2
for name in mixing training peer_gpt2; do state_of "$name" SKIP; done
day 60 kernels racecheck
state_of kernels BAD
state_of racecheck SKIP

begin fails_midway
stub bench_training <<<'[ "$RESIDUA_CUDA_GRAPH" = 0 ]'
day 60 graphs subnetworks
state_of graphs BAD
state_of subnetworks BAD

# A failed correctness stops the speed of the same call and of a later one.
begin stops
stub kernels_tst_cuda_depth_mix <<<'echo "cases $RESIDUA_CASES, forms $RESIDUA_CUDA_FORMS, $*"'
bin="$dir/bin"
stub compute-sanitizer <<<'echo "3 errors $*"; exit 9'
day 60 correctness
[ "$status" = 1 ] || wrong "a failed correctness ends with 0"
for name in racecheck memcheck synccheck initcheck; do state_of "$name" BAD; done
state_of kernels OK
day 60 mixing_forms traces
[ "$status" = 1 ] || wrong "stopped stages end with 0"
state_of mixing_forms STOP
state_of traces STOP
says "not started: correctness failed"

# A call for the speed alone checks the kernels first.
begin alone
stub kernels_tst_cuda_depth_mix <<<'exit 1'
stub bench_training <<<'echo "$*"'
day 60 speed
state_of short_check BAD
state_of mixing_forms STOP
state_of billion STOP

# The clocks stand with a stage's figures.
begin clocks
bin="$dir/bin"
stub nvidia-smi <<<'case $* in *clocks.sm,power*) sleep 1; printf "1980, 500\n1755, 700\n1980, 600\n"; sleep 60 ;; esac'
bin="$bundle/bin"
stub bench_training <<<'sleep 2; echo "$*"'
day 60 llama
says "--residual entries,bf16"
says "clock 1980 MHz (1755 to 1980), 600 W on average"

# The counters are of the gather too, which the bench starts last.
begin counts
bin="$dir/bin"
stub ncu <<<'for kernel in mixGatedRows weightGradTensor gatherForm; do echo "  void residua::kernels::cuda::$kernel<__nv_bfloat16, 3>(Args) (1, 1, 1)"; echo "    dram__throughput % 80"; done; echo "==PROF== done"'
day 60 counters
state_of counters OK
says "gatherForm"
if grep -q PROF "$dir/result/all.txt"; then wrong "the counters have lines of another kind"; fi
stub ncu <<<'echo "  void mixRows<float>(Args)"'
day 60 counters
state_of counters BAD

begin price
stub bench_training <<<'echo "$*"'
day 60 deterministic
for shape in llama130m gpt2-124m llama1b-8192; do says "--shape $shape"; done
[ "$(grep -c -e '--deterministic$' "$dir/result/all.txt")" = 3 ] || wrong "the price of Deterministic needs both modes of 3 shapes"

# The limits of a part's stages fit its time.
limits() { awk -v part="$1" '$1 == "part" && NF == 2 { at = $2 } at == part { for (i = 1; i < NF; ++i) if ($i == "stage") sum += $(i + 2) } END { print sum }' "$checkout/tests/gpu/day.sh"; }
[ "$(limits correctness)" -le 200 ] || wrong "the stages of correctness have $(limits correctness) s"
[ "$(limits speed)" -le 300 ] || wrong "the stages of speed have $(limits speed) s"
[ "$(limits speed)" -ge 200 ] || wrong "the limits were not found"

begin hangs
stub bench_depth_mix <<<'sleep 1000'
day 5 mixing terminal
state_of mixing LATE
state_of terminal LATE
says "not started: the time was over"

close
