#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs packaging/deb.sh's package into a fresh Debian 12, trains an example there without a display, draws a window on
# a virtual screen, removes the package, and looks for what stays. Needs root, debootstrap, and Debian's packages within
# reach; says what it skips where they are not. Minutes long, so no part of ctest.
#
#   tests/packaging/deb_in_fresh_root.sh PACKAGE.deb [WHEELS]
#
# WHEELS: a folder with the wheels of LibTorch and Arrow, so that they need not be downloaded.
set -euo pipefail
package=$(realpath "${1:?expected a package}")
wheels=${2:+$(realpath "$2")}

skip() { echo "deb_in_fresh_root: skipped: $*" && exit 0; }
fail() { echo "deb_in_fresh_root: FAIL: $*" >&2 && exit 1; }
[ "$(id -u)" = 0 ] || skip "it needs root for a chroot"
command -v debootstrap >/dev/null || skip "there is no debootstrap"

work=$(mktemp -d)
root="$work/root"
cleanup() {
  for place in proc dev wheels; do
    if mountpoint -q "$root/$place"; then umount "$root/$place"; fi
  done
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
# As this machine reaches Debian's packages.
mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; ++i) if ($i ~ /^http/) { print $i; exit } }' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true)
[ -n "$mirror" ] || mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$work/debootstrap.log" 2>&1 ||
  skip "debootstrap failed: $(tail -n 1 "$work/debootstrap.log")"
cp -rL /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
if [ -e /etc/pip.conf ]; then cp -L /etc/pip.conf "$root/etc/"; fi
if [ -d /etc/ssl/certs ]; then mkdir -p "$root/etc/ssl" && cp -rL /etc/ssl/certs "$root/etc/ssl/" 2>/dev/null || true; fi
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
# How this machine's pip and apt reach what they need is told to those inside.
mapfile -t reach < <(env | grep -iE '^(pip_|https?_proxy=|no_proxy=)' || true)
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 \
    ${reach[@]+"${reach[@]}"} "$@"
}

inside apt-get update >"$work/apt.log" 2>&1 || skip "apt-get update failed in the fresh root: $(tail -n 1 "$work/apt.log")"
cp "$package" "$root/root/residua.deb"
inside apt-get install -y --no-install-recommends /root/residua.deb >"$work/apt.log" 2>&1 ||
  fail "the package cannot be installed: $(tail -n 5 "$work/apt.log")"
echo "installed"
for file in usr/share/applications/residua.desktop usr/share/mime/packages/residua.xml usr/share/man/man1/residua-cli.1.gz \
  usr/share/man/man1/residua.1.gz usr/share/icons/hicolor/scalable/apps/residua.svg; do
  [ -e "$root/$file" ] || fail "$file is missing"
done
inside residua-cli --version || fail "it does not start without LibTorch"
inside residua-cli new --example linear-ancre /root/mine || fail "no project is made"
if inside residua-cli train /root/mine >"$work/out" 2>&1; then fail "it trains without LibTorch"; fi
grep -q residua-setup "$work/out" || fail "it does not say how it gets LibTorch: $(cat "$work/out")"

if [ -n "$wheels" ]; then
  mkdir "$root/wheels" && mount --bind "$wheels" "$root/wheels"
  inside residua-setup --cpu --wheels /wheels || fail "residua-setup failed"
else
  inside residua-setup --cpu || fail "residua-setup failed"
fi
inside residua-cli train /root/mine --steps 50 --run /root/mine/runs/a || fail "it does not train"
# 400 rows of one sentence in column text, as pyarrow writes them.
base64 -d >"$root/root/rows.parquet" <<'ROWS'
UEFSMRUEFYABFZIBTBUCFQASAAAotS/9IEABAgA8AAAAdGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZywgYWdhaW
4gYW5kIGFnYWluFQAVFhUoLBWgBhUQFQYVBhwAAAAotS/9IAtZAAADAAAAoAYBAaAGABUEGSw1ABgGc2NoZW1hFQIAFQwlAhgEdGV4dCUATBwA
AAAWoAYZHBkcJgAcFQwZNQAGEBkYBHRleHQVDBagBhbeARaCAia6ASYIKSwVBBUAFQIAFQAVEBUCADwWgPcCGQYZJgCgBgAAABbeARagBiYIFo
ICACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAACdAAAAUEFSMQ==
ROWS
inside residua-cli new /root/columns --data /root/rows.parquet || fail "no project is made of Parquet"
inside residua-cli validate /root/columns || fail "it does not read Parquet"
inside residua-cli pack /root/mine -o /root/mine.residua || fail "it does not pack"
inside residua-cli report /root/mine/runs/a -o /root/report.html || fail "it writes no report"

if inside apt-get install -y --no-install-recommends xvfb xauth libgl1-mesa-dri qt6-qpa-plugins >"$work/apt.log" 2>&1; then
  inside xvfb-run -a -s "-screen 0 1600x1000x24" residua /root/mine --screenshot /root/window.png ||
    fail "the window does not start"
  [ -s "$root/root/window.png" ] || fail "the window draws nothing"
  if [ -n "${KEEP:-}" ]; then cp "$root/root/window.png" "$KEEP"; fi
  echo "the window starts"
else
  echo "skipped: the window, for there is no virtual screen: $(tail -n 1 "$work/apt.log")"
fi

inside apt-get purge -y residua >"$work/apt.log" 2>&1 || fail "it cannot be removed: $(tail -n 5 "$work/apt.log")"
left=$(cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./root -o -path ./wheels \) -prune -o -iname '*residua*' -print)
[ -z "$left" ] || fail "left behind: $left"
[ -e "$root/root/mine/runs/a/run.json" ] || fail "the user's own files are gone"
echo "removed without a trace but the user's own files"
