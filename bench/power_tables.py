"""bench/power_tables.py FILE.json [--shuffled FILE.json] [--goals FILE]: tables in Markdown of
powers on a GPU, from what `bench/suite.py mpk` wrote with the backends cuda (or hip) and vendor.
Shuffled versions of its matrices may be in a file of their own. Matrices that have goals
(gpu_goals.txt) get a table of them as well.

Plain products, powers and the vendor's library each count with their best: of all p, since p is
free, and of all orders of the rows. Powers are those of the plan's own choice, which may be not to
block. Wrong results do not count."""
import argparse
import json
import math

SHUFFLED = ",shuffle=1"
# Goals for the gpu class of the suite: geometric means, and the least of all matrices.
RATIOS = {"plain/vendor": 1.3, "powers/plain": 1.1, "powers/vendor": 1.6}
LEAST_RATIO = 0.97
LEAST_SHUFFLED = 0.85
GOALS = ("earlier vendor", "plain goal", "percent goal", "earlier powers", "powers goal",
         "stretch goal")


def gflops(result):
    return result["gflops"] if result else None


def over(one, other):
    return one["gflops"] / other["gflops"] if one and other else None


class Figures:
    """The best results of one run, each None where there is none; and what powers are over plain
    products where p is the worst for them, both timed in turn."""

    def __init__(self, run):
        self.name = run["matrix"]["name"]
        right = [r for r in run["results"]
                 if "gflops" in r and r.get("error", {}).get("passed", True)]
        # The processor does not compete with a GPU.
        right = [r for r in right if "device" in r] or right
        own = [r for r in right if r["backend"] != "vendor"]
        self.vendor = self.best(r for r in right if r["backend"] == "vendor")
        self.plain = self.best(r for r in own if r["asked"] == "spmv")
        self.powers = self.best(r for r in own if r["asked"] == "auto")
        self.worst_power = min((r["speedup_over_spmv"] for r in own if r["asked"] == "auto"),
                               default=None)
        self.ratios = dict(zip(RATIOS, (over(self.plain, self.vendor),
                                        over(self.powers, self.plain),
                                        over(self.powers, self.vendor))))

    @staticmethod
    def best(results):
        return max(results, key=gflops, default=None)

    def strategy(self):
        """What computes the powers, and where its window is."""
        if not self.powers:
            return "-"
        parameters, power = self.powers["parameters"], self.powers["power"]
        words = [self.powers["strategy"]]
        if words != ["spmv"] and parameters["block"] < power:
            words.append(f"blocks of {parameters['block']}")
        if "window" in parameters:
            words.append(parameters["window"])
        return ", ".join(words)


def number(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


def percent(result):
    """Of the measured read bandwidth of memory."""
    return number(result and result["percent_of_memory_bandwidth"])


def line(run):
    """One run in one line of text."""
    figures = Figures(run)
    power = figures.powers["power"] if figures.powers else "-"
    return (f"plain {number(gflops(figures.plain)):>5} GF/s ({percent(figures.plain):>3} %)"
            f"  vendor {number(gflops(figures.vendor)):>5}"
            f"  powers {number(gflops(figures.powers)):>5} p={power} {figures.strategy():<26}" +
            "".join(f"  {what} {number(ratio, 2)}" for what, ratio in figures.ratios.items()))


def verdict(value, least):
    return f"{value:.2f} (goal: {least}{'' if value >= least else ', MISSED'})"


def ratio_lines(all_figures):
    """Geometric means and the smallest of every ratio."""
    for what, least in RATIOS.items():
        ratios = {f.name: f.ratios[what] for f in all_figures if f.ratios[what]}
        if not ratios:
            continue
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        smallest = min(ratios, key=ratios.get)
        yield (f"{what}: {verdict(mean, least)} in geometric mean of {len(ratios)}, at least "
               f"{verdict(ratios[smallest], LEAST_RATIO)}, `{smallest}`")


def shuffled_ratios(all_figures, shuffled_figures):
    """Powers of shuffled matrices over those of the same matrices as they were."""
    shuffled = {f.name: f.powers for f in [*all_figures, *shuffled_figures]}
    ratios = {f.name: over(shuffled.get(f.name + SHUFFLED), f.powers) for f in all_figures}
    return {name: ratio for name, ratio in ratios.items() if ratio}


def summary(all_figures, shuffled_figures=()):
    lines = list(ratio_lines(all_figures))
    worst = {f.name: f.worst_power for f in all_figures if f.worst_power}
    if worst:
        name = min(worst, key=worst.get)
        lines.append(f"powers/plain where p is the worst: {worst[name]:.2f}, `{name}`")
    ratios = shuffled_ratios(all_figures, shuffled_figures)
    if ratios:
        smallest = min(ratios, key=ratios.get)
        lines.append(f"shuffled/unshuffled powers: at least "
                     f"{verdict(ratios[smallest], LEAST_SHUFFLED)} of {len(ratios)}, `{smallest}`")
    return lines


def markdown(heads, rows):
    """The first column is text, the others are numbers but for strategies."""
    rules = ["---" if head in ("matrix", "by") else "---:" for head in heads]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [heads, rules, *rows])


