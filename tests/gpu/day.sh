#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests and measures the GPU path on this machine, from an unpacked bundle (bundle.sh makes it).
#
#   day.sh BUNDLE OUT SECONDS [STAGE...]
#
# Runs the stages in order, each within its own limit and all within SECONDS; no stage stops another. OUT/all.txt receives
# each stage's output as the stage ends, OUT/summary.txt one line a stage:
#   OK | BAD | SKIP | LATE   NAME   SECONDS
# SKIP: the stage needs a GPU that this machine does not have, and said so. LATE: ended by its limit, or not started because
# SECONDS were over. README.md beside this file says what each figure means. With STAGE..., only the stages of these names.
set -uo pipefail

[ $# -ge 3 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
bundle=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
deadline=$(($(date +%s) + $3))
shift 3
wanted=" $* "
work=$(mktemp -d)
background=""
trap '[ -z "$background" ] || kill -- -"$background" 2>/dev/null; rm -rf "$work"' EXIT
export PATH="$PATH:/usr/local/cuda/bin"
: >"$out/all.txt"
: >"$out/summary.txt"
python=${PYTHON:-python3}
site=${RESIDUA_TORCH:-$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))' 2>/dev/null)}
cuda="$site/nvidia/cu13"
nvidia-smi -L >/dev/null 2>&1 && has_gpu=yes || has_gpu=no
export RESIDUA_KERNELS="$bundle/bin/libresidua_kernels_cuda.so" RESIDUA_CUDA_GRAPH="$bundle/bin/libresidua_cuda_graph.so"
export XDG_CACHE_HOME="$work/cache"
export TORCHINDUCTOR_CACHE_DIR="$work/inductor" TRITON_CACHE_DIR="$work/triton" PYTHONUNBUFFERED=1

# Our programs take LibTorch's and CUDA's libraries from the Python package, and the distribution's from the bundle. Other
# programs (Python, ncu) must not see the bundle's libraries.
ours() { LD_LIBRARY_PATH="$site/torch/lib:$cuda/lib:$bundle/lib" "$@"; }

seconds_left() { echo $((deadline - $(date +%s))); }

# stage NAME LIMIT COMMAND...: runs the command, files its output, and notes how it ended.
stage() {
  local name=$1 limit=$2 status=0 begin state log="$work/$1.txt"
  shift 2
  [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
  begin=$(date +%s)
  [ "$(seconds_left)" -ge "$limit" ] || limit=$(seconds_left)
  if [ "$limit" -lt 3 ]; then
    state=LATE
    echo "not started: the time was over" >"$log"
  else
    timeout --kill-after=5 "$limit" bash -o pipefail -c '"$@"' stage "$@" >"$log" 2>&1 </dev/null || status=$?
    case $status in
      0) state=OK ;;
      124 | 137) state=LATE ;;
      *) state=BAD ;;
    esac
    if [ "$has_gpu" = no ] && [ "$state" != LATE ] && needs_gpu "$log"; then state=SKIP; fi
  fi
  printf '%-4s %-22s %4d\n' "$state" "$name" $(($(date +%s) - begin)) >>"$out/summary.txt"
  { echo "===== $name: $state, exit status $status"; cat "$log"; } >>"$out/all.txt"
}

# True if the output says that there is no GPU: tests that were skipped, a program that found no driver or device.
needs_gpu() { grep -qiE 'no (usable )?(cuda device|gpu|nvidia)|libcuda\.so\.1|cuda is not available|sees no GPU|^SKIP' "$1"; }

