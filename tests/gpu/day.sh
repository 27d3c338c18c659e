#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests and measures the GPU path on this machine, from an unpacked bundle (bundle.sh makes it).
#
#   day.sh BUNDLE OUT SECONDS [PART|STAGE...]
#
# Runs the stages of the parts in order, each within its own limit and all within SECONDS:
#   correctness  200 s  the kernels' new forms under compute-sanitizer, ranks, graphs, a wide course in bf16
#   speed        300 s  mixing kernels by form, topologies beside the peer, traces, a network of 1B parameters
#   rest                what is measured if time is left
# Without names, all three. A failed stage of correctness stops the parts after it, also in a later call with the same
# OUT; where OUT has no correctness, speed begins with a short check of the kernels. OUT/all.txt receives each stage's
# output as the stage ends, OUT/summary.txt one line a stage:
#   OK | BAD | SKIP | LATE | STOP   NAME   SECONDS
# SKIP: the stage needs a GPU that this machine does not have, and said so. LATE: ended by its limit, or not started because
# SECONDS were over. STOP: not started, because correctness failed. README.md beside this file says what each figure means.
set -uo pipefail

[ $# -ge 3 ] || { sed -n '3,17s/^# \{0,1\}//p' "$0" >&2; exit 2; }
bundle=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
deadline=$(($(date +%s) + $3))
shift 3
wanted=" $* "
work=$(mktemp -d)
background="" clock_log=""
trap '[ -z "$background" ] || kill -- -"$background" 2>/dev/null; [ -z "$clock_log" ] || kill "$clock_log" 2>/dev/null; rm -rf "$work"' EXIT
export PATH="$PATH:/usr/local/cuda/bin"
: >"$out/all.txt"
: >"$out/summary.txt"
: >"$work/clocks"
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

# part NAME: the stages that follow belong to it. Sets `whole` to yes if all of them are wanted.
part() {
  part=$1
  [ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]] && whole=yes || whole=no
}

# stage NAME LIMIT COMMAND...: runs the command, files its output, and notes how it ended.
stage() {
  local name=$1 limit=$2 status=0 begin state clocks log="$work/$1.txt"
  shift 2
  [ "$whole" = yes ] || [[ $wanted == *" $name "* ]] || return 0
  begin=$(date +%s)
  clocks=$(wc -l <"$work/clocks")
  [ "$(seconds_left)" -ge "$limit" ] || limit=$(seconds_left)
  if [ "$part" != correctness ] && grep -qs failed "$out/correctness.txt"; then
    state=STOP
    echo "not started: correctness failed" >"$log"
  elif [ "$limit" -lt 3 ]; then
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
    if [ "$part" != rest ]; then clocks_since "$clocks" >>"$log"; fi
  fi
  if [ "$part" = correctness ] || [ "$name" = short_check ]; then
    [ "$state" != BAD ] || echo "failed: $name" >>"$out/correctness.txt"
  fi
  printf '%-4s %-22s %4d\n' "$state" "$name" $(($(date +%s) - begin)) >>"$out/summary.txt"
  { echo "===== $name: $state, exit status $status"; cat "$log"; } >>"$out/all.txt"
}

# clocks_since LINE: the clock of the multiprocessors and the power since a line of the log, median and range.
clocks_since() {
  tail -n "+$(($1 + 1))" "$work/clocks" | sort -n |
    awk -F, '{ clock[NR] = $1; power[NR] = $2; sum += $2 }
      END { if (NR) printf "clock %d MHz (%d to %d), %.0f W on average\n", clock[int((NR + 1) / 2)], clock[1], clock[NR], sum / NR }'
}

# True if the output says that there is no GPU: tests that were skipped, a program that found no driver or device, a tool
# that comes with CUDA and is not installed.
needs_gpu() { grep -qiE 'no (usable )?(cuda device|gpu|nvidia)|libcuda\.so\.1|cuda is not available|cannot initialize cuda|sees no GPU|^SKIP|(compute-sanitizer|ncu): command not found' "$1"; }

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

short_check() { RESIDUA_CASE_STRIDE=13 ours "$bundle/bin/kernels_tst_cuda_depth_mix" matchesTheCpu; }

# new_forms TOOL: the forms on tensor cores, AdamW with rounded copies, the kernels of parallel streams and SwiGLU with the
# largest magnitudes of its rows under a tool of compute-sanitizer.
new_forms() {
  RESIDUA_CASES=tensor ours compute-sanitizer --tool "$1" --error-exitcode 9 "$bundle/bin/kernels_tst_cuda_depth_mix" matchesTheCpu | tail -n 15 &&
    ours compute-sanitizer --tool "$1" --error-exitcode 9 "$bundle/bin/kernels_tst_cuda_transformer" adamw streams swiglu | tail -n 5
}

transformer() { ours "$bundle/bin/kernels_tst_cuda_transformer"; }

ranks() { ours "$bundle/bin/engine_training" tst_cuda_ranks; }

