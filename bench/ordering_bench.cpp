// How long generating and ordering take, and what the order is worth: find_levels, reverse
// Cuthill–McKee and applying a permutation, on the generators given as arguments. Levels are also
// given in products, which are those of CSR in the order of the generator. An order is judged by
// packed SELL with slices of 32 rows: its bytes per entry, the share of slices without indices
// (`dia`), and how many sectors of x, 32 bytes each, a slice reads.
//
//     ordering_bench [--json FILE] SPEC…

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/cpu/team_product.hpp"
#include "strata/order/levels.hpp"
#include "strata/order/rcm.hpp"
#include "strata/order/spreading.hpp"

namespace {

using namespace strata;
using Matrix = Csr<double, std::int32_t>;

constexpr Offset kSlice = 32;

struct Structure {
  double bytes_per_entry = 0;
  double dia_share = 0;
  double sectors = 0;  // per slice
};

struct Timing {
  std::string spec;
  Offset rows = 0;
  Offset nnz = 0;
  Offset levels = 0;
  Offset max_rows = 0;
  double generate_seconds = 0;
  double product_seconds = 0;
  double spreading_seconds = 0;  // of seeing whether levels are worth searching for
  bool spreads_fast = false;
  double levels_seconds = 0;
  double rcm_seconds = 0;
  double permute_seconds = 0;
  Structure given = {};
  Structure by_levels = {};
};

template <class Action>
auto timed(double& seconds, Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  auto result = action();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// The shortest of a few.
double product_seconds(const Matrix& matrix) {
  constexpr int kProducts = 7;
  const cpu::TeamProduct product(matrix);
  const std::vector<double> x(matrix.cols(), 1.0);
  std::vector<double> y(matrix.rows());
  std::vector<double> scratch(product.scratch_elements(1));
  double shortest = 0;
  for (int i = 0; i < kProducts; ++i) {
    double seconds = 0;
    timed(seconds, [&] {
      product.run({}, {x.data(), nullptr, y.data(), 1}, scratch);
      return 0;
    });
    shortest = i == 0 ? seconds : std::min(shortest, seconds);
  }
  return shortest;
}

// Of every tenth slice.
double sectors_per_slice(const PatternView<std::int32_t>& pattern) {
  constexpr Offset kStride = 10;
  constexpr std::int32_t kPerSector = 32 / sizeof(double);
  Offset sectors = 0;
  Offset slices = 0;
  std::vector<std::int32_t> of_slice;
  for (Offset begin = 0; begin < pattern.rows; begin += kSlice * kStride) {
    of_slice.clear();
    for (Offset row = begin; row < std::min<Offset>(begin + kSlice, pattern.rows); ++row) {
      for (const std::int32_t column : pattern.columns_of(static_cast<std::int32_t>(row))) {
        of_slice.push_back(column / kPerSector);
      }
    }
    std::ranges::sort(of_slice);
    sectors += std::unique(of_slice.begin(), of_slice.end()) - of_slice.begin();
    ++slices;
  }
  return static_cast<double>(sectors) / static_cast<double>(std::max<Offset>(slices, 1));
}

Structure structure_of(const Matrix& matrix) {
  const auto forecast = PackedSell<double, std::int32_t>::forecast(
      matrix, {.slice_height = kSlice, .stored_values = static_cast<Offset>(StoredValues::full)});
  Offset slices = 0;
  for (const std::int32_t count : forecast.encoding_counts) slices += count;
  const auto dia = forecast.encoding_counts[static_cast<std::size_t>(SliceEncoding::dia)];
  const auto share = [](Offset part, Offset whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<Offset>(whole, 1));
  };
  return {share(forecast.footprint.bytes(), matrix.nnz()), share(dia, slices),
          sectors_per_slice(matrix.pattern())};
}

Timing measure(const std::string& spec) {
  Timing timing{.spec = spec};
  const auto matrix =
      timed(timing.generate_seconds, [&] { return generate<double, std::int32_t>(spec); });
  timing.rows = matrix.rows();
  timing.nnz = matrix.nnz();
  timing.product_seconds = product_seconds(matrix);
  timing.spreads_fast =
      timed(timing.spreading_seconds, [&] { return spreads_fast(matrix.pattern()); });
  const auto structure =
      timed(timing.levels_seconds, [&] { return find_levels(matrix.pattern()); });
  timing.levels = structure.levels();
  timing.max_rows = structure.max_rows();
  timed(timing.rcm_seconds, [&] { return reverse_cuthill_mckee(matrix.pattern()); });
  const auto by_levels =
      timed(timing.permute_seconds, [&] { return reordered(matrix, structure.order); });
  timing.given = structure_of(matrix);
  timing.by_levels = structure_of(by_levels);
  return timing;
}

std::string json_of(const Structure& structure) {
  return fmt::format("{{\"bytes_per_entry\": {:.3f}, \"dia_share\": {:.3f}, \"sectors\": {:.1f}}}",
                     structure.bytes_per_entry, structure.dia_share, structure.sectors);
}

std::string json_of(const std::vector<Timing>& timings) {
  std::string text = fmt::format("{{\"threads\": {}, \"orderings\": [", thread_count());
  for (const Timing& t : timings) {
    text += fmt::format(
        "{}\n  {{\"matrix\": \"{}\", \"rows\": {}, \"nnz\": {}, \"levels\": {}, \"max_rows\": {}, "
        "\"generate_seconds\": {:.3f}, \"levels_seconds\": {:.3f}, \"rcm_seconds\": {:.3f}, "
        "\"permute_seconds\": {:.3f}, \"product_seconds\": {:.6f}, \"levels_products\": {:.1f}, "
        "\"spreads_fast\": {}, \"spreading_products\": {:.2f}, \"given\": {}, \"by_levels\": {}}}",
        &t == timings.data() ? "" : ",", t.spec, t.rows, t.nnz, t.levels, t.max_rows,
        t.generate_seconds, t.levels_seconds, t.rcm_seconds, t.permute_seconds, t.product_seconds,
        t.levels_seconds / t.product_seconds, t.spreads_fast,
        t.spreading_seconds / t.product_seconds, json_of(t.given), json_of(t.by_levels));
  }
  return text + "]}\n";
}

void run(int argc, char** argv) {
  std::string json;
  std::vector<Timing> timings;
  fmt::print("{:<44} {:>11} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {:<23} {}\n", "matrix",
             "nnz", "levels", "max rows", "generate", "levels s", "RCM s", "permute s", "products",
             "spreads", "given: B, dia, sectors", "by levels");
  const auto text_of = [](const Structure& structure) {
    return fmt::format("{:6.2f} {:6.3f} {:8.1f}", structure.bytes_per_entry, structure.dia_share,
                       structure.sectors);
  };
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
      continue;
    }
    const Timing t = timings.emplace_back(measure(argv[i]));
    fmt::print(
        "{:<44} {:>11} {:>7} {:>9} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.1f} {:>9}  {:<23} {}\n",
        t.spec, t.nnz, t.levels, t.max_rows, t.generate_seconds, t.levels_seconds, t.rcm_seconds,
        t.permute_seconds, t.levels_seconds / t.product_seconds,
        fmt::format("{} {:.2f}", t.spreads_fast ? "fast" : "slowly",
                    t.spreading_seconds / t.product_seconds),
        text_of(t.given), text_of(t.by_levels));
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
