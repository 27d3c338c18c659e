#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No two of the libraries that a program loads may export one variable: the loader makes them one, of the size that it
# has in one of them, and a write to the other's writes over its neighbours. What is opened apart
# (libresidua_sentencepiece.so) is looked at too, and what is opened beside them (libresidua_parquet.so) as if they were
# linked with it, their functions besides. Only the engine's program is linked with LibTorch.
#
#   tst_symbols.sh CHECKOUT COMPILER APART BESIDE PROGRAM...       BESIDE may be empty
set -euo pipefail
# shellcheck source=tests/packaging/check.sh
. "$1/tests/packaging/check.sh"
compiler=$2
apart=$3
beside=$4
shift 4

# needed FILE...: they and every library that the loader brings with them, one real path a line.
needed() {
  local file
  for file in "$@"; do
    echo "$file"
    ldd "$file" | awk '/=> \//{ print $3 } /^\t\// { print $1 }'
  done | xargs -r realpath | sort -u
}

# variables FILE...: "name size binding library" of every variable that one exports, once for all of its versions.
variables() {
  local library
  for library in "$@"; do
    readelf --dyn-syms --wide "$library" | awk -v library="$(basename "$library")" '
      ($4 == "OBJECT" || $4 == "COMMON" || $4 == "TLS") && $7 != "UND" && $7 != "ABS" {
        sub(/@.*/, "", $8)
        if (!seen[$8]++) print $8, $3, $5, library
      }'
  done
}

# functions FILE...: the names of the functions that are defined in none of the language's ways to have one twice.
functions() {
  readelf --dyn-syms --wide "$@" | awk '$4 == "FUNC" && $5 == "GLOBAL" && $7 != "UND" { sub(/@.*/, "", $8); print $8 }' | sort -u
}

# clashes: of lines of `variables`, the names that more than one library exports, with the libraries. Allowed, where all
# of them say one size, is what the language makes one by rule, because it is written in a header that both compiled:
# - what is marked as such (unique and weak symbols): inline variables, static members and locals of templates;
# - virtual tables and type information (_ZTV, _ZTT, _ZTI, _ZTS), which nobody writes;
# - std::piecewise_construct, a constant without content, and the tag of std::make_shared, of which the address counts;
# - the templates of Qt's headers that register types;
# - what is local to a function of a header (_ZZ, and its guard _ZGVZ) that both of Arrow's libraries were made with.
# Qt's own libraries export the last two but one as plain symbols, and Arrow's the last.
clashes() {
  sort -u | awk '
    { count[$1]++; where[$1] = where[$1] " " $4 " (" $2 " bytes)"
      if (!($1 in size)) size[$1] = $2
      if (size[$1] != $2) differs[$1] = 1
      if ($3 != "UNIQUE" && $3 != "WEAK") plain[$1] = 1
      if ($4 !~ /^lib(arrow|parquet)[.]so/) others[$1] = 1 }
    END {
      for (name in count) {
        if (count[name] < 2) continue
        known = !(name in plain) || name ~ /^_ZT[VTIS]/ || name == "_ZSt19piecewise_construct" ||
                (!(name in others) && name ~ /^_Z(GV)?Z/) ||
                name == "_ZZNSt19_Sp_make_shared_tag5_S_tiEvE5__tag" ||
                name ~ /^_Z(GV)?Z?N(K?[0-9]+)?(QMetaType|9QMetaType|QtPrivate|9QtPrivate|13QMetaSequence|16QMetaAssociation)/
        if (!known || name in differs) print name ":" where[name]
      }
    }'
}

case_name="the check finds a clash"
echo 'int shared_flag = 1; int one() { return shared_flag; }' >"$scratch/one.cpp"
echo 'long shared_flag = 1; long two() { return shared_flag; }' >"$scratch/two.cpp"
echo 'int one(); long two(); int main() { return one() + static_cast<int>(two()); }' >"$scratch/main.cpp"
for part in one two; do "$compiler" -shared -fPIC "$scratch/$part.cpp" -o "$scratch/lib$part.so"; done
"$compiler" "$scratch/main.cpp" -o "$scratch/main" -L"$scratch" -Wl,-rpath,"$scratch" -lone -ltwo
mapfile -t files < <(needed "$scratch/main")
variables "${files[@]}" | clashes | grep '^shared_flag: libone.so (4 bytes) libtwo.so (8 bytes)' >/dev/null || wrong "not found"

for program in "$@"; do
  case_name="$(basename "$program")"
  mapfile -t files < <(needed "$program" ${beside:+"$beside"})
  [ "${#files[@]}" -gt 5 ] || wrong "its libraries are not listed: ${files[*]}"
  variables "${files[@]}" >"$scratch/variables"
  [ "$(wc -l <"$scratch/variables")" -gt 1000 ] || wrong "its libraries' variables are not listed"
  found=$(clashes <"$scratch/variables")
  [ -z "$found" ] || wrong "libraries export one variable: $found"
  if [ -n "$beside" ]; then
    mapfile -t own < <(comm -13 <(needed "$program") <(needed "$beside"))
    mapfile -t files < <(needed "$program")
    functions "${own[@]}" >"$scratch/own"
    [ "$(wc -l <"$scratch/own")" -gt 1000 ] || wrong "the functions of ${own[*]} are not listed"
    found=$(comm -12 "$scratch/own" <(functions "${files[@]}") | tr '\n' ' ')
    [ -z "$found" ] || wrong "it has functions of the names of what is opened beside it: $found"
  fi
  # Not -q: it would end before what it reads from, which then counts as failed.
  torch=$(needed "$program" | grep -c '/libtorch_cpu[.]so' || true)
  [ "$case_name" = residua-engine ] || [ "$torch" = 0 ] || wrong "it is linked with LibTorch"
  # Looked up apart, a variable that the program keeps a copy of would be the library's own, which nobody made.
  readelf --relocs --wide "$program" | awk '/_COPY/ { sub(/@.*/, "", $5); print $5 }' | sort -u >"$scratch/copied"
  mapfile -t files < <(needed "$apart")
  for library in "${files[@]}"; do
    case $library in */libstdc++.so* | */libc.so* | */libm.so* | */libgcc_s.so* | */ld-linux*) continue ;; esac
    readelf --dyn-syms --wide "$library" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }' | sort -u >"$scratch/used"
    copies=$(comm -12 "$scratch/copied" "$scratch/used" | tr '\n' ' ')
    [ -z "$copies" ] || wrong "it has copies of what $(basename "$library") uses apart: $copies"
  done
done

# exports FILE NAME: its one plain symbol is the function that gives its table. Besides, unique and weak, it has what
# headers define inline.
exports() {
  case_name="$(basename "$1")"
  local exported
  exported=$(readelf --dyn-syms --wide "$1" | awk '$7 != "UND" && $5 == "GLOBAL" { print $8 }' | tr '\n' ' ')
  [ "$exported" = "$2 " ] || wrong "it exports $exported, expected its table alone"
}
exports "$apart" residuaSentencePiece
if [ -n "$beside" ]; then exports "$beside" residuaParquet; fi

close