# Steps as graphs against direct steps, and against the CPU's.
courses() {
  ours "$bundle/bin/engine_training" tst_cuda_training kernelsAreUsed \
    "recordedStepsAreTheDirectOnes:dca, bf16" "recordedStepsAreTheDirectOnes:raptr, long stages, dca, bf16" \
    recordedStepsAreTheDirectOnes:mhc trainsAsTheCpuDoes:dca "trainsAsTheCpuDoes:dca, bf16" trainsAsTheCpuDoes:mhc \
    trainsAsTheCpuDoes:hyper-dynamic trainsAsTheCpuDoes:frac-dynamic trainsAsTheCpuDoes:muon trainsAsTheCpuDoes:fp8 \
    updatesAsTheCpuDoes
}

# DCA of width 256 in bf16, where the forms on tensor cores are used: its losses are those of the forms for rows.
wide() {
  local cli="$bundle/bin/residua-cli" project="$work/wide" forms
  ours "$cli" new --example dca-language "$project" &&
    ours "$cli" set "$project" network.width=256 training.steps=50 training.precision=bf16 training.residual_precision=bf16 || return 1
  for forms in tensor rows; do
    RESIDUA_CUDA_FORMS=$forms ours "$cli" train "$project" --run "$work/wide-$forms" --device cuda:0 || return 1
    ours "$cli" analyze metrics "$work/wide-$forms" -o "$work/wide-$forms.csv" || return 1
  done
  "$python" - "$work/wide-tensor.csv" "$work/wide-rows.csv" <<'PYTHON'
import csv, sys

tensor, rows = ({row["step"]: float(row["value"]) for row in csv.DictReader(open(path)) if row["metric"] == "loss/train"}
                for path in sys.argv[1:])
if not len(tensor) == len(rows) == 50:
    sys.exit(f"expected the losses of 50 steps, got {len(tensor)} and {len(rows)}")
most = max(abs(tensor[step] - rows[step]) for step in tensor)
print(f"largest difference of the losses: {most:.2e}")
sys.exit(0 if most < 1e-3 else "expected less than 1e-3")
PYTHON
}

gradients() { ours "$bundle/bin/engine_training" tst_cuda_gradients; }

training() { ours "$bundle/bin/engine_training" tst_cuda_training; }

sessions() { ours "$bundle/bin/engine_training" tst_cuda_session; }

mixing_forms() {
  local forms
  for forms in tensor rows tensor; do
    echo "forms: $forms"
    RESIDUA_CUDA_FORMS=$forms ours "$bundle/bin/bench_depth_mix" --device cuda --kinds gated --types bf16 --t 8,24,96 --d 768,2048 --bytes 2e9 --rounds 5 --seconds 12 || return 1
  done
}

mixing() { ours "$bundle/bin/bench_depth_mix" --device cuda --types bf16,fp32 --t 8,24,48,96 --d 768,2048 --bytes 2e9 --seconds 45; }

# The warm-up is longer than the direct steps that precede a graph.
llama() {
  ours "$bundle/bin/bench_training" --shape llama130m --topologies "$1" --tokens 32768 --residual entries,bf16 --warmup 6 --steps "$2" --seconds "$3" --device cuda:0
}

peer_llama() {
  local residual
  for residual in fp32 bf16; do
    "$python" "$bundle/peer_pytorch.py" --shape llama130m --topologies plain --modes compiled --tokens 32768 --residual "$residual" --warmup 6 --steps 30 --device cuda &&
      "$python" "$bundle/peer_pytorch.py" --shape llama130m --topologies dca --modes eager --tokens 32768 --residual "$residual" --steps 6 --device cuda || return 1
  done
}

billion() {
  local length
  for length in 2048 8192; do
    ours "$bundle/bin/bench_training" --shape "llama1b-$length" --topologies plain,dca --tokens 16384 --residual bf16 --warmup 6 --steps 8 --seconds 20 --device cuda:0 || return 1
  done
}

