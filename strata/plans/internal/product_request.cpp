#include "strata/plans/internal/product_request.hpp"

#include <fmt/format.h>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/plans/plan_formats.hpp"

namespace strata::detail {

namespace {

template <Value V, Index I>
ProductRequest request_of(const Csr<V, I>& matrix, const ProductOptions& options, Target target) {
  ProductRequest request{.searches = true, .memory = options.memory};
  if (options.product) {
    request.only = {*options.product};
  } else if (options.format != Format::automatic && !plans_run_in(options.format, target)) {
    if (has_kernel(options.format, target)) {
      request.only = parse_product_list(name_of(options.format), statistics_of(matrix), target);
    }
    if (request.only.empty()) {
      throw Unavailable(fmt::format("{} have no product in the format {}",
                                    target == Target::gpu ? "GPUs" : "processors",
                                    name_of(options.format)));
    }
  }
  return request;
}

}  // namespace

template <Value V, Index I>
AskedProduct asked_product(const Csr<V, I>& matrix, const ProductOptions& options, Target target) {
  require_product_options(options);
  AskedProduct asked{request_of(matrix, options, target), as_power_options(options)};
  if (!asked.request.only.empty()) asked.options.format = Format::automatic;
  require_options<V>(matrix.rows(), asked.options, target);
  return asked;
}

#define STRATA_INSTANTIATE(V, I) \
  template AskedProduct asked_product(const Csr<V, I>&, const ProductOptions&, Target)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
