"""bench/suite.py spmv|mpk STRATA OUT.json SUITE[:SUITE…] CLASS [OPTION…]: products or powers of the
matrices of one class of suite files, as one JSON document with the machine, the commit and the
command. A suite has a class and a matrix per line; @ stands for the folder matrices beside it. Keys
after the class, as in gpu,shuffle=1, go to all matrices but those that have them already, which are
left out. A suite that is a folder has its Matrix Market files, in every class. The options go to
`strata spmv` or `strata mpk`.

The document is complete after every matrix: whoever runs out of time has those that are done."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import collect
import power_tables
import product_tables

ROOT = pathlib.Path(__file__).resolve().parent.parent


def products_line(run):
    """The best own product of one run in one line of text."""
    own = [r for r in run["results"] if "seconds" in r and r["backend"] != "vendor"]
    if not own:
        return ""
    best = max(own, key=power_tables.gflops)
    text = (f'{best["variant"]:<24}{best["gflops"]:9.1f} GF/s'
            f'{best["percent_of_memory_bandwidth"]:6.1f} % of memory')
    if "speedup_over_vendor" in best:
        text += f'  x{best["speedup_over_vendor"]:.2f} over the vendor'
    full = [result for result in own if result.get("format") == "packed-sell-full"]
    if full:
        text += f'  x{best["gflops"] / max(map(power_tables.gflops, full)):.2f} over full values'
    return text


def matrices(suite, class_and_keys):
    if suite.is_dir():
        yield from (f"@/{path.name}" for path in sorted(suite.glob("*.mtx*")))
        return
    name, *keys = class_and_keys.split(",")
    for text in open(suite):
        words = text.split()
        if words[:1] != [name]:
            continue
        if not any(f",{key.split('=')[0]}=" in words[1] for key in keys):
            yield ",".join([words[1], *keys])


def folder_of(suite):
    """What @ stands for."""
    return suite.resolve() if suite.is_dir() else suite.resolve().parent / "matrices"


def commit():
    """Of this tree, or what STRATA_COMMIT says for a copy of one."""
    if os.environ.get("STRATA_COMMIT"):
        return os.environ["STRATA_COMMIT"]
    described = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                               capture_output=True, text=True)
    return described.stdout.strip() or "unknown"


def run_strata(words):
    """The status, and the document in one line: that of wrong results, too, but empty if none."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        ended = subprocess.run([*words, "--json", result, "--quiet"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            print(f"{words[2]}: {ended.stderr.strip()}", flush=True)
        document = json.dumps(json.loads(result.read_text())) if result.exists() else ""
        return ended.returncode, document


def print_summary(document, suite):
    all_figures = [power_tables.Figures(run) for run in document["runs"]]
    goals = power_tables.goals_table(all_figures, power_tables.read_goals(suite))
    lines = power_tables.summary(all_figures)
    print("\n".join([goals] if goals else lines))


def product_summary(document):
    """Of processors and GPUs, as far as there were any."""
    lines = [product_tables.summary([product_tables.Figures(run, device)
                                     for run in document["runs"]]) for device in ("cpu", "gpu")]
    return "\n".join(line for line in lines if line)


def main():
    if len(sys.argv) < 6 or sys.argv[1] not in ("spmv", "mpk"):
        sys.exit(__doc__)
    kind, strata, out, suites, of_class, *options = sys.argv[1:]
    suites = [pathlib.Path(suite) for suite in suites.split(":")]
    line = products_line if kind == "spmv" else power_tables.line
    names = ":".join(suite.name for suite in suites)
    command = " ".join(["bench/suite.py", kind, "STRATA OUT.json", names, of_class, *options])
    made_from = commit()
    lines, failures, document = "", 0, None
    for suite, matrix in ((suite, each) for suite in suites for each in matrices(suite, of_class)):
        folder = folder_of(suite)
        begin = time.monotonic()
        status, text = run_strata([strata, kind, matrix.replace("@", str(folder)), *options])
        failures += status != 0
        if not text:
            continue
        lines += text.replace(str(folder), "@") + "\n"
        document = collect.collect(lines, out, made_from, command)
        print(f"{matrix:<55}{line(document['runs'][-1])}  {time.monotonic() - begin:.0f} s",
              flush=True)
    if not document:
        sys.exit(f"no results for class {of_class} of {sys.argv[4]}")
    if kind == "mpk":
        print_summary(document, suites[0])
    else:
        print(product_summary(document))
    if failures:
        sys.exit(f"{failures} matrices failed")


main()
