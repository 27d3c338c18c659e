#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bundle.sh with stand-ins for the build and its programs: which libraries and Python modules the archive has.
set -euo pipefail
# shellcheck source=tests/packaging/check.sh disable=SC2016
. "$1/tests/packaging/check.sh"

# A build whose programs link LibTorch, which lacks a library of CUDA here, and libpicture, which links libpack.
begin() {
  case_name=$1
  dir="$scratch/$1" bin="$scratch/$1/bin"
  local build="$dir/build/gpu" program
  mkdir -p "$bin" "$dir/tests/gpu" "$dir/tests/bench" "$dir/packaging" "$dir/torch/lib" "$dir/system" "$build/bin" "$build/tests/kernels" "$build/tests/engine"
  cp "$checkout"/tests/gpu/{bundle,day}.sh "$dir/tests/gpu/"
  cp "$checkout/packaging/common.sh" "$dir/packaging/"
  cp "$checkout"/tests/bench/peer_*.py "$dir/tests/bench/"
  for program in bin/{residua-cli,residua-engine,bench_depth_mix,bench_training} \
    tests/kernels/kernels_tst_cuda_{depth_mix,transformer} tests/engine/engine_training; do
    echo program >"$build/$program"
    chmod +x "$build/$program"
  done
  echo library | tee "$build"/libresidua_{kernels_cuda,cuda_graph,ranks}.so "$dir"/torch/lib/libtorch_{cpu,cuda}.so "$dir"/system/lib{picture,pack}.so.1 >/dev/null
  for program in cmake strip git; do stub "$program" <<<'exit 0'; done
  stub objdump <<'STUB'
case $2 in
  *libpicture*) echo "  NEEDED libpack.so.1" ;;
  *libpack*) ;;
  *) printf '  NEEDED %s\n' libtorch_cpu.so libpicture.so.1 libstdc++.so.6 libc.so.6 ;;
esac
STUB
  stub ldd <<STUB
printf '\t%s => $dir/%s (0x0)\n' libtorch_cpu.so torch/lib/libtorch_cpu.so libpicture.so.1 system/libpicture.so.1 libpack.so.1 system/libpack.so.1
printf '\t%s => /lib/%s (0x0)\n' libstdc++.so.6 libstdc++.so.6 libcublas.so.13 libcublas.so.13
echo "	libcufile.so.0 => not found"
STUB
}
bundle() { run bash "$dir/tests/gpu/bundle.sh"; }

begin packs
bundle
passes
says "packed"
libraries=$(cd "$dir/build/gpu-day/bundle/lib" && echo *)
[ "$libraries" = "libpack.so.1 libpicture.so.1" ] || wrong "the libraries are $libraries"
[ "$(tar -tJf "$dir/build/gpu-day/bundle.tar.xz" | grep -c '^./bin/.')" = 10 ] || wrong "the archive lacks programs or kernels"
for module in peer_pytorch $(sed -nE 's/^(import|from) (peer_[a-z]+).*/\2/p' "$checkout/tests/bench/peer_pytorch.py"); do
  [ -e "$dir/build/gpu-day/bundle/$module.py" ] || wrong "the archive lacks $module.py"
done

begin lacks
rm "$dir/system/libpack.so.1"
stub ldd <<<'echo "	libpicture.so.1 => not found"'
bundle
fails_with "lacks the library libpicture.so.1"

close