preflight() {
  uname -r
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm --format=csv,noheader
  "$python" -c 'import torch; print("torch", torch.__version__, "cuda", torch.cuda.is_available())'
  local library size lacking=0
  while read -r library size; do
    [ "$(stat -Lc %s "$site/torch/lib/$library")" = "$size" ] || { echo "$library differs from the one of the build"; lacking=1; }
  done <"$bundle/built-with"
  for program in "$bundle"/bin/*; do
    ours ldd "$program" | grep 'not found' && { echo "  in $program"; lacking=1; }
  done
  return $lacking
}

devices() { ours "$bundle/bin/residua-cli" devices | tee /dev/stderr | grep -q 'custom kernels: in use'; }

kernels() { ours "$bundle/bin/kernels_tst_cuda_depth_mix"; }

transformer() { ours "$bundle/bin/kernels_tst_cuda_transformer"; }

gradients() { ours "$bundle/bin/engine_training" tst_cuda_gradients; }

training() { ours "$bundle/bin/engine_training" tst_cuda_training; }

sessions() { ours "$bundle/bin/engine_training" tst_cuda_session; }

ranks() { ours "$bundle/bin/engine_training" tst_cuda_ranks; }

mixing() { ours "$bundle/bin/bench_depth_mix" --device cuda --types bf16,fp32 --t 8,24,48,96 --d 768,2048 --bytes 2e9 --seconds 45; }

llama() {
  ours "$bundle/bin/bench_training" --shape llama130m --topologies plain,ancre-ingoing,k-dca,dca --tokens 32768 \
    --residual fp32,bf16 --steps 10 --seconds 60 --device cuda:0
}

gpt2() {
  ours "$bundle/bin/bench_training" --shape gpt2-124m --topologies plain,dca --tokens 16384 --residual fp32,bf16 --steps 10 --seconds 30 --device cuda:0
}

graphs() {
  local shape library
  for shape in small small-bert small-vit; do
    for library in "$RESIDUA_CUDA_GRAPH" 0; do
      echo "graphs by $library"
      RESIDUA_CUDA_GRAPH=$library ours "$bundle/bin/bench_training" --shape "$shape" --topologies plain,ancre-ingoing,dca \
        --warmup 8 --steps 200 --seconds 4 --device cuda:0
    done
  done
}

subnetworks() {
  local library
  for library in "$RESIDUA_CUDA_GRAPH" 0; do
    echo "graphs by $library"
    RESIDUA_CUDA_GRAPH=$library ours "$bundle/bin/bench_training" --shape small-bert --topologies plain,dca --schedule "raptr 5" \
      --warmup 250 --steps 100 --seconds 4 --device cuda:0
  done
}

optimisers() {
  local optimiser
  for optimiser in adamw adafactor muon lion; do
    echo "optimiser $optimiser"
    ours "$bundle/bin/bench_training" --shape small --optimiser "$optimiser" --warmup 8 --steps 200 --seconds 3 --device cuda:0 &&
      ours "$bundle/bin/bench_training" --shape llama130m --optimiser "$optimiser" --tokens 32768 --steps 10 --device cuda:0 || return 1
  done
}

deterministic() {
  ours "$bundle/bin/bench_training" --shape llama130m --topologies plain --tokens 32768 --steps 12 --device cuda:0 --deterministic &&
    ours "$bundle/bin/bench_training" --shape gpt2-124m --topologies plain --tokens 16384 --steps 12 --device cuda:0 --deterministic
}

expandable() {
  PYTORCH_ALLOC_CONF=expandable_segments:True ours "$bundle/bin/bench_training" --shape llama130m --topologies plain,dca \
    --tokens 32768 --steps 8 --device cuda:0
}

peer_llama() {
  "$python" "$bundle/peer_pytorch.py" --shape llama130m --topologies plain --modes eager,compiled --tokens 32768 --steps 10 --device cuda &&
    "$python" "$bundle/peer_pytorch.py" --shape llama130m --topologies dca --modes eager --tokens 32768 --steps 10 --device cuda
}

peer_gpt2() {
  "$python" "$bundle/peer_pytorch.py" --shape gpt2-124m --topologies plain --modes eager,compiled --tokens 16384 --steps 10 --device cuda
}

traces() {
  ours "$bundle/bin/bench_training" --shape llama130m --topologies plain --tokens 32768 --steps 3 --device cuda:0 --trace "$out/plain.json" &&
    ours "$bundle/bin/bench_training" --shape llama130m --topologies dca --tokens 32768 --steps 3 --device cuda:0 --trace "$out/dca.json"
  gzip -f "$out"/*.json
}

memory_check() {
  RESIDUA_CASE_STRIDE=13 ours compute-sanitizer --tool memcheck --error-exitcode 9 "$bundle/bin/kernels_tst_cuda_depth_mix" | tail -n 30
}

race_check() {
  RESIDUA_CASE_STRIDE=13 ours compute-sanitizer --tool racecheck --error-exitcode 9 "$bundle/bin/kernels_tst_cuda_depth_mix" | tail -n 30
}

# From the terminal, as a user: trains, stops with a checkpoint, resumes to the same weights, runs out of memory, goes on.
terminal() {
  local cli="$bundle/bin/residua-cli" project="$work/project" status=0
  set -e
  ours "$cli" new --example ancre-language "$project"
  ours "$cli" set "$project" training.steps=10 training.checkpoint_every=5 training.precision=bf16
  ours "$cli" train "$project" --run "$work/a" --device cuda:0
  ours "$cli" train "$project" --run "$work/b" --device cuda:0
  cmp "$work/a/checkpoints/step-00000010/model.safetensors" "$work/b/checkpoints/step-00000010/model.safetensors"
  ours "$cli" resume "$work/b" --from 5 --device cuda:0
  cmp "$work/a/checkpoints/step-00000010/model.safetensors" "$work/b/checkpoints/step-00000010/model.safetensors"
  echo "two runs and a resumed run: equal to the bit"
  ours "$cli" set "$project" training.batch=4000000
  set +e
  ours "$cli" train "$project" --run "$work/c" --device cuda:0
  status=$?
  echo "out of memory: exit status $status"
  [ $status = 3 ] || return 1
  ours "$cli" eval "$work/a"
}

counters() {
  ours ncu --clock-control none --launch-count 12 --metrics dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__t_sectors.avg.pct_of_peak_sustained_elapsed,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active \
    --kernel-name 'regex:mixRows|mixGated|weightGrad|gatherRows' "$bundle/bin/bench_depth_mix" --device cuda --types bf16 --t 24 --d 768 --bytes 2e9 --seconds 5 |
    grep -E '^ +[a-zA-Z:_]*(mix|gather|weight)|dram__|lts__|registers|warps_active' | head -n 80
}

warm() {
  "$python" "$bundle/peer_pytorch.py" --shape llama130m --warm --tokens 32768 --device cuda
  "$python" "$bundle/peer_pytorch.py" --shape gpt2-124m --warm --tokens 16384 --device cuda
}

wait_for_warm() {
  while kill -0 "$background" 2>/dev/null; do sleep 1; done
  cat "$work/warm.txt"
}

export bundle out work python site cuda background
# shellcheck disable=SC2046
export -f $(compgen -A function)
stage preflight 30 preflight
if [ "$wanted" = "  " ] || [[ $wanted == *" peer_"* ]]; then
  # In the background, because the compiler of PyTorch's graphs needs processors, and the tests beside it a GPU.
  setsid bash -c warm >"$work/warm.txt" 2>&1 &
  background=$!
fi
stage devices 20 devices
stage kernels 60 kernels
stage transformer 30 transformer
stage gradients 60 gradients
stage training 100 training
stage sessions 60 sessions
stage ranks 40 ranks
[ -z "$background" ] || stage wait_for_warm 60 wait_for_warm
stage mixing 50 mixing
stage llama 80 llama
stage peer_llama 60 peer_llama
stage gpt2 40 gpt2
stage peer_gpt2 40 peer_gpt2
stage graphs 40 graphs
stage subnetworks 50 subnetworks
stage optimisers 60 optimisers
stage traces 30 traces
stage deterministic 40 deterministic
stage terminal 50 terminal
stage memory_check 40 memory_check
stage race_check 70 race_check
stage counters 30 counters
stage expandable 25 expandable

cat "$out/all.txt"
echo
cat "$out/summary.txt"
! grep -qE '^BAD' "$out/summary.txt"
