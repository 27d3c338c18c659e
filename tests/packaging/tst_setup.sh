#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# packaging/setup.sh against stand-ins for pip, apt-get, df, uname …: what it installs, and that each thing that can go
# wrong gives one line and leaves nothing behind.
set -euo pipefail
# shellcheck source=tests/packaging/check.sh disable=SC2016
. "$(dirname "$0")/check.sh"
real_python=$(command -v python3)

# Wheels of a few bytes, and a list that pins them.
make_wheel() {
  local set=$1 package=$2 version=$3 file
  shift 3
  file="$scratch/wheels/$package-$version.whl"
  mkdir -p "$scratch/wheels" "$scratch/tree"
  for member in "$@"; do
    mkdir -p "$scratch/tree/$(dirname "$member")"
    echo "$member" >"$scratch/tree/$member"
  done
  (cd "$scratch/tree" && "$real_python" -m zipfile -c "$file" "${1%%/*}")
  rm -r "$scratch/tree"
  echo "$set $package $version 10 $(sha256sum "$file" | cut -d' ' -f1)" >>"$scratch/wheels.txt"
}
make_wheel torch torch 2.11.0 torch/lib/libtorch_cpu.so torch/include/a.h torch/share/b torch/python.py
make_wheel arrow pyarrow 26.0.1 pyarrow/libarrow.so.2600 pyarrow/libparquet.so.2600 pyarrow/include/a.h pyarrow/lib.py
make_wheel base nvidia-cuda-runtime 13.0.96 nvidia/cu13/lib/libcudart.so.13
make_wheel cuda nvidia-cublas 13.1.0.3 nvidia/cu13/lib/libcublas.so.13

# A machine where everything works: Debian, root, all packages there, no GPU, a network, a terabyte.
begin() {
  case_name=$1
  dir="$scratch/$1" bin="$scratch/$1/bin" cache="$scratch/$1/cache/residua"
  target="$cache/torch-2.11.0"
  mkdir -p "$bin" "$dir/checkout/packaging" "$dir/log"
  cp "$checkout"/packaging/{setup.sh,common.sh,libtorch.sh,debian-packages.txt} "$dir/checkout/packaging/"
  cp "$scratch/wheels.txt" "$dir/checkout/packaging/"
  echo 'ID=debian' >"$dir/os-release"
  export XDG_CACHE_HOME="$dir/cache" RESIDUA_OS_RELEASE="$dir/os-release" LOG="$dir/log" WHEELS="$scratch/wheels"
  unset RESIDUA_TORCH RESIDUA_ARROW
  stub uname <<<'echo Linux x86_64'
  stub nvidia-smi <<<'exit 1'
  stub dpkg-query <<<'echo install ok installed'
  stub apt-get <<<'echo "$*" >>"$LOG/apt"'
  stub id <<<'echo 0'
  stub df <<<'printf "Filesystem 1024-blocks Used Available\nx 1 1 1000000000\n"'
  stub python3 <<'STUB'
[ "$3" = download ] || exit 0
echo "${@: -1}" >>"$LOG/pip"
while [ "$1" != --dest ]; do shift; done
mkdir -p "$2" && cp "$WHEELS/$(sed 's/==/-/' <<<"$3").whl" "$2/"
STUB
}
setup() { run bash "$dir/checkout/packaging/setup.sh" "$@"; }
has() { [ -e "$target/$1" ] || wrong "$1 is missing"; }
# Nothing of an installation, finished or half, in the cache.
left_nothing() {
  local found
  found=$(find "$cache" -mindepth 1 ! -name lock 2>/dev/null || true)
  [ -z "$found" ] || wrong "left behind: $found"
}

begin fresh
mkdir -p "$cache/part.killed"
setup
passes
has torch/lib/libtorch_cpu.so
has torch/include/a.h
has nvidia/cu13/lib/libcudart.so.13
has nvidia/cu13/lib64/libcudart.so
for part in libarrow.so.2600 libparquet.so.2600 include/a.h; do
  [ -e "$cache/arrow-26.0.1/pyarrow/$part" ] || wrong "Arrow's $part is missing"
done
[ ! -e "$target/torch/python.py" ] || wrong "Python files were unpacked"
[ ! -e "$cache/arrow-26.0.1/pyarrow/lib.py" ] || wrong "Python files of Arrow were unpacked"
[ -z "$(find "$cache" -name 'part.*' -o -name '*.whl')" ] || wrong "temporary files stay"
says "packages: all there"
rm "$LOG/pip"
setup
passes
[ ! -e "$LOG/pip" ] || wrong "a second run downloads again"

begin packages_missing
stub dpkg-query <<<'[ "$4" != ninja-build ] && echo install ok installed'
setup
passes
grep -q 'install -y --no-install-recommends ninja-build$' "$LOG/apt" || wrong "apt-get was asked for: $(cat "$LOG/apt")"

begin cuda
setup
setup --cuda
passes
has nvidia/cu13/lib/libcublas.so.13
has nvidia/cu13/lib/libcudart.so.13
setup
passes
has nvidia/cu13/lib/libcublas.so.13