def suite_table(all_figures, shuffled_figures=()):
    heads = ["matrix", "vendor GF/s", "plain GF/s", "% of memory", "powers GF/s", "p", "by",
             *RATIOS]
    shuffled = shuffled_ratios(all_figures, shuffled_figures)
    if shuffled:
        heads.append("shuffled")
    rows = []
    for f in all_figures:
        rows.append([f"`{f.name}`", number(gflops(f.vendor)), number(gflops(f.plain)),
                     percent(f.plain), number(gflops(f.powers)),
                     f.powers["power"] if f.powers else "-", f.strategy(),
                     *(number(ratio, 2) for ratio in f.ratios.values())])
        if shuffled:
            rows[-1].append(number(shuffled.get(f.name), 2))
    return markdown(heads, rows)


def read_goals(path):
    """By matrix, the texts of the columns by GOALS."""
    lines = [text.split() for text in open(path) if not text.startswith("#")]
    return {words[1]: dict(zip(GOALS, words[2:])) for words in lines if len(words) > 2}


def goals_table(all_figures, goals):
    heads = ["matrix", "vendor GF/s", "earlier", "plain GF/s", "goal", "% of memory", "goal",
             "powers GF/s", "p", "by", "% of memory", "earlier", "goal", "stretch goal"]
    rows = []
    for f in all_figures:
        if f.name not in goals:
            continue
        goal = goals[f.name]
        rows.append([f"`{f.name}`", number(gflops(f.vendor)), goal["earlier vendor"],
                     number(gflops(f.plain)), goal["plain goal"], percent(f.plain),
                     goal["percent goal"], number(gflops(f.powers)),
                     f.powers["power"] if f.powers else "-", f.strategy(), percent(f.powers),
                     goal["earlier powers"], goal["powers goal"], goal["stretch goal"]])
    return markdown(heads, rows) if rows else ""


def read_figures(path):
    return [Figures(run) for run in json.load(open(path))["runs"]] if path else []


def main():
    parser = argparse.ArgumentParser(description="Tables in Markdown of powers on a GPU.")
    parser.add_argument("file", metavar="FILE.json")
    parser.add_argument("--shuffled", metavar="FILE.json")
    parser.add_argument("--goals", metavar="FILE")
    arguments = parser.parse_args()
    all_figures = read_figures(arguments.file)
    shuffled_figures = read_figures(arguments.shuffled)
    goals = read_goals(arguments.goals) if arguments.goals else {}
    lines = [f"- {text}" for text in summary(all_figures, shuffled_figures)]
    parts = [goals_table(all_figures, goals), suite_table(all_figures, shuffled_figures),
             "\n".join(lines)]
    print("\n\n".join(filter(None, parts)))


if __name__ == "__main__":
    main()
