#!/usr/bin/env bash
# That binaries have the protections of cmake/HeedHardening.cmake, and that this notices where one is missing.
#
#   hardening.sh COMPILER BINARY...
set -euo pipefail
compiler=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# protected BINARY: prints what is missing.
protected() {
  local binary=$1 missing=0
  readelf -W -h -l -d -n "$binary" >"$work/headers"
  { readelf -W --dyn-syms "$binary"; readelf -W -s "$binary"; } >"$work/symbols"
  need() { # WHAT PATTERN FILE
    if ! grep -qE -- "$2" "$3"; then
      echo "$binary: no $1"
      missing=1
    fi
  }
  need "position-independent code (PIE)" 'Type: +DYN' "$work/headers"
  if grep -q INTERP "$work/headers"; then need "flag of a position-independent program" 'Flags:.* PIE' "$work/headers"; fi
  need "read-only relocations (RELRO)" 'GNU_RELRO' "$work/headers"
  need "binding at the start (BIND_NOW)" '(FLAGS\).*BIND_NOW|Flags:.*NOW)' "$work/headers"
  need "stack that is not executable" 'GNU_STACK .* RW ' "$work/headers"
  need "stack protector" '__stack_chk_fail' "$work/symbols"
  need "checked functions (_FORTIFY_SOURCE)" '__(memcpy|memset|memmove|read|pread|snprintf|strncpy|fprintf|vsnprintf|poll|recv|fread)_chk' "$work/symbols"
  # An empty entry of the library path would be the current folder, where anybody may have put libraries.
  local path
  path=$(sed -n 's/.*(\(RPATH\|RUNPATH\)).*\[\(.*\)\]/\2/p' "$work/headers")
  if [[ $path && :$path: =~ :[^\$/] ]]; then
    echo "$binary: libraries of the current folder ($path)"
    missing=1
  fi
  if [[ $(uname -m) == x86_64 ]]; then
    # Debian's start files have no mark, so the linker leaves it out of the program; the instructions are there.
    local marks
    marks=$(LC_ALL=C grep -obUaP '\xf3\x0f\x1e\xfa' "$binary" | wc -l)
    if ((marks < 10)); then
      echo "$binary: $marks marks for indirect jumps (-fcf-protection)"
      missing=1
    fi
  fi
  return $missing
}

failed=0
for binary in "$@"; do protected "$binary" || failed=1; done

# Without each of them.
cat >"$work/program.cc" <<'SOURCE'
#include <cstdio>
#include <cstring>
struct Base { virtual int value() { return 1; } virtual ~Base() = default; };
#define CLASS(n) struct C##n : Base { int value() override { return n; } }; Base* make##n() { return new C##n; }
CLASS(1) CLASS(2) CLASS(3) CLASS(4) CLASS(5) CLASS(6) CLASS(7) CLASS(8)
int main(int count, char** words) {
  char buffer[16];
  std::memcpy(buffer, words[0], static_cast<unsigned>(count));
  std::puts(buffer);
  return make1()->value();
}
SOURCE
everything=(-O2 -fPIE -pie -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wl,-z,relro,-z,now,-z,noexecstack)
if [[ $(uname -m) == x86_64 ]]; then everything+=(-fcf-protection=full); fi
# refused WHAT FLAG...: a program with all flags but for the last ones is refused for that.
refused() {
  "$compiler" -w "${everything[@]}" "${@:2}" "$work/program.cc" -o "$work/program" 
  if protected "$work/program" >"$work/found" || ! grep -q "$1" "$work/found"; then
    echo "${*:2} is not noticed:"
    cat "$work/found"
    failed=1
  fi
}
"$compiler" -w "${everything[@]}" "$work/program.cc" -o "$work/program"
protected "$work/program" || { echo "a program with all protections is refused"; failed=1; }
refused PIE -fno-PIE -no-pie
refused RELRO -Wl,-z,norelro
refused BIND_NOW -Wl,-z,lazy
refused "not executable" -Wl,-z,execstack
refused "stack protector" -fno-stack-protector
refused FORTIFY -U_FORTIFY_SOURCE
refused "current folder" -Wl,-rpath,/usr/lib::
if [[ $(uname -m) == x86_64 ]]; then refused indirect -fcf-protection=none; fi
exit $failed
