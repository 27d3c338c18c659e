#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs PyTorch for Python in the version of setup.sh's LibTorch, transformers, torchvision, timm, ONNX, Pillow,
# published optimisers and ruff, in the cache outside the checkout. The tests compare exported and imported networks,
# pictures and optimisers with them, and `export --to onnx` uses them. Without them the tests say that nothing was
# compared. RESIDUA_PYTHON names another Python to use instead.
#
# Under Python 3.11 (Debian 12) without CUDA: PyTorch's wheel of 560 MB and the other packages to download, 1.2 GB on disk.
# It took 66 s of processor time, and 4.5 minutes on a machine that did other work too. The wheel's Python part needs
# functions of CUDA's libraries that nothing calls on a processor; an empty library has their names. Under another Python,
# pip installs everything: 3 GB to download, 5 GB on disk.
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

torch_version=$(awk '$1 == "torch" { print $3 }' "$checkout/packaging/wheels.txt")
torch_hash=$(awk '$1 == "python" { print $5 }' "$checkout/packaging/wheels.txt")
packages=(transformers==5.23.0 ruff==0.17.6 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.32.0 pillow==12.3.0)
# Without what galore-torch wants for 8-bit states. torchvision wants exactly its PyTorch, which has other files here.
alone=(galore-torch==1.0 lion-pytorch==0.2.5 torchvision==0.26.0 timm==1.0.31)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/residua"
target="$python_folder"
libraries="${RESIDUA_TORCH:-$cache/torch-$torch_version}/nvidia"

pip() { "$target/bin/pip" "$1" --quiet --disable-pip-version-check --no-cache-dir "${@:2}"; }

# The Python part of the wheel with its libraries for a processor, into $site.
install_without_cuda() {
  local work="$target/work" lib="$site/torch/lib" wheel
  mkdir -p "$work"
  pip download --no-deps --dest "$work" "torch==$torch_version" || return 1
  wheel=$(find "$work" -name 'torch-*.whl')
  [ "$(sha256sum "$wheel" | cut -d' ' -f1)" = "$torch_hash" ] || { say "PyTorch's wheel is not the file it should be"; return 1; }
  unzip -qo "$wheel" 'torch/*' 'torchgen/*' 'torch-*' -x 'torch/include/*' 'torch/lib/libtorch_cuda*' \
    'torch/lib/libtorch_nvshmem*' -d "$site"
  sed -i -E '/^Requires-Dist: (nvidia|triton|cuda)/d' "$site/torch-$torch_version.dist-info/METADATA"
  ln -s "$libraries" "$site/nvidia"
  make_empty_libraries "$lib" "$work"
  rm -r "$work"
}

# make_empty_libraries LIB WORK: what libtorch_python.so wants and the libraries that are there do not have.
make_empty_libraries() {
  local lib=$1 work=$2 name
  names_of() { nm -D "$@" | awk 'NF > 1 && $(NF - 1) != "w" { print $NF }' | sed 's/@.*//' | sort -u; }
  names_of --defined-only "$lib"/{libtorch_cpu,libc10,libc10_cuda,libshm}.so "$libraries"/cu13/lib/libcudart.so.13 \
    /lib/x86_64-linux-gnu/lib{c,m,gcc_s}.so.[16] "$(c++ -print-file-name=libstdc++.so.6)" /lib64/ld-linux-x86-64.so.2 \
    >"$work/there"
  names_of --undefined-only "$lib/libtorch_python.so" | grep -v '^_\?Py' | comm -23 - "$work/there" >"$work/missing"
  awk 'BEGIN { print "static char zeros[65536];"
               print "extern char of_class[] __asm__(\"_ZTVN10__cxxabiv117__class_type_infoE\");"
               print "struct type { void *table; const char *name; void *none; };" }
       /^_ZTV/ { printf "char n%d[1024] __asm__(\"%s\");\n", NR, $1; next }
       /^_ZTI/ { printf "struct type n%d __asm__(\"%s\") = {of_class + 16, \"%s\", 0};\n", NR, $1, substr($1, 5); next }
       { printf "void *n%d(void) __asm__(\"%s\");\nvoid *n%d(void) { return zeros; }\n", NR, $1, NR }' \
    "$work/missing" >"$work/empty.c"
  cc -shared -fPIC -Wl,-soname,libtorch_cuda.so "$work/empty.c" -lstdc++ -o "$lib/libtorch_cuda.so"
  for name in libcudnn.so.9 libcufile.so.0; do
    cc -shared -fPIC -Wl,-soname,$name -x c /dev/null -o "$lib/$name"
  done
}

install() {
  python3 -m venv "$target" || { say "python3 -m venv failed: Debian has it in python3-venv"; return 1; }
  site=$("$target/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  case $("$target/bin/python3" -c 'import sys; print(*sys.version_info[:2])') in
    "3 11")
      install_without_cuda || return 1
      pip install filelock typing-extensions sympy networkx jinja2 fsspec "${packages[@]}"
      ;;
    *) pip install "torch==$torch_version" "${packages[@]}" ;;
  esac
  pip install --no-deps "${alone[@]}" || return 1
  compile_modules
  "$target/bin/python3" -c 'import torch, transformers, onnxscript, onnxruntime; torch.ones(2, requires_grad=True).sum().backward()'
}

# Compiles PyTorch's Python part, as pip does with what it installs: importing it then takes half the time. Also if
# PYTHONDONTWRITEBYTECODE is set, which would keep Python from doing it.
compile_modules() {
  local torch
  torch=$(echo "$target"/lib/python3.*/site-packages/torch)
  [ -d "$torch/__pycache__" ] || "$target/bin/python3" -m compileall -q "$torch" "$torch"gen ||
    say "PyTorch's modules could not be compiled, and take longer to import"
}

mkdir -p "$cache" 2>/dev/null || fail "cannot create the cache directory $cache"
exec 9>"$cache/python.lock"
flock 9
if [ "$(cat "$target/packages" 2>/dev/null)" = "torch==$torch_version ${packages[*]} ${alone[*]}" ]; then
  compile_modules
  say "PyTorch $torch_version for Python: there already, in $target"
  exit
fi
rm -rf "$target" # what a failure left, or other versions
install || { rm -rf "$target"; fail "PyTorch $torch_version for Python could not be installed (above)"; }
echo "torch==$torch_version ${packages[*]} ${alone[*]}" >"$target/packages"
say "PyTorch $torch_version for Python: installed in $target"
