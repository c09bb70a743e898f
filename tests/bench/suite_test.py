"""Scripts over a suite of matrices, run with a command that knows its results beforehand."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"

# Instead of strata: the results of a matrix, from the file beside it.
COMMAND = """#!{python}
import json, pathlib, sys
name = sys.argv[2]
known = json.load(open(pathlib.Path(__file__).parent / "known.json"))
if name not in known:
    sys.exit("strata: " + name + ": no such matrix")
document = {{"strata": "0", "time": "now", "machine": {{}}, "matrix": {{"name": name}},
            "results": known[name]}}
open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(document))
""".format(python=sys.executable)


def result(backend, asked, power, gflops, **others):
    return {"backend": backend, "asked": asked, "power": power, "gflops": gflops, "device": 0,
            "strategy": "spmv" if asked == "spmv" else "wavefront",
            "parameters": {"block": power}, "percent_of_memory_bandwidth": gflops / 10,
            "speedup_over_spmv": gflops / 100, "error": {"passed": True}} | others


def results(plain, powers, vendor):
    """For p = 2 and 3, of which the second is faster."""
    window = {"parameters": {"block": 3, "window": "L2"}}
    return [result("cuda", "spmv", 2, 0.9 * plain), result("cuda", "auto", 2, 0.8 * powers),
            result("vendor", "spmv", 2, 0.9 * vendor), result("cuda", "spmv", 3, plain),
            result("cuda", "auto", 3, powers, **window), result("vendor", "spmv", 3, vendor),
            result("cuda", "auto", 4, 10 * powers, error={"passed": False}),
            {"backend": "vendor", "asked": "spmv", "refused": "why"}]


class Suite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.json"
        self.suite = self.folder / "suite.txt"
        command = self.folder / "strata"
        command.write_text(COMMAND)
        command.chmod(0o755)

    def run_suite(self, text, known, of_class="gpu", kind="mpk"):
        self.suite.write_text(text)
        (self.folder / "known.json").write_text(json.dumps(known))
        return self.run_script("suite.py", kind, self.folder / "strata", self.out, self.suite,
                               of_class, "-p", "2:4")

    def run_script(self, name, *words):
        return subprocess.run([sys.executable, BENCH / name, *words], capture_output=True,
                              text=True)

    def test_the_best_of_all_powers_counts(self):
        ended = self.run_suite("gpu a:1\ncpu b:1\ngpu c:1\n",
                               {"a:1": results(200, 400, 100), "c:1": results(200, 200, 200)})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("powers   400 p=3 wavefront, L2", ended.stdout)
        self.assertIn("plain/vendor: 1.41 (goal: 1.3) in geometric mean of 2", ended.stdout)
        self.assertIn("powers/plain: 1.41 (goal: 1.1)", ended.stdout)
        self.assertIn("powers/vendor: 2.00 (goal: 1.6)", ended.stdout)
        self.assertIn("at least 1.00 (goal: 0.97), `c:1`", ended.stdout)
        self.assertIn("where p is the worst: 1.60, `c:1`", ended.stdout)

    def test_what_is_missed_says_so(self):
        ended = self.run_suite("gpu a:1\n", {"a:1": results(100, 90, 100)})
        self.assertIn("powers/plain: 0.90 (goal: 1.1, MISSED)", ended.stdout)
        self.assertIn("at least 0.90 (goal: 0.97, MISSED), `a:1`", ended.stdout)

    def test_a_matrix_that_fails_leaves_the_others(self):
        ended = self.run_suite("gpu x:1\ngpu a:1\n", {"a:1": results(200, 400, 100)})
        self.assertEqual(ended.returncode, 1)
        self.assertIn("strata: x:1: no such matrix", ended.stdout)
        self.assertIn("1 matrices failed", ended.stderr)
        document = json.loads(self.out.read_text())
        self.assertEqual([run["matrix"]["name"] for run in document["runs"]], ["a:1"])
        self.assertEqual(document["command"],
                         "bench/suite.py mpk STRATA OUT.json SUITE gpu -p 2:4")

    def test_a_class_without_results_fails(self):
        self.assertEqual(self.run_suite("gpu a:1\n", {}, "none").returncode, 1)

    def test_shuffled_versions_are_compared(self):
        known = {"a:1": results(200, 400, 100), "a:1,shuffle=1": results(200, 360, 100),
                 "b:1": results(200, 400, 100), "b:1,shuffle=1": results(200, 300, 100)}
        suite = "gpu a:1\ngpu a:1,shuffle=1\ngpu b:1\n"
        ended = self.run_suite(suite, known)
        self.assertIn("shuffled/unshuffled powers: at least 0.90 (goal: 0.85) of 1, `a:1`",
                      ended.stdout)
        self.out = self.folder / "shuffled.json"
        self.run_suite(suite, known, "gpu,shuffle=1")
        names = [run["matrix"]["name"] for run in json.loads(self.out.read_text())["runs"]]
        self.assertEqual(names, ["a:1,shuffle=1", "b:1,shuffle=1"])
        tables = self.run_script("power_tables.py", self.folder / "out.json", "--shuffled",
                                 self.out)
        self.assertIn("at least 0.75 (goal: 0.85, MISSED) of 2, `b:1`", tables.stdout)
        self.assertIn("| `a:1` | 100 | 200 | 20 | 400 | 3 | wavefront, L2 | 2.00 | 2.00 | 4.00 "
                      "| 0.90 |", tables.stdout)

    def test_goals_stand_beside_the_figures(self):
        ended = self.run_suite("goal a:1 90 190 92 300 350 500\n",
                               {"a:1": results(200, 400, 100)}, "goal")
        self.assertIn("| `a:1` | 100 | 90 | 200 | 190 | 20 | 92 | 400 | 3 | wavefront, L2 | 40 "
                      "| 300 | 350 | 500 |", ended.stdout)

    def test_products_have_a_line_each(self):
        product = {"seconds": {}, "variant": "packed SELL-32", "backend": "cuda", "gflops": 700,
                   "percent_of_memory_bandwidth": 90, "speedup_over_vendor": 1.5}
        ended = self.run_suite("gpu a:1\n", {"a:1": [product]}, kind="spmv")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("x1.50 over the vendor", ended.stdout)


if __name__ == "__main__":
    unittest.main()
