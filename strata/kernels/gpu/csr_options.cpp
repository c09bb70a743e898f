#include "strata/kernels/gpu/csr_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"

namespace strata::gpu {

std::string_view name_of(CsrKernel kernel) {
  switch (kernel) {
    case CsrKernel::automatic: return "csr";
    case CsrKernel::scalar: return "csr-scalar";
    case CsrKernel::classical: return "csr-classical";
    case CsrKernel::balanced: return "csr-balanced";
    case CsrKernel::stream: return "csr-stream";
    case CsrKernel::reguly: return "csr-reguly";
  }
  return {};
}

std::optional<CsrKernel> csr_kernel_named(std::string_view name) {
  if (name == name_of(CsrKernel::automatic)) return CsrKernel::automatic;
  for (const CsrKernel kernel : kCsrKernels) {
    if (name == name_of(kernel)) return kernel;
  }
  return std::nullopt;
}

namespace {

// Why there is no kernel for the parameters; empty if there is one.
std::string why_invalid(const RegulyParameters& parameters, const RegulyTarget& target) {
  const auto [coop, repeat, block_size] = parameters;
  if (coop < 1 || coop > kMostCoop || !std::has_single_bit(static_cast<unsigned>(coop))) {
    return fmt::format("coop = {}: a power of two up to {} is needed", coop, kMostCoop);
  }
  if (repeat < 1) return fmt::format("repeat = {}: at least 1 is needed", repeat);
  const int most = most_reguly_threads(coop, target.value_bytes);
  if (block_size < target.warp || block_size > most || block_size % target.warp != 0) {
    return fmt::format(
        "blocks of {} threads with coop = {}: a multiple of the warp's {}, up to {}, is needed",
        block_size, coop, target.warp, most);
  }
  return {};
}

}  // namespace

void require_valid(const RegulyParameters& parameters, const RegulyTarget& target) {
  const std::string wrong = why_invalid(parameters, target);
  if (!wrong.empty()) throw InvalidArgument(wrong);
}

bool is_valid(const RegulyParameters& parameters, const RegulyTarget& target) {
  return why_invalid(parameters, target).empty();
}

std::string label_of(const RegulyParameters& reguly) {
  return fmt::format("CSR of Reguly, coop {}, repeat {}, blocks of {}", reguly.coop, reguly.repeat,
                     reguly.block_size);
}

Offset reguly_blocks(Offset rows, const RegulyParameters& parameters) {
  const Offset of_block = Offset{parameters.repeat} * (parameters.block_size / parameters.coop);
  return ceil_div(rows, of_block);
}

RegulyParameters reguly_rule(Offset rows, Offset nnz, int warp) {
  constexpr Offset kLeastBlocks = 1500;
  RegulyParameters parameters{.coop = 1, .repeat = 1, .block_size = std::max(128, warp)};
  const double mean = static_cast<double>(nnz) / static_cast<double>(std::max<Offset>(1, rows));
  while (parameters.coop < kMostCoop && parameters.coop <= std::sqrt(mean)) parameters.coop *= 2;
  const Offset at_once = parameters.block_size / parameters.coop;
  const Offset repeat = rows / (at_once * kLeastBlocks);
  parameters.repeat =
      static_cast<int>(std::clamp<Offset>(repeat, 1, std::numeric_limits<int>::max()));
  return parameters;
}

std::vector<RegulyParameters> RegulySweep::list(const RegulyTarget& target) const {
  std::vector<RegulyParameters> all;
  for (const int threads : block_size) {
    for (const int c : coop) {
      for (const int r : repeat) {
        const RegulyParameters some{.coop = c, .repeat = r, .block_size = threads};
        if (is_valid(some, target)) all.push_back(some);
      }
    }
  }
  return all;
}

CsrRows csr_rows(std::span<const Offset> row_offsets) {
  const Offset rows = std::ssize(row_offsets) - 1;
  const Offset longest = parallel_reduce(
      rows, Offset{0},
      [&](Offset begin, Offset end) {
        Offset most = 0;
        for (Offset row = begin; row < end; ++row) {
          most = std::max(most, row_offsets[row + 1] - row_offsets[row]);
        }
        return most;
      },
      [](Offset a, Offset b) { return std::max(a, b); });
  return {rows, row_offsets.back(), longest};
}

CsrKernel automatic_choice(const CsrRows& rows) {
  constexpr Offset kManyEntries = 10'000'000;
  const Offset mean = rows.nnz / std::max<Offset>(1, rows.rows);
  const bool uneven = rows.longest > 64 + 4 * mean;
  return uneven && rows.nnz >= kManyEntries ? CsrKernel::balanced : CsrKernel::stream;
}

CsrKernel ginkgo_choice(const CsrRows& rows, GpuVendor vendor) {
  const bool nvidia = vendor == GpuVendor::nvidia;
  const Offset nnz_limit = nvidia ? 1'000'000 : 100'000'000;
  const Offset row_limit = nvidia ? 1024 : 768;
  return rows.nnz > nnz_limit || rows.longest > row_limit ? CsrKernel::balanced
                                                          : CsrKernel::classical;
}

}  // namespace strata::gpu
