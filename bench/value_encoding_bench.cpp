// What encoded values gain on processors: products of packed SELL with every level of StoredValues,
// at every level of instructions, beside those with full values in the same run.
//
//     value_encoding_bench [SPEC…]

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/bench/timing.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/parts.hpp"

namespace {

using namespace strata;

// Larger than last-level caches with full values.
const std::vector<std::string> kSpecs{"stencil27:64x128x256",
                                      "stencil7:256x256x128",
                                      "stencil27:64x128x256,coefficients=16",
                                      "stencil27:64x128x256,coefficients=200",
                                      "anderson:200x200x200",
                                      "graphene:2000x2000"};

template <Value V>
void measure(const std::string& spec, std::string_view type) {
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
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const double flops = (is_complex<V> ? 8.0 : 2.0) * static_cast<double>(csr.nnz());
        fmt::print("  {} {:.2f} GF/s ({:.2f})", name_of(kStoredValues[i]),
                   1e-9 * flops / timings[i].median, timings[0].median / timings[i].median);
      }
      fmt::print("\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> given(argv + 1, argv + argc);
    for (const std::string& spec : given.empty() ? kSpecs : given) {
      measure<double>(spec, "double");
      measure<float>(spec, "float");
      measure<std::complex<double>>(spec, "complex<double>");
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "value_encoding_bench: {}\n", error.what());
    return 1;
  }
}
