#include "strata/plans/internal/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/plans/internal/power_choice.hpp"
#include "strata/plans/plan_formats.hpp"

namespace strata::detail {

namespace {

// "csr, sell, packed-sell and, on GPUs, ell"
std::string formats_of_plans() {
  std::vector<std::string_view> everywhere;
  std::vector<std::string_view> on_gpus;
  for (const Format format : kFormats) {
    if (plans_run_in(format, Target::processor)) {
      everywhere.push_back(name_of(format));
    } else if (plans_run_in(format, Target::gpu)) {
      on_gpus.push_back(name_of(format));
    }
  }
  return fmt::format("{} and, on GPUs, {}", fmt::join(everywhere, ", "), fmt::join(on_gpus, ", "));
}

void require_format(Format format, Target target) {
  if (format == Format::automatic || plans_run_in(format, target)) return;
  if (plans_run_in(format, Target::processor) || plans_run_in(format, Target::gpu)) {
    throw Unavailable(fmt::format("products and powers in the format {} are not available on {}",
                                  name_of(format), target == Target::gpu ? "GPUs" : "processors"));
  }
  throw InvalidArgument(fmt::format("plans do not run in the format {}; they do in {}",
                                    name_of(format), formats_of_plans()));
}

void require_values(const PowerOptions& options) {
  const bool encoded = options.values && *options.values != StoredValues::full;
  if (!encoded || options.format == Format::automatic || options.format == Format::packed_sell) {
    return;
  }
  throw InvalidArgument(fmt::format("values are encoded in the format {}, not in {}",
                                    name_of(Format::packed_sell), name_of(options.format)));
}

// That p can be chosen, if it is to be.
void require_products(const PowerOptions& options) {
  if (options.products == 0) return;
  if (options.products < 0) {
    throw InvalidArgument(fmt::format("{} products are not positive", options.products));
  }
  if (options.block > 0) {
    throw InvalidArgument("a plan chooses the powers per sweep for a number of products: no block");
  }
}

}  // namespace

template <Value V>
void require_options(Offset rows, const PowerOptions& options, Target target) {
  require_products(options);
  if (options.power < 1 && options.products == 0) {
    throw InvalidArgument(fmt::format("power {} is not positive", options.power));
  }
  if (options.vectors < 1 || options.vectors > cpu::kMaxVectors) {
    throw InvalidArgument(fmt::format("a plan is for 1 to {} vectors at a time, not {}",
                                      cpu::kMaxVectors, options.vectors));
  }
  if (options.threads < 0 || options.block < 0 || options.cache_bytes < 0 ||
      options.slice_height < 0) {
    throw InvalidArgument("threads, block, cache and slice height cannot be negative");
  }
  if (!(options.cache_share >= 0 && options.cache_share <= 16)) {
    throw InvalidArgument(
        fmt::format("windows cannot fill {} times the cache", options.cache_share));
  }
  if (options.threads > kMaxThreads) {
    throw InvalidArgument(
        fmt::format("a plan is for {} threads at most, not {}", kMaxThreads, options.threads));
  }
  checked_multiply<Offset>(
      checked_multiply<Offset>(rows, options.vectors, "the elements of vectors"),
      checked_add<Offset>(most_powers(options), 1, "the number of vectors") * Offset{sizeof(V)},
      "the bytes of all powers");
  if (options.strategy == PowerStrategy::graph && target == Target::processor) {
    throw Unavailable("the strategy graph is not available on processors");
  }
  require_format(options.format, target);
  require_values(options);
  options.basis.template require_steps<V>(most_powers(options));
}

void require_powers(Offset rows, Offset cols) {
  if (rows == cols) return;
  throw InvalidArgument(fmt::format("a {} x {} matrix has no powers", rows, cols));
}

void require_product_options(const ProductOptions& options) {
  if (!options.product) return;
  if (options.format != Format::automatic || options.slice_height != 0 || options.values) {
    throw InvalidArgument("a plan is for a product or for a format, not for both");
  }
}

PowerOptions as_power_options(const ProductOptions& options) {
  PowerOptions power;
  power.power = 1;
  power.vectors = options.vectors;
  power.vector_order = options.vector_order;
  power.format = options.format;
  power.slice_height = options.slice_height;
  power.values = options.values;
  power.autotune = options.autotune;
  power.threads = options.threads;
  power.affinity = options.affinity;
  power.profile = options.profile;
  power.gpu_profile = options.gpu_profile;
  return power;
}

void require_elements(std::string_view what, Offset elements, Offset rows, int vectors) {
  const Offset expected = checked_multiply<Offset>(rows, vectors, "the elements of vectors");
  if (elements == expected) return;
  throw InvalidArgument(fmt::format("{} has {} elements; {} rows and {} vectors make {}", what,
                                    elements, rows, vectors, expected));
}

void require_apart(const void* x, Offset x_bytes, const void* out, Offset out_bytes) {
  const auto x_begin = reinterpret_cast<std::uintptr_t>(x);
  const auto out_begin = reinterpret_cast<std::uintptr_t>(out);
  const bool apart = x_bytes == 0 || out_bytes == 0 ||
                     x_begin + static_cast<std::uintptr_t>(x_bytes) <= out_begin ||
                     out_begin + static_cast<std::uintptr_t>(out_bytes) <= x_begin;
  if (!apart) throw InvalidArgument("x overlaps the vectors that results are written to");
}

void require_workspace(const Identity* made_for, Identity plan, Offset vectors, Offset needed) {
  if (made_for == nullptr) {
    throw InvalidArgument("the workspace is empty: it was moved from or no plan made it");
  }
  if (*made_for != plan) throw InvalidArgument("the workspace was made for another plan");
  if (vectors < needed) {
    throw InvalidArgument("the workspace was made for another function of the plan");
  }
}

void throw_empty_plan() {
  throw InvalidArgument("the plan is empty: it was moved from or never made");
}

#define STRATA_INSTANTIATE(V, unused) \
  template void require_options<V>(Offset, const PowerOptions&, Target)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::detail
