#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A Debian package of both programs, without LibTorch and Arrow, which residua-setup fetches on the machine that it is
# installed on.
#
#   packaging/deb.sh [-o FOLDER] [--build BUILD]
#
# FOLDER: where the package goes, build/ by default. BUILD: a build directory whose programs are packed as they are; by
# default preset release is set up and built.
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

output="$checkout/build"
build=""
while [ $# -gt 0 ]; do
  case $1 in
    -o) output=${2:?-o expects a folder} && shift ;;
    --build) build=$(cd "${2:?--build expects a build directory}" && pwd) && shift ;;
    -h | --help)
      sed -n '3,9s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "unknown option $1; there are -o, --build and --help" ;;
  esac
  shift
done
for tool in dpkg-deb dpkg-shlibdeps strip; do
  command -v "$tool" >/dev/null || fail "$tool is missing: Debian has it in dpkg-dev and binutils"
done
if [ -z "$build" ]; then
  "$checkout/packaging/setup.sh"
  configure_and_build release
  build="$checkout/build/release"
fi
mkdir -p "$output"
work=$(mktemp -d "$output/part.XXXXXX")
trap 'rm -rf "$work"' EXIT
root="$work/root" own="$work/root/usr/lib/residua" share="$work/root/usr/share"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")

# Installs with cmake, then moves the programs into lib/residua; in bin a launcher takes their place that looks for
# LibTorch and Arrow.
cmake --install "$build" --prefix "$root/usr" >"$work/install.log" 2>&1 ||
  { cat "$work/install.log" >&2; fail "cmake --install of $build failed (above)"; }
mv "$root/usr/bin/residua" "$root/usr/bin/residua-cli" "$root/usr/bin/residua-engine" "$own/"
for each in "$own"/residua* "$own"/*.so; do
  echo "file(RPATH_REMOVE FILE \"$each\")" >"$work/rpath.cmake"
  cmake -P "$work/rpath.cmake"
done
find "$own" -type f \( -name 'residua*' -o -name '*.so' \) -exec strip --strip-unneeded {} +
find "$own" -name '*.so' -exec chmod 644 {} +
install -m 755 "$checkout/packaging/debian/residua-launch" "$root/usr/bin/residua"
ln -s residua "$root/usr/bin/residua-cli"
ln -s residua "$root/usr/bin/residua-engine"
install -m 755 "$checkout/packaging/debian/residua-setup" "$root/usr/bin/residua-setup"
install -D -m 644 -t "$own/setup" "$checkout"/packaging/{common.sh,libtorch.sh,wheels.txt}
install -D -m 644 -t "$share/man/man1" "$checkout"/packaging/debian/*.1
find "$share/man" -type f -exec gzip -9n {} +
printf 'residua (%s) stable; urgency=medium\n\n  * Built from the sources of this version.\n\n -- %s  %s\n' "$version" \
  "Residua authors <residua@residua.invalid>" "$(date -R)" | gzip -9n >"$share/doc/residua/changelog.gz"

# The libraries that the programs and what they open are linked with, but for LibTorch's own and Arrow's.
mkdir -p "$work/debian"
printf 'Source: residua\n\nPackage: residua\nArchitecture: amd64\n' >"$work/debian/control"
runpath() { readelf -d "$1" | sed -n 's/^.*RUNPATH.*\[\(.*\)\].*$/\1/p' | tr ':' '\n' | grep "$2" | head -n 1; }
torch=$(runpath "$build/bin/residua-engine" torch/lib)
places=(-l"$torch" -l"$torch/../../nvidia/cu13/lib")
if [ -e "$own/libresidua_parquet.so" ]; then
  places+=(-l"$(runpath "$build/engine/libresidua_parquet.so" pyarrow)")
fi
(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "${places[@]}" \
  "$own"/residua* "$own"/*.so) >"$work/depends" 2>"$work/shlibdeps.log" ||
  { cat "$work/shlibdeps.log" >&2; fail "dpkg-shlibdeps failed (above)"; }
depends=$(sed -n 's/^shlibs:Depends=//p' "$work/depends")

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: residua
Version: $version
Architecture: amd64
Maintainer: Residua authors <residua@residua.invalid>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends, python3-pip, unzip
Recommends: fonts-inter, fonts-jetbrains-mono, libgl1-mesa-dri, qt6-qpa-plugins, x-terminal-emulator
Section: science
Priority: optional
Description: workbench for the depth topology of neural networks
 Residua wires, trains and watches the residual topology of neural networks,
 in a window and in a terminal. Nothing is trained or computed before
 residua-setup has fetched PyTorch's C++ library and Apache Arrow's.
CONTROL
install -m 755 "$checkout/packaging/debian/postrm" "$root/DEBIAN/postrm"
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
chmod -R go-w "$root"
package="residua_${version}_amd64.deb"
dpkg-deb --root-owner-group -Zxz --build "$root" "$work/$package" >"$work/deb.log" || fail "dpkg-deb failed (above)"
if command -v lintian >/dev/null; then
  lintian --fail-on error "$work/$package" >"$work/lintian.log" 2>&1 ||
    { cat "$work/lintian.log" >&2; fail "lintian finds errors in the package (above)"; }
  say "lintian finds no errors"
else
  say "lintian is not installed: the package is not checked by it"
fi
mv "$work/$package" "$output/$package"
say "wrote $output/$package ($(du -m "$output/$package" | cut -f1) MB)"
