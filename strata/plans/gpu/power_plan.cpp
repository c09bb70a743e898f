#include "strata/plans/gpu/power_plan.hpp"

#include <fmt/format.h>

#include <array>

#include "strata/base/instantiate.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/gpu/internal/strided.hpp"
#include "strata/plans/gpu/internal/workspace.hpp"
#include "strata/plans/internal/checks.hpp"
#include "strata/plans/internal/power_choice.hpp"

namespace strata::gpu {

namespace {

template <Value V>
using State = detail::WorkspaceState<V>;

template <Value V>
void require_apart(DeviceSpan<const V> x, DeviceSpan<V> out) {
  strata::detail::require_apart(x.data(), x.size() * Offset{sizeof(V)}, out.data(),
                                out.size() * Offset{sizeof(V)});
}

}  // namespace

template <Value V>
PowerPlan<V>::PowerPlan() = default;
template <Value V>
PowerPlan<V>::~PowerPlan() = default;
template <Value V>
PowerPlan<V>::PowerPlan(PowerPlan&&) noexcept = default;
template <Value V>
PowerPlan<V>& PowerPlan<V>::operator=(PowerPlan&&) noexcept = default;

template <Value V>
const detail::Prepared<V>& PowerPlan<V>::prepared() const {
  return strata::detail::require_prepared(prepared_.get());
}

template <Value V>
std::int32_t PowerPlan<V>::rows() const {
  return prepared().rows->order.rows();
}
template <Value V>
std::int32_t PowerPlan<V>::padded_rows() const {
  return prepared().rows->order.padded_rows();
}
template <Value V>
int PowerPlan<V>::power() const {
  return prepared().options.power;
}
template <Value V>
int PowerPlan<V>::vectors() const {
  return prepared().options.vectors;
}
template <Value V>
std::int32_t PowerPlan<V>::vector_rows() const {
  return prepared().options.vector_order == VectorOrder::plan ? padded_rows() : rows();
}

template <Value V>
PlanWorkspace<V> PowerPlan<V>::make_workspace(Stream& stream) const {
  return State<V>::make(prepared(), prepared().direct() ? 0 : power() + 1, stream);
}
template <Value V>
PlanWorkspace<V> PowerPlan<V>::make_workspace_for_last(Stream& stream) const {
  const int kept = detail::kept_for_last(prepared().method);
  return State<V>::make(prepared(), prepared().direct() ? kept : kept + 2, stream);
}

template <Value V>
PlanWorkspace<V> PowerPlan<V>::make_workspace_for_sum(Stream& stream) const {
  const int kept = detail::kept_for_sum(prepared().method, power());
  return State<V>::make(prepared(), prepared().direct() ? kept : kept + 2, stream);
}

template <Value V>
void PowerPlan<V>::apply(DeviceSpan<const V> x, DeviceSpan<V> powers, Workspace& workspace,
                         Stream& stream) const {
  apply_first(power(), x, powers, workspace, stream);
}

template <Value V>
void PowerPlan<V>::apply_first(int count, DeviceSpan<const V> x, DeviceSpan<V> powers,
                               Workspace& workspace, Stream& stream) const {
  if (count < 1 || count > power()) {
    throw InvalidArgument(fmt::format("{} powers of a plan for {}", count, power()));
  }
  strata::detail::require_elements("x", x.size(), vector_rows(), vectors());
  strata::detail::require_elements("the block of powers", powers.size(),
                                   Offset{vector_rows()} * count, vectors());
  require_apart(x, powers);
  const Offset each = x.size();
  const bool direct = prepared().direct();
  auto& state = State<V>::of(workspace, prepared(), direct ? 0 : count + 1);
  const DeviceOrder& order = prepared().rows->on_device;
  if (!direct) order.gather(x, state.vectors[0].span(), vectors(), stream);
  std::vector<V*> y;
  for (int k = 0; k <= count; ++k) {
    y.push_back(!direct  ? state.vectors[k].data()
                : k == 0 ? const_cast<V*>(x.data())
                         : powers.data() + (k - 1) * each);
  }
  detail::run_powers<V>(prepared().method,
                        std::span(prepared().coefficients).first(static_cast<std::size_t>(count)),
                        y, vectors(), state.method, stream);
  if (direct) return;
  for (int k = 1; k <= count; ++k) {
    order.scatter(DeviceSpan<const V>(state.vectors[k].span()),
                  powers.subspan((k - 1) * each, each), vectors(), stream);
  }
}

template <Value V>
void PowerPlan<V>::apply_last(DeviceSpan<const V> x, DeviceSpan<V> last, Workspace& workspace,
                              Stream& stream) const {
  strata::detail::require_elements("x", x.size(), vector_rows(), vectors());
  strata::detail::require_elements("the last power", last.size(), vector_rows(), vectors());
  require_apart(x, last);
  const bool direct = prepared().direct();
  // Powers take turns in so many vectors, or alternate between one and the result so that the last
  // one is where it belongs; behind them are x and the result in the plan's order.
  const int kept = detail::kept_for_last(prepared().method);
  auto& state = State<V>::of(workspace, prepared(), direct ? kept : kept + 2);
  const DeviceOrder& order = prepared().rows->on_device;
  if (!direct) order.gather(x, state.vectors[kept].span(), vectors(), stream);
  std::vector<V*> y{direct ? const_cast<V*>(x.data()) : state.vectors[kept].data()};
  V* result = direct ? last.data() : state.vectors[kept + 1].data();
  for (int k = 1; k <= power(); ++k) {
    const bool in_result = k == power() || (kept == 1 && (power() - k) % 2 == 0);
    y.push_back(in_result ? result : state.vectors[k % kept].data());
  }
  detail::run_powers<V>(prepared().method, prepared().coefficients, y, vectors(), state.method,
                        stream);
  if (!direct) {
    order.scatter(DeviceSpan<const V>(state.vectors[kept + 1].span()), last, vectors(), stream);
  }
}

template <Value V>
void PowerPlan<V>::apply_sum(DeviceSpan<const V> x, std::span<const V> coefficients,
                             DeviceSpan<V> sum, Workspace& workspace, Stream& stream) const {
  strata::detail::require_elements("x", x.size(), vector_rows(), vectors());
  strata::detail::require_elements("the sum", sum.size(), vector_rows(), vectors());
  if (std::ssize(coefficients) != power() + 1) {
    throw InvalidArgument(
        fmt::format("{} coefficients for a sum of x and {} powers", coefficients.size(), power()));
  }
  require_apart(x, sum);
  const bool direct = prepared().direct();
  // Powers take turns in so many vectors; behind them are x and the sum in the plan's order.
  const int kept = detail::kept_for_sum(prepared().method, power());
  auto& state = State<V>::of(workspace, prepared(), direct ? kept : kept + 2);
  const DeviceOrder& order = prepared().rows->on_device;
  if (!direct) order.gather(x, state.vectors[kept].span(), vectors(), stream);
  std::vector<V*> y{direct ? const_cast<V*>(x.data()) : state.vectors[kept].data()};
  for (int k = 1; k <= power(); ++k) y.push_back(state.vectors[k % kept].data());
  V* const target = direct ? sum.data() : state.vectors[kept + 1].data();
  detail::run_powers<V>(prepared().method, prepared().coefficients, y, vectors(), state.method,
                        stream, {target, coefficients.subspan(1), coefficients[0], true});
  if (!direct) {
    order.scatter(DeviceSpan<const V>(state.vectors[kept + 1].span()), sum, vectors(), stream);
  }
}

template <Value V>
void PowerPlan<V>::multiply(DeviceSpan<const V> x, DeviceSpan<V> y, Workspace& workspace,
                            Stream& stream) const {
  strata::detail::require_elements("x", x.size(), vector_rows(), vectors());
  strata::detail::require_elements("y", y.size(), vector_rows(), vectors());
  require_apart(x, y);
  const bool direct = prepared().direct();
  auto& state = State<V>::of(workspace, prepared(), direct ? 0 : 2);
  const DeviceOrder& order = prepared().rows->on_device;
  if (!direct) order.gather(x, state.vectors[0].span(), vectors(), stream);
  const std::array<V*, 2> both{direct ? const_cast<V*>(x.data()) : state.vectors[0].data(),
                               direct ? y.data() : state.vectors[1].data()};
  const StepCoefficients<V> once;
  detail::run_powers<V>(prepared().method, {&once, 1}, both, vectors(), state.method, stream);
  if (!direct) order.scatter(DeviceSpan<const V>(state.vectors[1].span()), y, vectors(), stream);
}

template <Value V>
void PowerPlan<V>::set_basis(const Basis& basis) {
  prepared();
  prepared_->set_basis(basis);
}

template <Value V>
PlanWorkspace<V> PowerPlan<V>::make_strided_workspace(Stream& stream) const {
  return State<V>::make(prepared(), power() + 1, stream);
}

template <Value V>
void PowerPlan<V>::apply(StridedVectors<const V> x, StridedVectors<V> powers, Offset power_stride,
                         Workspace& workspace, Stream& stream) const {
  auto& state = State<V>::of(workspace, prepared(), power() + 1);
  const DeviceOrder& order = prepared().rows->on_device;
  order.gather(detail::lines_of(x), state.vectors[0].span(), vectors(), stream);
  std::vector<V*> y;
  for (int k = 0; k <= power(); ++k) y.push_back(state.vectors[k].data());
  detail::run_powers<V>(prepared().method, prepared().coefficients, y, vectors(), state.method,
                        stream);
  for (int k = 1; k <= power(); ++k) {
    const StridedVectors<V> result{powers.data + (k - 1) * power_stride, powers.row_stride,
                                   powers.vector_stride};
    order.scatter(DeviceSpan<const V>(state.vectors[k].span()), detail::lines_of(result), vectors(),
                  stream);
  }
}

template <Value V>
void PowerPlan<V>::require_ended(Workspace& workspace, Stream& stream) const {
  auto& state = State<V>::of(workspace, prepared(), 0);
  detail::require_ended(prepared().method, state.method, stream);
}

template <Value V>
void PowerPlan<V>::to_plan_order(DeviceSpan<const V> of_rows, DeviceSpan<V> padded,
                                 Stream& stream) const {
  prepared().rows->on_device.gather(of_rows, padded, vectors(), stream);
}

template <Value V>
void PowerPlan<V>::to_caller_order(DeviceSpan<const V> padded, DeviceSpan<V> of_rows,
                                   Stream& stream) const {
  prepared().rows->on_device.scatter(padded, of_rows, vectors(), stream);
}

template <Value V>
template <Index I>
void PowerPlan<V>::update_values(const Csr<V, I>& matrix, Stream& stream) {
  prepared();
  prepared_->assign_values(matrix, stream);
}

template <Value V>
const PaddedOrder<std::int32_t>& PowerPlan<V>::order() const {
  return prepared().rows->order;
}
template <Value V>
const PlanRecord& PowerPlan<V>::record() const {
  return prepared().record;
}
template <Value V>
Offset PowerPlan<V>::bytes() const {
  return prepared().bytes();
}
template <Value V>
std::string PowerPlan<V>::explain() const {
  return prepared().explain(
      fmt::format("{} powers ({})", power(), prepared().options.basis.name()));
}

template <Value V, Index I>
PowerPlan<V> plan_powers(const Csr<V, I>& matrix, const PowerOptions& options, Stream& stream) {
  strata::detail::require_powers(matrix.rows(), matrix.cols());
  strata::detail::require_options<V>(matrix.rows(), options, strata::detail::Target::gpu);
  PowerPlan<V> plan;
  if (options.products == 0) {
    plan.prepared_ = detail::prepare(matrix, options, stream);
    return plan;
  }
  const PowerOptions search = strata::detail::search_options(options, strata::detail::Target::gpu);
  plan.prepared_ = detail::prepare(matrix, search, stream);
  plan.prepared_->options.power = strata::detail::settle_power(plan.prepared_->record, search);
  plan.prepared_->set_basis(options.basis);
  return plan;
}

#define STRATA_INSTANTIATE_PLAN(V, unused) template class PowerPlan<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_PLAN, );
#define STRATA_INSTANTIATE(V, I)                                        \
  template void PowerPlan<V>::update_values(const Csr<V, I>&, Stream&); \
  template PowerPlan<V> plan_powers(const Csr<V, I>&, const PowerOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
