"""bench/product_tables.py FILE.json… [--on cpu|gpu] [--shorten]: a table in Markdown of plain
products, from what `bench/suite.py spmv` or `strata spmv --json` wrote: the fastest of Strata and of
other libraries for each matrix, and their ratio in geometric mean. Wrong results do not count, and
the processor does not compete with a GPU. --shorten writes the files again with no more than tables
and profiles need."""
import argparse
import json
import math
import re

from results import write

KEPT_OF_MATRIX = ("name", "rows", "cols", "nnz")
KEPT_OF_RESULT = ("backend", "device", "format", "variant", "parameters", "threads", "precision",
                  "setup_seconds", "seconds", "gflops", "bytes", "refused")


def runs_of(document):
    """Of one matrix each; a document of `strata spmv` is a run itself."""
    return document.get("runs", [document])


def load_runs(paths):
    """Of all files; of a matrix that is in several, the last."""
    runs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for run in runs_of(json.load(file)):
                runs[run["matrix"]["name"]] = run
    return list(runs.values())


def kept(document):
    def shortened(run):
        results = [{key: result[key] for key in KEPT_OF_RESULT if key in result} |
                   ({"error": {"passed": result["error"]["passed"]}} if "error" in result else {})
                   for result in run["results"]]
        return {"matrix": {key: run["matrix"][key] for key in KEPT_OF_MATRIX}, "results": results}

    if "runs" not in document:
        return document | shortened(document)
    return document | {"runs": [shortened(run) for run in document["runs"]]}


def shorten(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    write(path, kept(document))


def results_on(run, device):
    """Those that were measured and are right."""
    return [result for result in run["results"]
            if "seconds" in result and result.get("error", {}).get("passed", True) and
            ("device" in result) == (device == "gpu")]


def seconds(result):
    return result["seconds"]["median"]


def fastest(results):
    return min(results, key=seconds, default=None)


def is_peer(result):
    return result["backend"] == "vendor"


def label(result):
    """Its name in tables, without the version of a library."""
    return re.sub(r" \d+(\.\d+)+", "", result["variant"])


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


class Figures:
    """The fastest of one run, each None where there is none."""

    def __init__(self, run, device):
        results = results_on(run, device)
        self.name = run["matrix"]["name"]
        self.own = fastest(r for r in results if not is_peer(r))
        self.peer = fastest(r for r in results if is_peer(r))
        self.ratio = seconds(self.peer) / seconds(self.own) if self.own and self.peer else None


def cells(result):
    return f'{label(result)} | {result["gflops"]:.2f}' if result else "- | -"


def table(all_figures):
    lines = ["| matrix | fastest of Strata | GF/s | fastest peer | GF/s | ratio |",
             "|---|---|---:|---|---:|---:|"]
    for figures in all_figures:
        ratio = "-" if figures.ratio is None else f"{figures.ratio:.2f}"
        lines.append(f"| `{figures.name}` | {cells(figures.own)} | {cells(figures.peer)} "
                     f"| {ratio} |")
    return "\n".join(lines)


def summary(all_figures):
    """Empty if there is nothing to compare."""
    compared = [figures for figures in all_figures if figures.ratio is not None]
    if not compared:
        return ""
    least = min(compared, key=lambda figures: figures.ratio)
    slower = [f"`{figures.name}` {figures.ratio:.2f}" for figures in compared if figures.ratio < 1]
    return (f"{geometric_mean([figures.ratio for figures in compared]):.2f} times the fastest peer "
            f"in geometric mean of {len(compared)} matrices, at least {least.ratio:.2f} "
            f"(`{least.name}`); below 1: {', '.join(slower) or 'none'}.")


def add_arguments(parser):
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--on", choices=("cpu", "gpu"), default="cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--shorten", action="store_true")
    words = parser.parse_args()
    if words.shorten:
        for path in words.files:
            shorten(path)
    all_figures = [Figures(run, words.on) for run in load_runs(words.files)]
    print("\n\n".join([table(all_figures), summary(all_figures)]).rstrip())


if __name__ == "__main__":
    main()