begin gpu_found
stub nvidia-smi <<<'echo GPU 0'
setup
passes
has nvidia/cu13/lib/libcublas.so.13

begin arrow_alone_is_missing
setup
rm -r "$cache/arrow-26.0.1" "$LOG/pip"
setup
passes
[ "$(cat "$LOG/pip")" = pyarrow==26.0.1 ] || wrong "downloaded: $(cat "$LOG/pip")"

begin arrow_fails
stub python3 <<'STUB'
[ "$3" = download ] || exit 0
case "${@: -1}" in pyarrow*) echo "ERROR: HTTP error 503" >&2; exit 1 ;; esac
while [ "$1" != --dest ]; do shift; done
mkdir -p "$2" && cp "$WHEELS/$(sed 's/==/-/' <<<"$3").whl" "$2/"
STUB
setup
fails_with "downloading pyarrow 26.0.1 failed: ERROR: HTTP error 503"
has torch/lib/libtorch_cpu.so
[ ! -e "$cache/arrow-26.0.1" ] || wrong "half of Arrow stays"

begin own_arrow
export RESIDUA_ARROW="$dir/nowhere"
setup
fails_with "RESIDUA_ARROW=$dir/nowhere holds no pyarrow/libparquet.so.*"
unset RESIDUA_ARROW

begin broken_download
stub python3 <<'STUB'
[ "$3" = download ] || exit 0
while [ "$1" != --dest ]; do shift; done
mkdir -p "$2" && head -c 40 "$WHEELS/torch-2.11.0.whl" >"$2/torch.whl"
STUB
setup
fails_with "torch 2.11.0 is not the file it should be (broken download?): sha256"
left_nothing

begin wrong_hash
sed -i 's/^\(torch .* \)[0-9a-f]*$/\1'"$(printf '0%.0s' {1..64})"'/' "$dir/checkout/packaging/wheels.txt"
setup
fails_with "expected 0000"
left_nothing

begin no_network
stub python3 <<'STUB'
[ "$3" = download ] || exit 0
echo "WARNING: Retrying after NewConnectionError: Temporary failure in name resolution" >&2
echo "ERROR: No matching distribution found for torch==2.11.0" >&2
exit 1
STUB
setup
fails_with "downloading torch 2.11.0 failed: no network"
left_nothing

begin download_dies
stub python3 <<'STUB'
[ "$3" = download ] || exit 0
while [ "$1" != --dest ]; do shift; done
mkdir -p "$2" && echo half >"$2/torch.whl.part"
echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES" >&2
exit 1
STUB
setup
fails_with "downloading torch 2.11.0 failed: ERROR: THESE PACKAGES"
left_nothing

begin no_space
stub df <<<'printf "Filesystem 1024-blocks Used Available\nx 1 1 15360\n"'
setup
fails_with "no disk space: $cache needs 30 MB free, and has 15 MB"
left_nothing

begin full_while_unpacking
stub unzip <<<'mkdir -p "${@: -1}/torch/lib"; echo "write error (disk full?): No space left on device"; exit 50'
setup
fails_with "unpacking torch 2.11.0 failed: the disk is full"
left_nothing

begin cuda_fails_halfway
setup
stub python3 <<<'[ "$3" = download ] || exit 0; echo "ERROR: HTTP error 503" >&2; exit 1'
setup --cuda
fails_with "downloading nvidia-cuda-runtime 13.0.96 failed: ERROR: HTTP error 503"
has nvidia/cu13/lib/libcudart.so.13
[ "$(find "$target" -maxdepth 1 -name 'nvidia-*' | wc -l)" = 1 ] || wrong "half a set of libraries stays"

for machine in "Darwin arm64" "Linux aarch64"; do
  begin "platform ${machine#* }"
  stub uname <<<"echo $machine"
  setup
  fails_with "unsupported platform: Residua runs on Linux x86_64, and this is $machine"
  left_nothing
done

begin apt_fails
stub dpkg-query <<<'exit 1'
stub apt-get <<<'[ "$1" = update ] && exit 0; echo "E: Unable to locate package ccache"; echo more; exit 100'
setup
fails_with "apt-get install failed: E: Unable to locate package ccache"
left_nothing

begin apt_offline
stub dpkg-query <<<'exit 1'
stub apt-get <<<'echo "W: Temporary failure resolving host"; exit 100'
setup
fails_with "apt-get update failed: no network"
left_nothing

begin fedora
echo 'ID=fedora' >"$dir/os-release"
stub pkg-config <<<'exit 1'
setup
fails_with "sudo dnf install gcc-c++"
left_nothing

begin own_torch
export RESIDUA_TORCH="$dir/nowhere"
setup
fails_with "RESIDUA_TORCH=$dir/nowhere holds no torch/lib/libtorch_cpu.so"
left_nothing

begin unknown_option
setup --gpu
fails_with "unknown option --gpu"

close
