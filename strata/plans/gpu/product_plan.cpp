#include "strata/plans/gpu/product_plan.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/gpu/internal/strided.hpp"
#include "strata/plans/gpu/internal/workspace.hpp"
#include "strata/plans/internal/checks.hpp"
#include "strata/plans/internal/product_request.hpp"

namespace strata::gpu {

template <Value V>
ProductPlan<V>::ProductPlan() = default;
template <Value V>
ProductPlan<V>::~ProductPlan() = default;
template <Value V>
ProductPlan<V>::ProductPlan(ProductPlan&&) noexcept = default;
template <Value V>
ProductPlan<V>& ProductPlan<V>::operator=(ProductPlan&&) noexcept = default;

template <Value V>
const detail::Prepared<V>& ProductPlan<V>::prepared() const {
  return strata::detail::require_prepared(prepared_.get());
}

template <Value V>
std::int32_t ProductPlan<V>::rows() const {
  return prepared().transposed ? prepared().cols : order().rows();
}
template <Value V>
std::int32_t ProductPlan<V>::cols() const {
  return prepared().transposed ? order().rows() : prepared().cols;
}
template <Value V>
int ProductPlan<V>::vectors() const {
  return prepared().options.vectors;
}
template <Value V>
std::int32_t ProductPlan<V>::x_rows() const {
  return order().is_identity() ? prepared().cols : y_rows();
}
template <Value V>
std::int32_t ProductPlan<V>::y_rows() const {
  return prepared().options.vector_order == VectorOrder::plan ? order().padded_rows()
                                                              : order().rows();
}

template <Value V>
PlanWorkspace<V> ProductPlan<V>::make_workspace(Stream& stream) const {
  return detail::WorkspaceState<V>::make(prepared(), prepared().direct() ? 0 : 2, stream);
}

template <Value V>
void ProductPlan<V>::apply(DeviceSpan<const V> x, DeviceSpan<V> y, Workspace& workspace,
                           Stream& stream) const {
  apply(V{1}, x, V{}, y, workspace, stream);
}

template <Value V>
void ProductPlan<V>::apply(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y,
                           Workspace& workspace, Stream& stream) const {
  const detail::Prepared<V>& plan = prepared();
  strata::detail::require_elements("x", x.size(), x_rows(), vectors());
  strata::detail::require_elements("y", y.size(), y_rows(), vectors());
  strata::detail::require_apart(x.data(), x.size() * Offset{sizeof(V)}, y.data(),
                                y.size() * Offset{sizeof(V)});
  const bool direct = plan.direct();
  auto& state = detail::WorkspaceState<V>::of(workspace, plan, direct ? 0 : 2);
  const DeviceOrder& order = plan.rows->on_device;
  if (!direct) {
    order.gather(x, state.vectors[0].span(), vectors(), stream);
    if (beta != V{}) {
      order.gather(DeviceSpan<const V>(y), state.vectors[1].span(), vectors(), stream);
    }
  }
  detail::run_product<V>(
      plan.method, {.alpha = alpha, .beta = beta}, direct ? x.data() : state.vectors[0].data(),
      direct ? y.data() : state.vectors[1].data(), vectors(), state.method, stream);
  if (!direct) order.scatter(DeviceSpan<const V>(state.vectors[1].span()), y, vectors(), stream);
}

template <Value V>
PlanWorkspace<V> ProductPlan<V>::make_strided_workspace(Stream& stream) const {
  return detail::WorkspaceState<V>::make(prepared(), 2,
                                         std::max(order().padded_rows(), prepared().cols), stream);
}

template <Value V>
void ProductPlan<V>::apply(V alpha, StridedVectors<const V> x, V beta, StridedVectors<V> y,
                           Workspace& workspace, Stream& stream) const {
  const detail::Prepared<V>& plan = prepared();
  auto& state = detail::WorkspaceState<V>::of(workspace, plan, 2);
  const DeviceOrder& on_device = plan.rows->on_device;
  const Offset padded = Offset{on_device.padded_rows()} * vectors();
  const DeviceSpan<V> packed_y = state.vectors[1].subspan(0, padded);
  if (order().is_identity()) {
    interleave(detail::lines_of(x), state.vectors[0].subspan(0, Offset{plan.cols} * vectors()),
               vectors(), stream);
  } else {
    on_device.gather(detail::lines_of(x), state.vectors[0].subspan(0, padded), vectors(), stream);
  }
  if (beta != V{}) {
    const StridedVectors<const V> old{y.data, y.row_stride, y.vector_stride};
    on_device.gather(detail::lines_of(old), packed_y, vectors(), stream);
  }
  detail::run_product<V>(plan.method, {.alpha = alpha, .beta = beta}, state.vectors[0].data(),
                         packed_y.data(), vectors(), state.method, stream);
  on_device.scatter(DeviceSpan<const V>(packed_y), detail::lines_of(y), vectors(), stream);
}

template <Value V>
const PaddedOrder<std::int32_t>& ProductPlan<V>::order() const {
  return prepared().rows->order;
}
template <Value V>
void ProductPlan<V>::to_plan_order(DeviceSpan<const V> of_rows, DeviceSpan<V> padded,
                                   Stream& stream) const {
  prepared().rows->on_device.gather(of_rows, padded, vectors(), stream);
}
template <Value V>
void ProductPlan<V>::to_caller_order(DeviceSpan<const V> padded, DeviceSpan<V> of_rows,
                                     Stream& stream) const {
  prepared().rows->on_device.scatter(padded, of_rows, vectors(), stream);
}

template <Value V>
template <Index I>
void ProductPlan<V>::update_values(const Csr<V, I>& matrix, Stream& stream) {
  if (prepared().transposed) {
    prepared_->assign_values(strata::transposed(matrix), stream);
  } else {
    prepared_->assign_values(matrix, stream);
  }
}

template <Value V>
Offset ProductPlan<V>::bytes() const {
  return prepared().bytes();
}
template <Value V>
const PlanRecord& ProductPlan<V>::record() const {
  return prepared().record;
}
template <Value V>
std::string ProductPlan<V>::explain() const {
  return prepared().explain(prepared().transposed ? "The transposed product" : "The product");
}

namespace {

template <Value V, Index I>
std::unique_ptr<detail::Prepared<V>> prepare_product(const Csr<V, I>& matrix,
                                                     const ProductOptions& options,
                                                     Stream& stream) {
  const auto [request, one] =
      strata::detail::asked_product(matrix, options, strata::detail::Target::gpu);
  return detail::prepare(matrix, one, stream, request);
}

}  // namespace

template <Value V, Index I>
ProductPlan<V> plan_product(const Csr<V, I>& matrix, const ProductOptions& options,
                            Stream& stream) {
  ProductPlan<V> plan;
  if (options.transposed) {
    plan.prepared_ = prepare_product(transposed(matrix), options, stream);
    plan.prepared_->transposed = true;
  } else {
    plan.prepared_ = prepare_product(matrix, options, stream);
  }
  return plan;
}

#define STRATA_INSTANTIATE_PLAN(V, unused) template class ProductPlan<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_PLAN, );
#define STRATA_INSTANTIATE(V, I)                                          \
  template void ProductPlan<V>::update_values(const Csr<V, I>&, Stream&); \
  template ProductPlan<V> plan_product(const Csr<V, I>&, const ProductOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
