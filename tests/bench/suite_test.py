"""Scripts over a suite of matrices, run with a command that knows its results beforehand."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

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


def product(form, seconds, variant=None, peer=None, **others):
    return {"backend": "vendor" if peer else "cpu", "format": form, "gflops": 1 / seconds,
            "variant": peer or variant or form.upper(), "seconds": {"median": seconds},
            "percent_of_memory_bandwidth": 50, "error": {"passed": True}} | others


class BenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out.json"
        self.suite = self.folder / "suite.txt"
        command = self.folder / "strata"
        command.write_text(COMMAND)
        command.chmod(0o755)

    def run_script(self, name, *words):
        return subprocess.run([sys.executable, BENCH / name, *words], capture_output=True,
                              text=True)


class Suite(BenchTest):
    def run_suite(self, text, known, of_class="gpu", kind="mpk"):
        self.suite.write_text(text)
        (self.folder / "known.json").write_text(json.dumps(known))
        return self.run_script("suite.py", kind, self.folder / "strata", self.out, self.suite,
                               of_class, "-p", "2:4")

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
                         "bench/suite.py mpk STRATA OUT.json suite.txt gpu -p 2:4")

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
        product = {"seconds": {"median": 1}, "variant": "packed SELL-32", "backend": "cuda",
                   "gflops": 700, "percent_of_memory_bandwidth": 90, "speedup_over_vendor": 1.5}
        ended = self.run_suite("gpu a:1\n", {"a:1": [product]}, kind="spmv")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("x1.50 over the vendor", ended.stdout)
        self.assertNotIn("geometric mean", ended.stdout)

    def test_several_suites_and_folders_make_one_document(self):
        matrices = self.folder / "matrices"
        matrices.mkdir()
        for name in ("b.mtx", "a.mtx.gz", "notes.txt"):
            (matrices / name).touch()
        self.suite.write_text("cpu c:1\ngpu d:1\n")
        own, peer = product("csr", 1), product("csr", 2, peer="Eigen 3.4.0")
        known = {name: [own, peer]
                 for name in ("c:1", str(matrices / "a.mtx.gz"), str(matrices / "b.mtx"))}
        (self.folder / "known.json").write_text(json.dumps(known))
        ended = self.run_script("suite.py", "spmv", self.folder / "strata", self.out,
                                f"{self.suite}:{matrices}", "cpu")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        document = json.loads(self.out.read_text())
        self.assertEqual([run["matrix"]["name"] for run in document["runs"]],
                         ["c:1", "@/a.mtx.gz", "@/b.mtx"])
        self.assertEqual(document["command"],
                         "bench/suite.py spmv STRATA OUT.json suite.txt:matrices cpu")
        self.assertIn("2.00 times the fastest peer in geometric mean of 3 matrices", ended.stdout)


class Products(BenchTest):
    """Tables and profiles of two matrices, in two documents of different kinds."""

    def setUp(self):
        super().setUp()
        first = [product("csr", 2), product("sell", 1, "SELL-8"), product("sell", 3, "SELL-32"),
                 product("csr", 4, peer="Eigen 3.4.0"),
                 product("csr", 3, peer="PETSc 3.18.5 AIJ, 1 thread"),
                 product("ell", 0.1, error={"passed": False}), product("csr", 0.1, device=0)]
        second = [product("csr", 3), product("csr", 2, "plan: CSR"),
                  product("csr", 1, peer="Eigen 3.4.0"),
                  {"backend": "cpu", "format": "sell", "variant": "SELL-8", "refused": "why"}]
        self.single = self.folder / "one.json"
        self.single.write_text(json.dumps({"matrix": {"name": "a:1"}, "results": first}))
        self.collected = self.folder / "many.json"
        self.collected.write_text(json.dumps(
            {"runs": [{"matrix": {"name": "b:1"}, "results": second}]}))
        self.picture = self.folder / "profile.svg"

    def profile(self, *words):
        ended = self.run_script("performance_profile.py", self.picture, self.single,
                                self.collected, *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def curves(self):
        """The path of each curve by its name."""
        svg = "{http://www.w3.org/2000/svg}"
        paths = xml.etree.ElementTree.parse(self.picture).iter(svg + "path")
        return {path.find(svg + "title").text: path.get("d") for path in paths
                if path.find(svg + "title") is not None}

    def test_the_fastest_are_compared_for_each_matrix(self):
        table = self.run_script("product_tables.py", self.single, self.collected).stdout
        self.assertIn("| `a:1` | SELL-8 | 1.00 | PETSc AIJ, 1 thread | 0.33 | 3.00 |", table)
        self.assertIn("| `b:1` | plan: CSR | 0.50 | Eigen | 1.00 | 0.50 |", table)
        self.assertIn("1.22 times the fastest peer in geometric mean of 2 matrices, at least 0.50 "
                      "(`b:1`); below 1: `b:1` 0.50.", table)

    def test_shortened_files_give_the_same_tables(self):
        result = product("csr", 2, histogram=[1] * 1000)
        matrix = {"name": "c:1", "rows": 1, "cols": 1, "nnz": 1, "symmetry": "general"}
        wrong = product("ell", 1, error={"passed": False, "row": 3})
        self.single.write_text(json.dumps({"strata": "0", "matrix": matrix,
                                           "results": [result, wrong]}))
        full = self.run_script("product_tables.py", self.single)
        short = self.run_script("product_tables.py", self.single, "--shorten")
        self.assertEqual((short.returncode, short.stdout), (0, full.stdout), short.stderr)
        self.assertIn("| `c:1` | CSR | 0.50 | - | - | - |", short.stdout)
        self.assertLess(len(self.single.read_text()), 600)
        self.assertEqual(self.run_script("product_tables.py", self.single).stdout, full.stdout)

    def test_shares_are_those_of_all_matrices(self):
        table = self.profile()
        self.assertIn("| csr | 0 % | 0 % | 0 % | 0 % | 50 % | 100 % | 2 | 2.45 |", table)
        self.assertIn("| sell | 50 % | 50 % | 50 % | 50 % | 50 % | 50 % | 1 | 1.00 |", table)
        self.assertIn("| Eigen | 50 % | 50 % | 50 % | 50 % | 50 % | 100 % | 2 | 2.00 |", table)
        self.assertIn("| PETSc AIJ | 0 % | 0 % | 0 % | 0 % | 0 % | 50 % | 1 | 3.00 |", table)
        self.assertIn("| plan | 0 % | 0 % | 0 % | 0 % | 50 % | 50 % | 1 | 2.00 |", table)
        self.assertNotIn("ell |", table.replace("sell |", ""))

    def test_products_and_libraries_have_profiles_too(self):
        self.assertIn("| SELL-32 | 0 % | 0 % | 0 % | 0 % | 0 % | 50 % | 1 | 3.00 |",
                      self.profile("--by", "product"))
        self.assertIn("| Strata | 50 % | 50 % | 50 % | 50 % | 100 % | 100 % | 2 | 1.41 |",
                      self.profile("--by", "library"))

    def test_curves_rise_at_their_ratios(self):
        self.profile("--to", "4")
        curves = self.curves()
        # From 1 at 64 to 4 at 630, from nothing at 404 to all at 44.
        self.assertEqual(curves["sell"], "M64.0,404.0H64.0V224.0H630.0")
        self.assertEqual(curves["csr"], "M64.0,404.0H347.0V224.0H512.5V44.0H630.0")

    def test_curves_end_at_the_largest_factor(self):
        self.profile("--to", "2")
        self.assertEqual(self.curves()["Eigen"], "M64.0,404.0H64.0V224.0H630.0")

    def test_results_of_gpus_stand_alone(self):
        self.assertIn("| csr | 100 % |", self.profile("--on", "gpu"))
        vendor = [product("csr", 4, peer=f"cuSPARSE 12.6.3 CSR {name}", device=0)
                  for name in ("default", "alg1")]
        vendor += [product("bcsr", size, peer=f"cuSPARSE 12.6.3 BSR {size}×{size}", device=0)
                   for size in (2, 3)]
        self.single.write_text(json.dumps({"matrix": {"name": "a:1"}, "results": vendor}))
        table = self.profile("--on", "gpu")
        self.assertIn("| cuSPARSE BSR | 100 % |", table)
        self.assertIn("| cuSPARSE CSR | 0 % | 0 % | 0 % | 0 % | 100 % |", table)
        ended = self.run_script("performance_profile.py", self.picture, self.collected, "--on",
                                "gpu")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no results on the gpu", ended.stderr)


if __name__ == "__main__":
    unittest.main()
