// What encoded values gain on processors: products of packed SELL with every level of StoredValues,
// at every level of instructions, beside those with full values in the same run.
//
//     value_encoding_bench [--json FILE] [--type NAME] [SPEC…]
//
// All types by default: double, float and complex<double>.

#include <fmt/format.h>

#include <complex>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/bench/timing.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/measure/json.hpp"

namespace {

using namespace strata;

// Larger than last-level caches with full values.
const std::vector<std::string> kSpecs{"stencil27:64x128x256",
                                      "stencil7:256x256x128",
                                      "stencil27:64x128x256,coefficients=16",
                                      "stencil27:64x128x256,coefficients=200",
                                      "anderson:200x200x200",
                                      "graphene:2000x2000"};

struct Arguments {
  std::string json;
  std::string type;
  std::vector<std::string> specs;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_next = i + 1 < words.size();
    if (words[i] == "--json" && has_next) {
      arguments.json = words[++i];
    } else if (words[i] == "--type" && has_next) {
      arguments.type = words[++i];
    } else {
      arguments.specs.push_back(words[i]);
    }
  }
  if (arguments.specs.empty()) arguments.specs = kSpecs;
  return arguments;
}

template <Value V>
void measure(const std::string& spec, std::string_view type, Json& results) {
  using Matrix = PackedSell<V, std::int32_t>;
  const auto csr = generate<V, std::int32_t>(spec);
  const std::vector<V> x(static_cast<std::size_t>(csr.cols()), V{1});
  std::vector<V> out(static_cast<std::size_t>(csr.rows()));
  for (const Offset height : {16, 32}) {
    std::vector<Matrix> matrices;
    for (const StoredValues values : kStoredValues) {
      matrices.push_back(
          Matrix::from_csr(csr, {.slice_height = height, .values = AllowedValues::of(values)}));
    }
    for (const cpu::Level level : cpu::available_levels()) {
      const cpu::LevelScope scope(level);
      std::vector<std::function<void()>> runs;
      for (const Matrix& matrix : matrices) {
        runs.push_back([&] {
          run_on_threads(thread_count(), [&](int part, int parts) {
            cpu::step(matrix, {}, {x.data(), nullptr, out.data(), 1},
                      cpu::balanced_rows(matrix, part, parts));
          });
        });
      }
      const std::vector<Timing> timings = time_interleaved(runs, {.min_seconds = 0.5});
      fmt::print("{:<38} {:<15} {:<7} C={:<2}", spec, type, cpu::name_of(level), height);
      Json gflops;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const double flops = (is_complex<V> ? 8.0 : 2.0) * static_cast<double>(csr.nnz());
        const double rate = 1e-9 * flops / timings[i].median;
        gflops[std::string(name_of(kStoredValues[i]))] = rate;
        fmt::print("  {} {:.2f} GF/s ({:.2f})", name_of(kStoredValues[i]), rate,
                   timings[0].median / timings[i].median);
      }
      results.push_back({{"matrix", spec},
                         {"type", type},
                         {"level", cpu::name_of(level)},
                         {"slice_height", height},
                         {"threads", thread_count()},
                         {"gflops", gflops}});
      fmt::print("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse({argv + 1, argv + argc});
    Json results = Json::array();
    const auto measure_type = [&]<Value V>(V, const std::string& spec, std::string_view type) {
      if (arguments.type.empty() || arguments.type == type) measure<V>(spec, type, results);
    };
    for (const std::string& spec : arguments.specs) {
      measure_type(double{}, spec, "double");
      measure_type(float{}, spec, "float");
      measure_type(std::complex<double>{}, spec, "complex<double>");
    }
    if (!arguments.json.empty()) std::ofstream(arguments.json) << text_of(results) << '\n';
  } catch (const std::exception& error) {
    fmt::print(stderr, "value_encoding_bench: {}\n", error.what());
    return 1;
  }
}