traces() {
  local topology
  for topology in plain dca mhc; do
    ours "$bundle/bin/bench_training" --shape llama130m --topologies "$topology" --tokens 32768 --residual bf16 --warmup 6 --steps 3 --device cuda:0 --trace "$out/$topology.json" || return 1
  done
  gzip -f "$out"/*.json
}

gpt2() {
  ours "$bundle/bin/bench_training" --shape gpt2-124m --topologies plain,dca --tokens 16384 --residual fp32,bf16 --warmup 6 --steps 10 --seconds 30 --device cuda:0
}

peer_gpt2() {
  "$python" "$bundle/peer_pytorch.py" --shape gpt2-124m --topologies plain --modes eager,compiled --tokens 16384 --steps 10 --device cuda
}

graphs() {
  local shape library
  for shape in small small-bert small-vit; do
    for library in "$RESIDUA_CUDA_GRAPH" 0; do
      echo "graphs by $library"
      RESIDUA_CUDA_GRAPH=$library ours "$bundle/bin/bench_training" --shape "$shape" --topologies plain,ancre-ingoing,dca \
        --warmup 8 --steps 200 --seconds 4 --device cuda:0 || return 1
    done
  done
}

subnetworks() {
  local library
  for library in "$RESIDUA_CUDA_GRAPH" 0; do
    echo "graphs by $library"
    RESIDUA_CUDA_GRAPH=$library ours "$bundle/bin/bench_training" --shape small-bert --topologies plain,dca --schedule "raptr 5" \
      --warmup 250 --steps 100 --seconds 4 --device cuda:0 || return 1
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

# Each shape in Fast, which may use cuDNN's attention, and in Deterministic, which may not.
deterministic() {
  local shape mode
  ours "$bundle/bin/engine_training" tst_cuda_gradients attentionIsFused || return 1
  for shape in "llama130m --tokens 32768" "gpt2-124m --tokens 16384" "llama1b-8192 --tokens 16384"; do
    for mode in "" --deterministic; do
      # shellcheck disable=SC2086
      ours "$bundle/bin/bench_training" --shape $shape --topologies plain --residual bf16 --warmup 6 --steps 10 --seconds 15 --device cuda:0 $mode || return 1
    done
  done
}

# Products in 8 bits beside those in bf16.
eight_bits() {
  local shape precision
  for shape in "llama130m --tokens 32768" "llama1b-2048 --tokens 16384"; do
    for precision in bf16 fp8; do
      # shellcheck disable=SC2086
      ours "$bundle/bin/bench_training" --shape $shape --topologies plain --precision "$precision" --residual bf16 --warmup 6 --steps 10 --seconds 10 --device cuda:0 || return 1
    done
  done
}

expandable() {
  PYTORCH_ALLOC_CONF=expandable_segments:True ours "$bundle/bin/bench_training" --shape llama130m --topologies plain,dca \
    --tokens 32768 --steps 8 --device cuda:0
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

# Each kernel of the gated and the scalar mix twice.
counters() {
  ours ncu --clock-control none --launch-count 40 --metrics dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__t_sectors.avg.pct_of_peak_sustained_elapsed,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active \
    --kernel-name 'regex:mixRows|mixGated|weightGrad|gather' "$bundle/bin/bench_depth_mix" --device cuda --kinds gated,scalar --types bf16 --t 24 --d 768 --bytes 2e9 --rounds 1 |
    grep -E '(mix|gather|weightGrad)[A-Z][A-Za-z]*[<(]|dram__|lts__|registers|warps_active' | tee /dev/stderr | grep gather >/dev/null
}

# Fills the cache of PyTorch's compiler in the background: it needs processors, and the benches beside it a GPU.
warm() {
  local residual
  for residual in fp32 bf16; do
    "$python" "$bundle/peer_pytorch.py" --shape llama130m --warm --tokens 32768 --residual "$residual" --device cuda
  done
}

wait_for_warm() {
  while kill -0 "$background" 2>/dev/null; do sleep 1; done
  cat "$work/warm.txt"
}

export bundle out work python site cuda background
# shellcheck disable=SC2046
export -f $(compgen -A function)
stdbuf -oL nvidia-smi --query-gpu=clocks.sm,power.draw --format=csv,noheader,nounits -lms 250 >"$work/clocks" 2>/dev/null &
clock_log=$!

part correctness
[ "$whole" = no ] || rm -f "$out/correctness.txt"
stage preflight 10 preflight
stage devices 10 devices
stage kernels 25 kernels
stage racecheck 15 new_forms racecheck
stage memcheck 15 new_forms memcheck
stage synccheck 15 new_forms synccheck
stage initcheck 15 new_forms initcheck
stage transformer 15 transformer
stage ranks 20 ranks
stage courses 30 courses
stage wide 30 wide
[ "$whole" = no ] || [ -e "$out/correctness.txt" ] || echo passed >"$out/correctness.txt"

part speed
if [ "$whole" = yes ] || [[ $wanted == *" peer_"* ]]; then
  setsid bash -c warm >"$work/warm.txt" 2>&1 &
  background=$!
fi
[ "$whole" = no ] || [ -e "$out/correctness.txt" ] || stage short_check 15 short_check
stage mixing_forms 40 mixing_forms
[ -z "$background" ] || stage wait_for_warm 40 wait_for_warm
stage llama 50 llama plain,dca,mhc,k-dca 20 45
stage peer_llama 50 peer_llama
stage llama_again 25 llama plain,dca 30 20
stage traces 30 traces
stage billion 50 billion

part rest
stage graphs 40 graphs
stage subnetworks 50 subnetworks
stage optimisers 60 optimisers
stage gpt2 40 gpt2
stage peer_gpt2 60 peer_gpt2
stage mixing 50 mixing
stage terminal 50 terminal
stage deterministic 90 deterministic
stage eight_bits 50 eight_bits
stage gradients 60 gradients
stage training 100 training
stage sessions 60 sessions
stage counters 30 counters
stage expandable 25 expandable

cat "$out/all.txt"
echo
cat "$out/summary.txt"
! grep -qE '^(BAD|STOP)' "$out/summary.txt"
