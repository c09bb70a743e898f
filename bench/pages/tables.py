"""Tables in Markdown, each made from runs: what a page of results shows of its data. A function that
is marked as a table can be named in a page (fill.py); what it takes besides runs is said there."""
import math
import re
import statistics
import textwrap

TABLES = {}
NEAR = 0.15  # a prediction that is off by no more is good
PROFILE_FACTORS = (1, 1.1, 1.25, 1.5, 2, 4)


def table(function):
    TABLES[function.__name__.replace("_", "-")] = function
    return function


def markdown(heads, rows):
    """Heads that begin with = are those of text, the others of numbers."""
    names = [head.removeprefix("=") for head in heads]
    rules = ["---" if head.startswith("=") else "---:" for head in heads]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [names, rules, *rows])


def number(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def code(name):
    return f"`{name}`"


def seconds(result):
    return result["seconds"]["median"]


def fastest(results):
    return min(results, key=seconds, default=None)


def over(slow, quick):
    """How many times as fast the second is."""
    return seconds(slow) / seconds(quick) if slow and quick else None


def is_peer(result):
    return result["backend"] == "vendor"


def is_plan(result):
    return result["variant"].startswith("plan: ")


def label(result):
    """Without the version of a library, and without the word for a plan."""
    return re.sub(r" \d+(\.\d+)+", "", result["variant"].removeprefix("plan: "))


def timed(run):
    """Results that were measured and are right; the processor does not compete with a GPU."""
    right = [result for result in run.results
             if "seconds" in result and result.get("error", {}).get("passed", True)]
    return [result for result in right if "device" in result] or right


def ratio_summary(what, ratios):
    """`ratios` by matrix; those without one are left out."""
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    if not known:
        return f"- {what}: nothing to compare"
    least = min(known, key=known.get)
    slower = [f"{code(name)} {ratio:.2f}" for name, ratio in sorted(known.items(), key=lambda i: i[1])
              if ratio < 0.995]
    text = (f"- {what}: **{geometric_mean(known.values()):.2f}** in geometric mean of {len(known)}, "
            f"at least {known[least]:.2f} ({code(least)})" +
            (f"; below 1: {', '.join(slower)}" if slower else ""))
    return textwrap.fill(text, 100, subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False)


@table
def machines(runs):
    """Where the runs are from."""
    found = {}
    for run in runs:
        gpu = run.machine.get("gpu") or {}
        caches = {cache["level"]: cache["bytes"] for cache in run.machine.get("caches", [])
                  if cache["type"] != "Instruction"}
        key = (run.machine.get("cpu", "-"), run.machine.get("cores"),
               ", ".join(f"{size / 2**20:.3g} MiB" for _, size in sorted(caches.items())),
               gpu.get("name", "-"))
        entry = found.setdefault(key, {"commits": set(), "times": [], "runs": 0})
        entry["commits"].add(run.commit)
        entry["times"].append(run.document.get("time", "")[:10])
        entry["runs"] += 1
    return markdown(["=processor", "cores", "=caches", "=GPU", "=commit", "=day", "runs"],
                    [[*key, ", ".join(sorted(entry["commits"])), max(entry["times"]), entry["runs"]]
                     for key, entry in found.items()])


@table
def products(runs):
    """The plan, the fastest of Strata and the fastest peer for each matrix."""
    rows, plans, bests = [], {}, {}
    for run in runs:
        results = timed(run)
        own = [result for result in results if not is_peer(result)]
        peer = fastest(result for result in results if is_peer(result))
        plan, best = fastest(filter(is_plan, own)), fastest(own)
        plans[run.name], bests[run.name] = over(peer, plan), over(peer, best)
        cells = [code(run.name)]
        for result in (plan, best, peer):
            cells += [label(result), f"{1e6 * seconds(result):.1f}"] if result else ["-", "-"]
        rows.append([*cells, number(plans[run.name], 2), number(bests[run.name], 2)])
    heads = ["=matrix", "=plan", "µs", "=fastest of Strata", "µs", "=fastest peer", "µs",
             "plan over peer", "fastest over peer"]
    return "\n\n".join([markdown(heads, rows), "\n".join([
        ratio_summary("plan over the fastest peer", plans),
        ratio_summary("fastest of Strata over the fastest peer", bests)])])


@table
def values(runs):
    """Full and encoded values in packed SELL, with the vendor's fastest."""
    rows, gains = [], {}
    for run in runs:
        results = timed(run)
        full, encoded = (fastest(r for r in results if r["format"] == name and not is_plan(r))
                         for name in ("packed-sell-full", "packed-sell"))
        peer = fastest(filter(is_peer, results))
        gains[run.name] = over(full, encoded)
        megabytes = [number(r and r["bytes"]["format"] / 1e6, 1) for r in (full, encoded)]
        rows.append([code(run.name), *(number(r and r["gflops"]) for r in (peer, full, encoded)),
                     *megabytes, number(gains[run.name], 2),
                     number(over(peer, fastest(filter(None, (full, encoded)))), 2)])
    heads = ["=matrix", "vendor GF/s", "full GF/s", "encoded GF/s", "MB, full", "MB, encoded",
             "encoded over full", "best over vendor"]
    return markdown(heads, rows)


def competitor(result):
    """Formats of Strata by their names, with a plan as one of its own; products of other libraries
    by library and format, whatever their algorithm."""
    if not is_peer(result):
        return "plan" if is_plan(result) else result["format"]
    return re.sub(r"( (alg\d|default|\d×\d)|, 1 thread)$", "", label(result))


@table
def profile(runs):
    """The share of the matrices for which a competitor takes at most x times as long as the fastest
    (E. Dolan and J. Moré: Benchmarking optimization software with performance profiles, Math.
    Program. 91, 2002). A matrix that it refuses is in no share."""
    ratios = {}
    for run in runs:
        best = {}
        for result in timed(run):
            name = competitor(result)
            best[name] = min(best.get(name, math.inf), seconds(result))
        for name, time in best.items():
            ratios.setdefault(name, []).append(time / min(best.values()))

    def share(name, factor):
        return sum(ratio <= factor for ratio in ratios[name]) / len(runs)

    names = sorted(ratios, key=lambda name: [-share(name, 1.5), -share(name, 4), name])
    heads = ["=", "fastest", *(f"≤ {factor:g}" for factor in PROFILE_FACTORS[1:]), "matrices",
             "mean factor"]
    return markdown(heads, [[name, *(f"{100 * share(name, x):.0f} %" for x in PROFILE_FACTORS),
                             len(ratios[name]), f"{geometric_mean(ratios[name]):.2f}"]
                            for name in names])


@table
def tuned(runs):
    """What the best of those that a search times loses to the best of all, and how many products
    take what was predicted of them."""
    rows, lost, near_of_all, all_of_all = [], [], 0, 0
    for run in runs:
        known = [result for result in run.results if "seconds" in result]
        chosen = fastest(result for result in known if result["contender"])
        best = fastest(known)
        predicted = [result for result in known if "predicted" in result]
        near = sum(abs(r["predicted"]["seconds"] / seconds(r) - 1) <= NEAR for r in predicted)
        lost.append(over(chosen, best) - 1)
        near_of_all, all_of_all = near_of_all + near, all_of_all + len(predicted)
        rows.append([code(run.name), f"{near} of {len(predicted)}", label(chosen), label(best),
                     f"{100 * lost[-1]:.1f} %"])
    heads = ["=matrix", f"within {100 * NEAR:.0f} %", "=chosen", "=best of all", "loses"]
    return "\n\n".join([markdown(heads, rows),
                        f"- predicted within {100 * NEAR:.0f} %: **{near_of_all} of {all_of_all}**, "
                        f"{100 * near_of_all / all_of_all:.0f} %\n"
                        f"- lost: {100 * sum(lost) / len(lost):.1f} % in the mean of {len(lost)}, "
                        f"{100 * max(lost):.1f} % at most"])


def strategy(result):
    """What computes powers, and where its window is."""
    parameters = result["parameters"]
    words = [result["strategy"]]
    if words != ["spmv"]:
        if parameters["block"] < result["power"]:
            words.append(f"blocks of {parameters['block']}")
        if parameters.get("bands", 1) > 1:
            words.append(f"{parameters['bands']} bands")
        if "window" in parameters:
            words.append(parameters["window"])
    return ", ".join(words)


def by_power(run):
    """Plain products and powers of the plan's choice, of one p each."""
    results = timed(run)
    for power in sorted({result["power"] for result in results}):
        own = [r for r in results if r["power"] == power and not is_peer(r)]
        plain = fastest(r for r in own if r["asked"] == "spmv")
        chosen = fastest(r for r in own if r["asked"] == "auto")
        peer = fastest(r for r in results if r["power"] == power and is_peer(r))
        if plain and chosen:
            yield plain, chosen, peer


@table
def powers(runs):
    """Powers on a processor: what the plan chose over plain products, and over its model."""
    rows, gains = [], {}
    for run in runs:
        for plain, chosen, _ in by_power(run):
            gain = over(plain, chosen)
            gains[f"{run.name}, p = {chosen['power']}"] = gain
            model = chosen.get("predicted", {}).get("gflops")
            product = seconds(plain) / plain["power"]
            rows.append([code(run.name), chosen["power"], number(plain["gflops"], 1),
                         strategy(chosen), number(chosen["gflops"], 1), number(gain, 2),
                         number(model, 1), number(model and chosen["gflops"] / model, 2),
                         number(chosen["setup_seconds"] / product)])
    heads = ["=matrix", "p", "plain GF/s", "=chosen", "GF/s", "speed-up", "model GF/s",
             "measured over model", "set-up in plain products"]
    return "\n\n".join([markdown(heads, rows), ratio_summary("powers over plain products", gains)])


@table
def gpu_powers(runs):
    """Powers and plain products on a GPU, and the vendor's library."""
    rows, ratios = [], {"plain over vendor": {}, "powers over plain": {}, "powers over vendor": {}}
    for run in runs:
        for plain, chosen, peer in by_power(run):
            found = (over(peer, plain), over(plain, chosen), over(peer, chosen))
            for each, ratio in zip(ratios.values(), found):
                each[run.name] = ratio
            rows.append([code(run.name), number(peer and peer["gflops"]), number(plain["gflops"]),
                         number(plain.get("percent_of_memory_bandwidth")),
                         number(chosen["gflops"]), chosen["power"], strategy(chosen),
                         *(number(ratio, 2) for ratio in found)])
    heads = ["=matrix", "vendor GF/s", "plain GF/s", "% of memory", "powers GF/s", "p", "=by",
             *ratios]
    summary = "\n".join(ratio_summary(what, each) for what, each in ratios.items())
    return "\n\n".join([markdown(heads, rows), summary])


def value_at(record, path):
    """What is at a.b, or the ratio of two such as a.b/c.d."""
    over_what = path.split("/")
    if len(over_what) == 2:
        return value_at(record, over_what[0]) / value_at(record, over_what[1])
    for key in path.split("."):
        record = record[key]
    return record


def cell(record, head, path, digits=None, scale=1):
    value = value_at(record, path)
    if head == "=matrix":
        return code(value)
    return value if digits is None else f"{scale * value:,.{digits}f}".replace(",", " ")


def rows(documents, of, columns, where=None):
    """The records at `of` of programs that write JSON of their own, those that are as `where` says.
    A column is a head, a path, and for numbers their digits and what to multiply them by."""
    records = [record for document in documents for record in value_at(document, of)
               if all(value_at(record, key) == value for key, value in (where or {}).items())]
    return markdown([column[0] for column in columns],
                    [[cell(record, *column) for column in columns] for record in records])


def iteration(result):
    return result["seconds"]["iteration"]


def libraries(results):
    """Names of those that the results are of, without versions and threads."""
    return sorted({label(result).split()[0] for result in results if is_peer(result)})


@table
def gradients(runs):
    """Conjugate gradients of Strata and of the fastest peer, per iteration."""
    rows, ratios = [], {}
    for run in runs:
        found = [result for result in run.results if result["method"] == "cg"]
        own = min((result for result in found if not is_peer(result)), key=iteration, default=None)
        peer = min((result for result in found if is_peer(result)), key=iteration, default=None)
        if not own or not peer:
            continue
        ratios[run.name] = iteration(peer) / iteration(own)
        rows.append([code(run.name), label(own), f"{1e6 * iteration(own):.1f}",
                     number(100 * own["seconds"]["products"] / own["seconds"]["total"]),
                     label(peer), f"{1e6 * iteration(peer):.1f}", number(ratios[run.name], 2)])
    heads = ["=matrix", "=product of Strata", "µs", "% in products", "=peer", "µs", "Strata over peer"]
    return "\n\n".join([markdown(heads, rows), ratio_summary("per iteration", ratios)])


@table
def gradients_by_library(runs):
    """Conjugate gradients of Strata, and how many times as fast they are as the fastest of each
    other library on as many threads, per iteration."""
    runs = [run for run in runs if any(map(is_peer, run.results))]
    others = libraries(result for run in runs for result in run.results)
    rows, ratios = [], {}
    for run in runs:
        own = next(result for result in run.results if not is_peer(result))
        cells = [code(run.name), own["threads"], label(own), f"{1e6 * iteration(own):.0f}",
                 number(100 * own["seconds"]["products"] / own["seconds"]["total"])]
        for other in others:
            peers = [iteration(result) for result in run.results
                     if is_peer(result) and label(result).startswith(other)
                     and result["threads"] == own["threads"]]
            ratio = min(peers) / iteration(own) if peers else None
            cells.append(number(ratio, 2))
            named = f"{run.name}, {own['threads']} threads".replace(" 1 threads", " 1 thread")
            ratios.setdefault(other, {})[named] = ratio
        rows.append(cells)
    heads = ["=matrix", "threads", "=product of Strata", "µs", "% in products",
             *(f"over {other}" for other in others)]
    return "\n\n".join([markdown(heads, rows), "\n".join(
        ratio_summary(f"over {other}, per iteration", found) for other, found in ratios.items())])


@table
def ranks_by_threads(runs):
    """Products on ranks against those of one process with as many threads in all, and against PETSc
    on the same ranks."""
    alone = {run.name: fastest([result for result in run.results if is_plan(result)])
             for run in runs if not any("ranks" in result for result in run.results)}
    rows, over_threads, over_peer = [], {}, {}
    for run in runs:
        own = next((result for result in run.results
                    if "ranks" in result and not is_peer(result)), None)
        if own is None:
            continue
        one = alone.get(run.name)
        peer = fastest([result for result in run.results if is_peer(result)])
        over_threads[run.name], over_peer[run.name] = over(one, own), over(peer, own)
        rows.append([code(run.name), f"{own['ranks']} × {own['threads']}",
                     f"{1e3 * seconds(own):.3f}",
                     f"{1e3 * seconds(one):.3f}" if one else "-",
                     number(over_threads[run.name], 2), number(over_peer[run.name], 2),
                     number(100 * own["edge_cut_share"], 1), own["messages"],
                     own["message_bytes"]])
    heads = ["=matrix", "ranks × threads", "ms", "threads alone, ms", "over threads", "over PETSc",
             "edge cut %", "messages", "bytes"]
    summaries = [ratio_summary("over threads", over_threads)]
    if any(over_peer.values()):
        summaries.append(ratio_summary("over PETSc's MPIAIJ", over_peer))
    return "\n\n".join([markdown(heads, rows), "\n".join(summaries)])


@table
def loading(runs):
    """How long ranks take to have their rows, against one process with one thread: medians."""
    times = {}
    for run in runs:
        ranks = next((result["ranks"] for result in run.results if "ranks" in result), 1)
        times.setdefault(run.name, {}).setdefault(ranks, []).append(
            run.document["matrix"]["load_seconds"])
    rows = []
    for name, of_ranks in times.items():
        alone = statistics.median(of_ranks[1])
        for ranks, seconds_of_runs in sorted(of_ranks.items()):
            found = statistics.median(seconds_of_runs)
            rows.append([code(name), ranks, len(seconds_of_runs), f"{1e3 * found:.0f}",
                         number(alone / found, 2)])
    return markdown(["=file", "ranks", "runs", "ms", "over one"], rows)


@table
def powers_on_ranks(runs):
    """Powers with one exchange of messages against products of the same ranks."""
    rows = []
    for run in runs:
        products = next(result for result in run.results if result["variant"] == "products")
        for result in run.results:
            rows.append([code(run.name), f"{result['ranks']} × {result['threads']}",
                         result["power"], result["variant"], result["depth"],
                         f"{1e3 * seconds(result):.3f}", number(over(products, result), 2),
                         result["messages"], number(result.get("redundant_rows"))])
    return markdown(["=matrix", "ranks × threads", "p", "=way", "depth", "ms", "over products",
                     "messages", "redundant rows"], rows)


def products_for(result, tolerance):
    """How many products a method had needed when its residual became so small."""
    return next((step["products"] for step in result["history"] if step["residual"] <= tolerance),
                None)


@table
def accuracy(runs):
    """s-step methods against the classical one of the same run, which ends where rounding allows no
    more: products on the way to 1e-8, and the residual that is attained."""
    lines, more, worse = [], {}, {}
    for run in runs:
        by_method = {result["method"]: result for result in run.results}
        if not {"cg", "ca-cg"} <= by_method.keys():
            continue
        classical, steps_of = by_method["cg"], by_method["ca-cg"]
        name, s = run.name, steps_of["parameters"]["powers"]
        needed = [products_for(result, 1e-8) for result in (classical, steps_of)]
        growth = needed[1] / needed[0] if all(needed) else None
        ratio = steps_of["residual"] / classical["residual"]
        more[f"{name}, s = {s}"], worse[f"{name}, s = {s}"] = growth, ratio
        lines.append([code(name), s, *(count or "-" for count in needed),
                      number(growth and 100 * (growth - 1), 1), f"{classical['residual']:.1e}",
                      f"{steps_of['residual']:.1e}", number(ratio, 2),
                      "yes" if steps_of["remark"] else ""])

    def most(of, what):
        known = {name: value for name, value in of.items() if value is not None}
        name = max(known, key=known.get)
        return f"- {what}: at most {known[name]:.2f} times ({code(name)})"

    lines.sort(key=lambda line: (line[0], line[1]))
    heads = ["=matrix", "s", "products of cg", "of ca-cg", "% more", "cg attains", "ca-cg attains",
             "ratio", "=s reduced"]
    return "\n\n".join([markdown(heads, lines), "\n".join([
        most(more, "products of ca-cg over those of cg"),
        most(worse, "residual that ca-cg attains over that of cg")])])


@table
def steps(runs):
    """s-step methods against the classical ones of the same run, per iteration."""
    rows = []
    ratios = {"ca-cg": {}, "ca-gmres": {}}
    for run in runs:
        times = {result["method"]: iteration(result) for result in run.results}
        if not {"cg", "ca-cg", "gmres", "ca-gmres"} <= times.keys():
            continue
        s = next(result["parameters"]["powers"] for result in run.results
                 if result["method"] == "ca-cg")
        variant = next(label(result) for result in run.results if result["method"] == "ca-cg")
        cells = [code(run.name), variant, s]
        for classical, steps_of in (("cg", "ca-cg"), ("gmres", "ca-gmres")):
            ratio = times[classical] / times[steps_of]
            ratios[steps_of][f"{run.name}, s = {s}"] = ratio
            cells += [f"{1e6 * times[classical]:.0f}", f"{1e6 * times[steps_of]:.0f}",
                      number(ratio, 2)]
        rows.append(cells)
    heads = ["=matrix", "=powers", "s", "cg µs", "ca-cg µs", "over cg", "gmres µs", "ca-gmres µs",
             "over gmres"]
    return "\n\n".join([markdown(heads, rows), "\n".join(
        ratio_summary(f"{method} over {method.removeprefix('ca-')}", found)
        for method, found in ratios.items())])


@table
def sums(runs):
    """Sums of powers, as filters and exponentials need them, beside bare powers of the same plan."""
    rows, ratios = [], {}
    for run in runs:
        for result in run.results:
            times = result["seconds"]
            if "bare_product" not in times:
                continue
            what = {"expm": "exponential", "eig": result["method"]}[result["kernel"]]
            ratio = times["product"] / times["bare_product"]
            ratios[f"{run.name}, {what}"] = 1 / ratio
            rows.append([code(run.name), what, label(result), result["degree"],
                         f"{1e6 * times['bare_product']:.1f}", f"{1e6 * times['product']:.1f}",
                         number(100 * (ratio - 1), 1)])
    heads = ["=matrix", "=function", "=powers", "degree", "bare µs", "with sum µs", "% more"]
    return "\n\n".join([markdown(heads, rows), ratio_summary("bare over with sum", ratios)])


@table
def elements(runs):
    """Iterations of conjugate gradients per second over the degree of finite elements."""
    rows = []
    for run in runs:
        of_csr = {result["degree"]: result["iterations_per_second"] for result in run.results
                  if result["matrix"] == "csr"}
        for result in run.results:
            degree, sizes = result["degree"], result["bytes"]
            stored = sizes.get("format", sizes.get("matrix"))  # as it was called once
            rows.append([degree, result["matrix"], result["unknowns"],
                         number(stored / result["unknowns"]),
                         number(result["iterations_per_second"], 1),
                         number(result["iterations_per_second"] / of_csr[degree], 2),
                         number(result["convergence"]["order"], 2)])
    return markdown(["degree", "=matrix", "unknowns", "bytes per unknown", "iterations/s", "over csr",
                     "order of the error"], rows)
