#include "strata/plans/power_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/cpu/arithmetic.hpp"
#include "strata/plans/internal/checks.hpp"
#include "strata/plans/internal/power_choice.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "strata/plans/internal/strided.hpp"
#include "strata/plans/internal/workspace.hpp"

namespace strata {

namespace {

template <Value V>
using State = detail::WorkspaceState<V>;

template <Value V>
void require_apart(std::span<const V> x, std::span<V> out) {
  detail::require_apart(x.data(), static_cast<Offset>(x.size_bytes()), out.data(),
                        static_cast<Offset>(out.size_bytes()));
}

}  // namespace

template <Value V, Index I>
PowerPlan<V, I>::PowerPlan() = default;
template <Value V, Index I>
PowerPlan<V, I>::~PowerPlan() = default;
template <Value V, Index I>
PowerPlan<V, I>::PowerPlan(PowerPlan&&) noexcept = default;
template <Value V, Index I>
PowerPlan<V, I>& PowerPlan<V, I>::operator=(PowerPlan&&) noexcept = default;

template <Value V, Index I>
const detail::Prepared<V, I>& PowerPlan<V, I>::prepared() const {
  return detail::require_prepared(prepared_.get());
}

template <Value V, Index I>
I PowerPlan<V, I>::rows() const {
  return prepared().arrangement->order.rows();
}
template <Value V, Index I>
I PowerPlan<V, I>::padded_rows() const {
  return prepared().arrangement->order.padded_rows();
}
template <Value V, Index I>
int PowerPlan<V, I>::power() const {
  return prepared().options.power;
}
template <Value V, Index I>
int PowerPlan<V, I>::vectors() const {
  return prepared().options.vectors;
}
template <Value V, Index I>
I PowerPlan<V, I>::vector_rows() const {
  return prepared().options.vector_order == VectorOrder::plan ? padded_rows() : rows();
}

template <Value V, Index I>
PlanWorkspace<V> PowerPlan<V, I>::workspace_with(int vectors) const {
  Workspace workspace = State<V>::make(prepared().identity, prepared().threads, vectors,
                                       static_cast<std::size_t>(padded_rows()) * this->vectors(),
                                       prepared().scratch_elements());
  // What no power writes may still be loaded, and multiplied by zero.
  if (prepared().limits.any()) {
    for (Array<V>& vector : State<V>::of(workspace, prepared().identity, 0).vectors) {
      std::ranges::fill(vector, V(0));
    }
  }
  return workspace;
}

template <Value V, Index I>
PlanWorkspace<V> PowerPlan<V, I>::make_workspace() const {
  return workspace_with(prepared().direct() ? 0 : power() + 1);
}

template <Value V, Index I>
PlanWorkspace<V> PowerPlan<V, I>::make_workspace_for_last() const {
  return workspace_with(prepared().direct() ? 1 : 3);
}

template <Value V, Index I>
PlanWorkspace<V> PowerPlan<V, I>::make_workspace_for_sum() const {
  return workspace_with(prepared().direct() ? 2 : 4);
}

template <Value V, Index I>
void PowerPlan<V, I>::apply(std::span<const V> x, std::span<V> powers, Workspace& workspace) const {
  apply(prepared().coefficients, {}, x, powers, workspace, nullptr);
}

template <Value V, Index I>
void PowerPlan<V, I>::apply_first(int count, std::span<const V> x, std::span<V> powers,
                                  Workspace& workspace) const {
  if (count < 1 || count > power()) {
    throw InvalidArgument(fmt::format("{} powers of a plan for {}", count, power()));
  }
  apply(std::span(prepared().coefficients).first(static_cast<std::size_t>(count)), {}, x, powers,
        workspace, nullptr);
}

template <Value V, Index I>
void PowerPlan<V, I>::apply_steps(std::span<const cpu::StepCoefficients<V>> steps,
                                  std::span<const V> before, std::span<const V> x,
                                  std::span<V> powers, Workspace& workspace) const {
  if (steps.empty() || std::ssize(steps) > power()) {
    throw InvalidArgument(fmt::format("{} steps of a plan for {}", steps.size(), power()));
  }
  if (before.empty() && !x.empty() && steps.front().beta != V(0)) {
    throw InvalidArgument("the first step reads a vector before x, and there is none");
  }
  if (!before.empty()) {
    detail::require_elements("the vector before x", std::ssize(before), vector_rows(), vectors());
    require_apart(before, powers);
  }
  apply(steps, before, x, powers, workspace, nullptr);
}

template <Value V, Index I>
TaskTrace PowerPlan<V, I>::trace(std::span<const V> x, std::span<V> powers,
                                 Workspace& workspace) const {
  std::vector<TracedTask> traced;
  apply(prepared().coefficients, {}, x, powers, workspace, &traced);
  return trace_of(std::move(traced));
}

template <Value V, Index I>
void PowerPlan<V, I>::apply(std::span<const cpu::StepCoefficients<V>> steps,
                            std::span<const V> before, std::span<const V> x, std::span<V> powers,
                            Workspace& workspace, std::vector<TracedTask>* traced) const {
  const auto count = static_cast<int>(steps.size());
  const detail::Prepared<V, I>& plan = prepared();
  detail::require_elements("x", std::ssize(x), vector_rows(), vectors());
  detail::require_elements("the block of powers", std::ssize(powers), Offset{vector_rows()} * count,
                           vectors());
  require_apart(x, powers);
  const detail::Team team(plan);
  const auto each = x.size();
  if (plan.direct()) {
    auto& state = State<V>::of(workspace, plan.identity, 0);
    const auto vector = [&](int k) {
      return k == 0 ? const_cast<V*>(x.data()) : powers.data() + (k - 1) * each;
    };
    plan.run(state.team(), steps, vector, before.data(), state.scratch, traced);
    return;
  }
  auto& state = State<V>::of(workspace, plan.identity, power() + 1);
  order().template gather<V>(x, state.vectors[0], vectors());
  // The first step reads and writes a row at the same place.
  if (!before.empty()) order().template gather<V>(before, state.vectors[1], vectors());
  const auto vector = [&](int k) { return state.vectors[k].data(); };
  plan.run(state.team(), steps, vector, before.empty() ? nullptr : vector(1), state.scratch,
           traced);
  for (int k = 1; k <= count; ++k) {
    order().template scatter<V>(state.vectors[k], powers.subspan((k - 1) * each, each), vectors());
  }
}

template <Value V, Index I>
void PowerPlan<V, I>::run_alternating(V* x, V* last, V* other, State<V>& state,
                                      const detail::PowerSum<V>& sum) const {
  const auto vector = [&](int k) {
    if (k == 0) return x;
    return (power() - k) % 2 == 0 ? last : other;
  };
  prepared().run(state.team(), prepared().coefficients, vector, nullptr, state.scratch, nullptr,
                 sum);
}

template <Value V, Index I>
void PowerPlan<V, I>::apply_last(std::span<const V> x, std::span<V> last,
                                 Workspace& workspace) const {
  const detail::Prepared<V, I>& plan = prepared();
  detail::require_elements("x", std::ssize(x), vector_rows(), vectors());
  detail::require_elements("the last power", std::ssize(last), vector_rows(), vectors());
  require_apart(x, last);
  const detail::Team team(plan);
  if (plan.direct()) {
    auto& state = State<V>::of(workspace, plan.identity, 1);
    run_alternating(const_cast<V*>(x.data()), last.data(), state.vectors[0].data(), state, {});
    return;
  }
  auto& state = State<V>::of(workspace, plan.identity, 3);
  order().template gather<V>(x, state.vectors[1], vectors());
  run_alternating(state.vectors[1].data(), state.vectors[2].data(), state.vectors[0].data(), state,
                  {});
  order().template scatter<V>(state.vectors[2], last, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::apply_sum(std::span<const V> x, std::span<const V> coefficients,
                                std::span<V> sum, Workspace& workspace) const {
  const detail::Prepared<V, I>& plan = prepared();
  detail::require_elements("x", std::ssize(x), vector_rows(), vectors());
  detail::require_elements("the sum", std::ssize(sum), vector_rows(), vectors());
  if (std::ssize(coefficients) != power() + 1) {
    throw InvalidArgument(
        fmt::format("{} coefficients for a sum of x and {} powers", coefficients.size(), power()));
  }
  require_apart(x, sum);
  const detail::Team team(plan);
  if (plan.direct()) {
    auto& state = State<V>::of(workspace, plan.identity, 2);
    run_alternating(const_cast<V*>(x.data()), state.vectors[1].data(), state.vectors[0].data(),
                    state, {coefficients, sum.data()});
    return;
  }
  auto& state = State<V>::of(workspace, plan.identity, 4);
  order().template gather<V>(x, state.vectors[1], vectors());
  run_alternating(state.vectors[1].data(), state.vectors[2].data(), state.vectors[0].data(), state,
                  {coefficients, state.vectors[3].data()});
  order().template scatter<V>(state.vectors[3], sum, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::multiply(std::span<const V> x, std::span<V> y, Workspace& workspace) const {
  const detail::Prepared<V, I>& plan = prepared();
  detail::require_elements("x", std::ssize(x), vector_rows(), vectors());
  detail::require_elements("y", std::ssize(y), vector_rows(), vectors());
  require_apart(x, y);
  const detail::Team team(plan);
  auto& state = State<V>::of(workspace, plan.identity, plan.direct() ? 0 : 2);
  if (plan.direct()) {
    plan.multiply(x.data(), y.data(), state.scratch);
    return;
  }
  order().template gather<V>(x, state.vectors[0], vectors());
  plan.multiply(state.vectors[0].data(), state.vectors[1].data(), state.scratch);
  order().template scatter<V>(state.vectors[1], y, vectors());
}

template <Value V, Index I>
PlanWorkspace<V> PowerPlan<V, I>::make_strided_workspace() const {
  return workspace_with(power() + 1);
}

template <Value V, Index I>
void PowerPlan<V, I>::apply(StridedVectors<const V> x, StridedVectors<V> powers,
                            Offset power_stride, Workspace& workspace) const {
  const detail::Prepared<V, I>& plan = prepared();
  auto& state = State<V>::of(workspace, plan.identity, power() + 1);
  const detail::Team team(plan);
  detail::pack<V, I>(x, order(), vectors(), state.vectors[0]);
  const auto vector = [&](int k) { return state.vectors[k].data(); };
  plan.run(state.team(), plan.coefficients, vector, nullptr, state.scratch);
  for (int k = 1; k <= power(); ++k) {
    detail::unpack<V, I>(
        state.vectors[k], order(), vectors(),
        {powers.data + (k - 1) * power_stride, powers.row_stride, powers.vector_stride});
  }
}

template <Value V, Index I>
const PaddedOrder<I>& PowerPlan<V, I>::order() const {
  return prepared().arrangement->order;
}

template <Value V, Index I>
void PowerPlan<V, I>::to_plan_order(std::span<const V> of_rows, std::span<V> padded) const {
  const detail::Team team(prepared());
  order().gather(of_rows, padded, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::to_caller_order(std::span<const V> padded, std::span<V> of_rows) const {
  const detail::Team team(prepared());
  order().scatter(padded, of_rows, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::update_values(const Csr<V, I>& matrix) {
  const detail::Team team(prepared());
  prepared_->assign_values(matrix);
}

template <Value V, Index I>
void PowerPlan<V, I>::set_basis(const Basis& basis) {
  prepared();
  prepared_->set_basis(basis);
}

template <Value V, Index I>
const PlanRecord& PowerPlan<V, I>::record() const {
  return prepared().record;
}
template <Value V, Index I>
int PowerPlan<V, I>::threads() const {
  return prepared().threads;
}

template <Value V, Index I>
std::string PowerPlan<V, I>::explain() const {
  return prepared().explain(
      fmt::format("{} powers ({})", power(), prepared().options.basis.name()));
}

template <Value V, Index I>
PowerPlan<V, I> detail::plan_powers_with(const Csr<V, I>& matrix, const PowerOptions& options,
                                         const ProductRequest& request) {
  require_powers(matrix.rows(), matrix.cols());
  require_options<V>(matrix.rows(), options, Target::processor);
  PowerPlan<V, I> plan;
  if (options.products == 0) {
    plan.prepared_ = prepare(matrix, options, request);
    return plan;
  }
  const PowerOptions search = search_options(options, Target::processor);
  plan.prepared_ = prepare(matrix, search, request);
  plan.prepared_->options.power = settle_power(plan.prepared_->record, search);
  plan.prepared_->set_basis(options.basis);
  return plan;
}

template <Value V, Index I>
PowerPlan<V, I> plan_powers(const Csr<V, I>& matrix, const PowerOptions& options) {
  return detail::plan_powers_with(matrix, options,
                                  {.searches = true, .memory = TuningMemory::recall});
}

template <Value V>
std::optional<Overflow> find_overflow(std::span<const V> powers, int power) {
  if (power < 1 || powers.size() % static_cast<std::size_t>(power) != 0) {
    throw InvalidArgument(fmt::format("{} elements are not {} vectors", powers.size(), power));
  }
  const auto each = static_cast<Offset>(powers.size()) / power;
  const auto count = static_cast<Offset>(powers.size());
  const Offset first = parallel_reduce(
      count, count,
      [&](Offset begin, Offset end) {
        const auto found = std::find_if(powers.begin() + begin, powers.begin() + end,
                                        [](V value) { return !cpu::is_finite(value); });
        return found == powers.begin() + end ? count : static_cast<Offset>(found - powers.begin());
      },
      [](Offset a, Offset b) { return std::min(a, b); });
  if (first == count) return std::nullopt;
  return Overflow{static_cast<int>(first / each) + 1, first % each};
}

#define STRATA_INSTANTIATE(V, I)                                                           \
  template class PowerPlan<V, I>;                                                          \
  template PowerPlan<V, I> detail::plan_powers_with(const Csr<V, I>&, const PowerOptions&, \
                                                    const detail::ProductRequest&);        \
  template PowerPlan<V, I> plan_powers(const Csr<V, I>&, const PowerOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#define STRATA_INSTANTIATE_VALUE(V, I) \
  template std::optional<Overflow> find_overflow(std::span<const V>, int)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );

}  // namespace strata
