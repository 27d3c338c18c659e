#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Training speed beside PyTorch's, alternating, in one run: a ratio counts, an absolute time does not.
#   compare_training.sh BUILD_DIR PYTHON [ROUNDS [TOPOLOGY...]]
# PYTHON has what requirements.txt lists. Topologies are plain, ancre, k-dca and dca. COMPILED=1 adds torch.compile; OPTIONS
# is passed to both sides (e.g. OPTIONS="--device cuda --shape llama130m --tokens 32768 --steps 20"). Acting in a world:
# PEER="peer_crl.py maze/project.json" OPTIONS="--shape point-maze --batch 128 --steps 200"
set -eu
if [ $# -lt 2 ]; then
  sed -n '3,7s/^# //p' "$0" >&2
  exit 2
fi
build=$1
python=$2
rounds=${3:-3}
[ $# -gt 3 ] && shift 3 || set -- plain
here=$(dirname "$0")
results=$(mktemp)
trap 'rm -f "$results"' EXIT
ours_name() { [ "$1" = ancre ] && echo ancre-ingoing || echo "$1"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
speed() { awk -v who="$1" -v topology="$2" '$1 == who && $2 == topology { print $3 }' "$results" | median; }
peers=eager
[ "${COMPILED:-0}" = 1 ] && peers="eager compiled"

round=1
while [ "$round" -le "$rounds" ]; do
  for topology in "$@"; do
    # shellcheck disable=SC2086
    "$build/bin/bench_training" --topology "$(ours_name "$topology")" ${OPTIONS:-} | tee -a /dev/stderr |
      awk -v t="$topology" '/tokens\/s/ { print "residua", t, $3 }' >>"$results"
    for peer in $peers; do
      # shellcheck disable=SC2086
      "$python" "$here"/${PEER:-peer_pytorch.py} --topology "$topology" --modes "$peer" ${OPTIONS:-} | tee -a /dev/stderr |
        awk -v t="$topology" -v p="$peer" '/tokens\/s/ { print p, t, $3 }' >>"$results"
    done
  done
  round=$((round + 1))
done

for topology in "$@"; do
  for peer in $peers; do
    awk -v t="$topology" -v p="$peer" -v a="$(speed residua "$topology")" -v b="$(speed "$peer" "$topology")" \
      'BEGIN { printf "%s: %.3f x PyTorch %s (%d against %d tokens/s, medians)\n", t, a / b, p, a, b }'
  done
done
