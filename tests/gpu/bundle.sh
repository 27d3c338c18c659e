#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds preset gpu and packs what a machine with a GPU needs to run day.sh into build/gpu-day/bundle.tar.xz. That machine
# needs PyTorch's Python package of the version in packaging/wheels.txt with its CUDA libraries, and nothing else of ours.
#
#   tests/gpu/bundle.sh
#
# The archive holds bin/ (programs, benches, tests, the engine, the kernels), lib/ (the distribution's libraries
# that they link, except the C and C++ run-time libraries), peer_pytorch.py with its modules, day.sh, and `built-with` (the
# sizes of the LibTorch libraries that the programs were linked against).
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/../../packaging/common.sh"

[ $# = 0 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; }
build="$checkout/build/gpu" work="$checkout/build/gpu-day/bundle" archive="$checkout/build/gpu-day/bundle.tar.xz"
limit=$((55 * 1024 * 1024))
programs=(bin/residua-cli bin/residua-engine bin/bench_depth_mix bin/bench_training tests/kernels/kernels_tst_cuda_depth_mix
  tests/kernels/kernels_tst_cuda_transformer tests/engine/engine_training)

configure_and_build gpu residua-cli residua-engine residua_kernels_cuda residua_engine_cuda_graph bench_depth_mix bench_training \
  kernels_tst_cuda_depth_mix kernels_tst_cuda_transformer engine_training

rm -rf "$work"
mkdir -p "$work/bin" "$work/lib"
for file in "${programs[@]}"; do cp "$(find "$build/${file%/*}" -maxdepth 2 -type f -name "${file##*/}" -perm -u+x | head -n 1)" "$work/bin/"; done
for library in libresidua_kernels_cuda.so libresidua_cuda_graph.so libresidua_ranks.so; do
  cp "$(find "$build" -name "$library" | head -n 1)" "$work/bin/"
done
strip "$work"/bin/*

# copy_libraries FILE: the libraries that the file links, and those that they link. LibTorch and CUDA come from the other
# machine; so do the C and C++ run-time libraries, which must fit its loader.
copy_libraries() {
  local name path
  for name in $(objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }'); do
    if [[ $name =~ ^lib(torch|c10|cuda|(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp)\.so)|^ld- ]] || [ -e "$work/lib/$name" ]; then continue; fi
    path=$(ldd "$1" | awk -v name="$name" '$1 == name && /=> \// { print $3 }')
    [ -n "$path" ] || fail "${1##*/} lacks the library $name"
    cp -L "$path" "$work/lib/$name"
    copy_libraries "$path"
  done
}
for file in "$work"/bin/*; do copy_libraries "$file"; done
torch=$(ldd "$work/bin/bench_training" | awk '/libtorch_cpu/ { print $3 }')
(cd "$(dirname "$torch")" && stat -Lc '%n %s' libtorch_cpu.so libtorch_cuda.so) >"$work/built-with"
git -C "$checkout" rev-parse --short HEAD >"$work/commit"
cp "$checkout"/tests/gpu/day.sh "$checkout"/tests/bench/peer_{pytorch,dit,pictures}.py "$work/"

tar -C "$work" -cf - . | xz -9 --lzma2=dict=128MiB >"$archive"
size=$(stat -c %s "$archive")
[ "$size" -le "$limit" ] || fail "$archive has $size bytes, more than the $limit that may be sent"
say "packed $archive: $((size / 1000000)) MB"
