#!/usr/bin/env bash
# bench/powers.sh STRATA OUT.json SET: the power benchmark over a set of matrices, as one JSON
# document with the machine, the commit and the command. Vectors are in the plan's order, as solvers
# have them. Sets:
#   suite     the cpu class of ../shared/suite.txt, p = 4
#   matrices  the square real matrices of ../shared/matrices, p = 4
#   large     stencils, bands and meshes several times the size of the caches, p = 4 and 6
#   elongated three of them, for a machine with little time
#   sweep     one stencil, p = 1 … 12
#   size      one stencil from far below to far above the caches, p = 4
set -euo pipefail
strata=$1
out=$2
set=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
shared=$root/../shared
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Matrices that are not square have no powers and are left out.
powers() {
  "$strata" mpk "$@" --order plan --json "$work/result.json" --quiet >/dev/null 2>"$work/error" ||
    { grep -q 'has no powers' "$work/error" || cat "$work/error"; return 0; }
  python3 - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
document = json.load(open(f"{work}/result.json"))
open(f"{work}/all", "a").write(json.dumps(document) + "\n")
for r in document["results"]:
    if r["asked"] != "spmv":
        print(f'{document["matrix"]["name"]:<55} p={r["power"]:<3}{r["strategy"]:<10}'
              f'{r["gflops"]:8.2f} GF/s  x{r["speedup_over_spmv"]:.2f}'
              f'  predicted {r["predicted"]["gflops"]:8.2f}  set-up {r["setup_seconds"]:.2f} s')
PYTHON
}

case $set in
  suite)
    while read -r class spec _; do
      if [ "$class" = cpu ]; then powers "${spec//@/$shared/matrices}" -p 4 --min-time 0.5; fi
    done <"$shared/suite.txt"
    ;;
  matrices)
    for file in "$shared"/matrices/*.mtx.gz; do powers "$file" -p 4 --min-time 0.1; done
    ;;
  large)
    for spec in stencil27:32x32x4096 stencil27:64x64x1024 stencil27:64x64x1024,shuffle=1 \
      stencil7:128x128x1024 stencil7:64x64x4096 band:4194304,width=27 \
      band:4194304,width=27,shuffle=1 stencil27:24x24x1024,dof=3 \
      mesh:600000,dim=3,nnzr=27,dof=3,aspect=1x1x8 \
      mesh:600000,dim=3,nnzr=27,dof=3,aspect=1x1x8,shuffle=1 mesh:4000000,dim=2,nnzr=7; do
      powers "$spec" -p 4,6 --min-time 1
    done
    ;;
  elongated)
    for spec in stencil27:64x64x1024,shuffle=1 band:4194304,width=27 \
      mesh:600000,dim=3,nnzr=27,dof=3,aspect=1x1x8; do
      powers "$spec" -p 4,6 --min-time 1
    done
    ;;
  sweep) powers stencil27:32x32x4096 -p 1:12 --min-time 1 ;;
  size)
    for nz in 16 32 64 128 256 512 1024 2048 4096 8192; do
      powers "stencil27:32x32x$nz" -p 4 --min-time 0.5
    done
    ;;
  *)
    printf 'no such set: %s\n' "$set" >&2
    exit 2
    ;;
esac
# STRATA_COMMIT: what this tree is a copy of.
commit=${STRATA_COMMIT:-$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)}
python3 "$root/bench/collect.py" "$work/all" "$out" "$commit" "bench/powers.sh STRATA OUT.json $set"
