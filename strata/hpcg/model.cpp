#include "strata/hpcg/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/model/balance.hpp"

namespace strata::hpcg {

namespace {

constexpr double kValue = sizeof(double);
// A colour reads x of all that are before it, or behind it: of 0 … 7 colours an eighth each.
constexpr double kColourLoads = (kColours - 1) / 2.0;

// A pass over L or U: the matrix, x of other colours, one vector in and one out; a vector that is
// only written is read before.
double pass(Offset matrix_bytes, double rows, bool allocates) {
  return static_cast<double>(matrix_bytes) + kValue * rows * (kColourLoads + 2 + allocates);
}

}  // namespace

std::vector<Part> parts_of(const ProductCost& product, const Multigrid& multigrid) {
  std::vector<Part> parts;
  const auto n = static_cast<double>(product.rows);
  const VectorTraffic vectors{.rows = product.rows, .cols = product.rows};
  parts.push_back({.name = "product",
                   .bytes = static_cast<double>(product.matrix_bytes) + vectors.bytes(),
                   .flops = 2.0 * static_cast<double>(product.entries),
                   .launches = 1,
                   .regions = 1});
  // (p, q); r with (r, r); (r, z); x and p: strata/solvers/cg.hpp.
  parts.push_back({.name = "vectors",
                   .bytes = kValue * n * (2 + 3 + 2 + 5),
                   .flops = 12 * n,
                   .launches = 4,
                   .regions = 4});
  for (int level = 0; level < multigrid.levels(); ++level) {
    const ColouredSmoother& smoother = multigrid.smoother(level);
    const auto rows = static_cast<double>(smoother.rows());
    const auto entries = static_cast<double>(smoother.entries());
    // Colours are about equally large: their passes start threads, or none does.
    const bool on_threads = smoother.uses_threads(kCoarseColour);
    const bool coarsest = level + 1 == multigrid.levels();
    const Offset lower = smoother.lower_bytes();
    const Offset upper = smoother.upper_bytes();
    Part smoothing{.name = fmt::format("smoothing, level {}", level),
                   .bytes = pass(lower, rows, true) + pass(upper, rows, false),
                   .flops = 2 * entries,
                   .launches = 2 * kColours - 1};
    if (!coarsest) {
      smoothing.bytes += pass(lower, rows, true) + 2 * pass(upper, rows, false);
      smoothing.flops += 3 * entries;
      smoothing.launches += 3 * kColours - 1;
    }
    smoothing.regions = on_threads ? smoothing.launches : 0;
    parts.push_back(std::move(smoothing));
    Part transfer{.name = fmt::format("transfer, level {}", level)};
    if (level == 0) {  // r and D in, b out; x in, z out: with where rows are
      transfer.bytes += rows * (3 * kValue + sizeof(Row)) + rows * (3 * kValue + sizeof(Row));
      transfer.flops += rows;
      transfer.launches += 2;
    }
    if (!coarsest) {
      const double share = rows / kColours;
      transfer.bytes += static_cast<double>(smoother.lower_bytes(kCoarseColour)) +
                        kValue * share * (kColours - 1 + 5) + share * (4 * kValue + sizeof(Row)) +
                        share * (3 * kValue + sizeof(Row));
      transfer.flops += 2 * entries / kColours + 4 * share;
      transfer.launches += 5;
    }
    transfer.regions = on_threads ? transfer.launches : 0;
    if (transfer.bytes > 0) parts.push_back(std::move(transfer));
  }
  return parts;
}

void predict(std::vector<Part>& parts, const MachineProfile& profile, int threads) {
  double bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  const double bandwidth = profile.read_bandwidth(threads, static_cast<Offset>(bytes));
  const double peak = profile.peak_flops(threads);
  for (Part& part : parts) {
    const double by_flops = peak > 0 ? part.flops / peak : 0;
    part.predicted_seconds = std::max(part.bytes / bandwidth, by_flops) +
                             (threads > 1 ? part.regions * profile.fork_join_seconds : 0);
  }
}

}  // namespace strata::hpcg
