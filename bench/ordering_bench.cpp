// How long generating and ordering take: find_levels, reverse Cuthill–McKee, and applying a
// permutation, on the generators given as arguments.
//
//     ordering_bench [--json FILE] SPEC…

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "strata/order/levels.hpp"
#include "strata/order/rcm.hpp"

namespace {

using namespace strata;

struct Timing {
  std::string spec;
  Offset rows = 0;
  Offset nnz = 0;
  Offset levels = 0;
  Offset max_rows = 0;
  double generate_seconds = 0;
  double levels_seconds = 0;
  double rcm_seconds = 0;
  double permute_seconds = 0;
};

template <class Action>
auto timed(double& seconds, Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  auto result = action();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Timing measure(const std::string& spec) {
  Timing timing{.spec = spec};
  const auto matrix =
      timed(timing.generate_seconds, [&] { return generate<double, std::int32_t>(spec); });
  timing.rows = matrix.rows();
  timing.nnz = matrix.nnz();
  const auto structure =
      timed(timing.levels_seconds, [&] { return find_levels(matrix.pattern()); });
  timing.levels = structure.levels();
  timing.max_rows = structure.max_rows();
  timed(timing.rcm_seconds, [&] { return reverse_cuthill_mckee(matrix.pattern()); });
  timed(timing.permute_seconds, [&] { return reordered(matrix, structure.order); });
  return timing;
}

std::string json_of(const std::vector<Timing>& timings) {
  std::string text = fmt::format("{{\"threads\": {}, \"orderings\": [", thread_count());
  for (const Timing& t : timings) {
    text += fmt::format(
        "{}\n  {{\"matrix\": \"{}\", \"rows\": {}, \"nnz\": {}, \"levels\": {}, \"max_rows\": {}, "
        "\"generate_seconds\": {:.3f}, \"levels_seconds\": {:.3f}, \"rcm_seconds\": {:.3f}, "
        "\"permute_seconds\": {:.3f}}}",
        &t == timings.data() ? "" : ",", t.spec, t.rows, t.nnz, t.levels, t.max_rows,
        t.generate_seconds, t.levels_seconds, t.rcm_seconds, t.permute_seconds);
  }
  return text + "]}\n";
}

void run(int argc, char** argv) {
  std::string json;
  std::vector<Timing> timings;
  fmt::print("{:<44} {:>11} {:>11} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "matrix", "rows", "nnz",
             "levels", "max rows", "generate", "levels s", "RCM s", "permute s");
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
      continue;
    }
    const Timing t = timings.emplace_back(measure(argv[i]));
    fmt::print("{:<44} {:>11} {:>11} {:>7} {:>9} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", t.spec,
               t.rows, t.nnz, t.levels, t.max_rows, t.generate_seconds, t.levels_seconds,
               t.rcm_seconds, t.permute_seconds);
    std::fflush(stdout);
  }
  if (!json.empty()) std::ofstream(json) << json_of(timings);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ordering_bench: {}\n", error.what());
    return 1;
  }
}
