#!/usr/bin/env bash
# bench/products.sh STRATA OUT.json SUITE CLASS [OPTION…]: plain products of the matrices of one
# class of a suite file, as one JSON document with the machine, the commit and the command. A suite
# has a class and a matrix per line; @ stands for the folder matrices beside it. The options go to
# `strata spmv`.
#
# The document is complete after every matrix: whoever runs out of time has those that are done.
set -euo pipefail
strata=$1
out=$2
suite=$3
class=$4
shift 4
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(cd "$(dirname "$suite")" && pwd)
commit=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
options=$*

# Fails if the command does; results that are wrong are kept, too.
products() {
  local status=0
  rm -f "$work/result.json"
  "$strata" spmv "$@" --json "$work/result.json" --quiet >/dev/null 2>"$work/error" || status=$?
  if [ "$status" -ne 0 ]; then printf '%s: ' "$1" && cat "$work/error"; fi
  [ -e "$work/result.json" ] || return "$status"
  python3 - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
document = json.load(open(f"{work}/result.json"))
open(f"{work}/all", "a").write(json.dumps(document) + "\n")
timed = [r for r in document["results"] if "seconds" in r]
line = f'{document["matrix"]["name"]:<55}'
own = [r for r in timed if r["backend"] != "vendor"]
if own:
    best = max(own, key=lambda r: r["gflops"])
    line += (f'{best["variant"]:<24}{best["gflops"]:9.1f} GF/s'
             f'{best["percent_of_memory_bandwidth"]:6.1f} % of memory')
    if "speedup_over_vendor" in best:
        line += f'  x{best["speedup_over_vendor"]:.2f} over the vendor'
print(line, flush=True)
PYTHON
  python3 "$root/bench/collect.py" "$work/all" "$out" "$commit" \
    "bench/products.sh STRATA OUT.json SUITE $class $options"
  return "$status"
}

while read -r of_class spec _; do
  [ "$of_class" = "$class" ] || continue
  products "${spec//@/$folder/matrices}" "$@" || failures=$((failures + 1))
done <"$suite"
[ -e "$work/all" ] || { printf 'no results for class %s of %s\n' "$class" "$suite"; exit 1; }
[ "$failures" -eq 0 ] || { printf '%d matrices failed\n' "$failures"; exit 1; }
