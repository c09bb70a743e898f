#include "strata/plans/product_plan.hpp"

#include <algorithm>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/plans/internal/checks.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "strata/plans/internal/strided.hpp"
#include "strata/plans/internal/workspace.hpp"

namespace strata {

template <Value V, Index I>
ProductPlan<V, I>::ProductPlan() = default;
template <Value V, Index I>
ProductPlan<V, I>::~ProductPlan() = default;
template <Value V, Index I>
ProductPlan<V, I>::ProductPlan(ProductPlan&&) noexcept = default;
template <Value V, Index I>
ProductPlan<V, I>& ProductPlan<V, I>::operator=(ProductPlan&&) noexcept = default;

template <Value V, Index I>
const detail::Prepared<V, I>& ProductPlan<V, I>::prepared() const {
  return detail::require_prepared(prepared_.get());
}

template <Value V, Index I>
I ProductPlan<V, I>::rows() const {
  return prepared().transposed ? prepared().cols : order().rows();
}
template <Value V, Index I>
I ProductPlan<V, I>::cols() const {
  return prepared().transposed ? order().rows() : prepared().cols;
}
template <Value V, Index I>
int ProductPlan<V, I>::vectors() const {
  return prepared().options.vectors;
}
template <Value V, Index I>
I ProductPlan<V, I>::x_rows() const {
  return order().is_identity() ? prepared().cols : y_rows();
}
template <Value V, Index I>
I ProductPlan<V, I>::y_rows() const {
  return prepared().options.vector_order == VectorOrder::plan ? order().padded_rows()
                                                              : order().rows();
}

template <Value V, Index I>
PlanWorkspace<V> ProductPlan<V, I>::make_workspace() const {
  const detail::Prepared<V, I>& plan = prepared();
  return detail::WorkspaceState<V>::make(
      plan.identity, plan.threads, plan.direct() ? 0 : 2,
      static_cast<std::size_t>(order().padded_rows()) * vectors(), plan.scratch_elements());
}

template <Value V, Index I>
void ProductPlan<V, I>::apply(std::span<const V> x, std::span<V> y, Workspace& workspace) const {
  apply(V{1}, x, V{}, y, workspace);
}

template <Value V, Index I>
void ProductPlan<V, I>::apply(V alpha, std::span<const V> x, V beta, std::span<V> y,
                              Workspace& workspace) const {
  const detail::Prepared<V, I>& plan = prepared();
  detail::require_elements("x", std::ssize(x), x_rows(), vectors());
  detail::require_elements("y", std::ssize(y), y_rows(), vectors());
  detail::require_apart(x.data(), static_cast<Offset>(x.size_bytes()), y.data(),
                        static_cast<Offset>(y.size_bytes()));
  const bool direct = plan.direct();
  auto& state = detail::WorkspaceState<V>::of(workspace, plan.identity, direct ? 0 : 2);
  const detail::Team team(plan);
  V* from = direct ? const_cast<V*>(x.data()) : state.vectors[0].data();
  V* to = direct ? y.data() : state.vectors[1].data();
  if (!direct) {
    order().template gather<V>(x, state.vectors[0], vectors());
    if (beta != V{}) order().template gather<V>(y, state.vectors[1], vectors());
  }
  run(alpha, from, beta, to, state);
  if (!direct) order().template scatter<V>(state.vectors[1], y, vectors());
}

template <Value V, Index I>
void ProductPlan<V, I>::run(V alpha, const V* x, V beta, V* y,
                            detail::WorkspaceState<V>& state) const {
  const cpu::StepCoefficients<V> step{.alpha = alpha, .beta = beta};
  prepared().run(
      state.team(), {&step, 1}, [&](int k) { return k == 0 ? const_cast<V*>(x) : y; }, y,
      state.scratch);
}

template <Value V, Index I>
PlanWorkspace<V> ProductPlan<V, I>::make_strided_workspace() const {
  const Offset longest = std::max(order().padded_rows(), prepared().cols);
  return detail::WorkspaceState<V>::make(prepared().identity, prepared().threads, 2,
                                         static_cast<std::size_t>(longest) * vectors(),
                                         prepared().scratch_elements());
}

template <Value V, Index I>
void ProductPlan<V, I>::apply(V alpha, StridedVectors<const V> x, V beta, StridedVectors<V> y,
                              Workspace& workspace) const {
  auto& state = detail::WorkspaceState<V>::of(workspace, prepared().identity, 2);
  const detail::Team team(prepared());
  const std::span<V> packed_x = state.vectors[0];
  const std::span<V> packed_y = state.vectors[1];
  if (order().is_identity()) {
    detail::pack<V>(x, prepared().cols, vectors(), packed_x);
  } else {
    detail::pack<V, I>(x, order(), vectors(), packed_x);
  }
  if (beta != V{}) {
    detail::pack<V, I>({y.data, y.row_stride, y.vector_stride}, order(), vectors(), packed_y);
  }
  run(alpha, packed_x.data(), beta, packed_y.data(), state);
  detail::unpack<V, I>(packed_y, order(), vectors(), y);
}

template <Value V, Index I>
const PaddedOrder<I>& ProductPlan<V, I>::order() const {
  return prepared().arrangement->order;
}

template <Value V, Index I>
void ProductPlan<V, I>::to_plan_order(std::span<const V> of_rows, std::span<V> padded) const {
  const detail::Team team(prepared());
  order().gather(of_rows, padded, vectors());
}

template <Value V, Index I>
void ProductPlan<V, I>::to_caller_order(std::span<const V> padded, std::span<V> of_rows) const {
  const detail::Team team(prepared());
  order().scatter(padded, of_rows, vectors());
}

template <Value V, Index I>
void ProductPlan<V, I>::update_values(const Csr<V, I>& matrix) {
  const detail::Team team(prepared());
  if (prepared().transposed) {
    prepared_->assign_values(strata::transposed(matrix));
  } else {
    prepared_->assign_values(matrix);
  }
}

template <Value V, Index I>
int ProductPlan<V, I>::threads() const {
  return prepared().threads;
}
template <Value V, Index I>
const PlanRecord& ProductPlan<V, I>::record() const {
  return prepared().record;
}
template <Value V, Index I>
std::string ProductPlan<V, I>::explain() const {
  return prepared().explain(prepared().transposed ? "The transposed product" : "The product");
}

namespace {

template <Value V, Index I>
std::unique_ptr<detail::Prepared<V, I>> prepare_product(const Csr<V, I>& matrix,
                                                        const ProductOptions& options) {
  const auto [request, one] = detail::asked_product(matrix, options, detail::Target::processor);
  return detail::prepare(matrix, one, request);
}

}  // namespace

template <Value V, Index I>
ProductPlan<V, I> plan_product(const Csr<V, I>& matrix, const ProductOptions& options) {
  ProductPlan<V, I> plan;
  if (options.transposed) {
    plan.prepared_ = prepare_product(transposed(matrix), options);
    plan.prepared_->transposed = true;
  } else {
    plan.prepared_ = prepare_product(matrix, options);
  }
  return plan;
}

#define STRATA_INSTANTIATE(V, I)    \
  template class ProductPlan<V, I>; \
  template ProductPlan<V, I> plan_product(const Csr<V, I>&, const ProductOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
