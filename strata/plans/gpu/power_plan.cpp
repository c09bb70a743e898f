#include "strata/plans/gpu/power_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/plans/gpu/internal/planner.hpp"

namespace strata::gpu {

template <Value V>
struct PowerPlan<V>::Workspace::State {
  Identity plan;  // that it was made for
  std::vector<DeviceArray<V>> vectors;
  detail::MethodWorkspace<V> method;
};

template <Value V>
PowerPlan<V>::Workspace::Workspace() = default;
template <Value V>
PowerPlan<V>::Workspace::~Workspace() = default;
template <Value V>
PowerPlan<V>::Workspace::Workspace(Workspace&&) noexcept = default;
template <Value V>
typename PowerPlan<V>::Workspace& PowerPlan<V>::Workspace::operator=(Workspace&&) noexcept =
    default;

template <Value V>
Offset PowerPlan<V>::Workspace::bytes() const {
  if (!state_) return 0;
  Offset bytes = state_->method.bytes();
  for (const DeviceArray<V>& vector : state_->vectors) bytes += vector.bytes();
  return bytes;
}

template <Value V>
PowerPlan<V>::PowerPlan() = default;
template <Value V>
PowerPlan<V>::~PowerPlan() = default;
template <Value V>
PowerPlan<V>::PowerPlan(PowerPlan&&) noexcept = default;
template <Value V>
PowerPlan<V>& PowerPlan<V>::operator=(PowerPlan&&) noexcept = default;

namespace {

void require_elements(std::string_view what, Offset elements, Offset rows, int vectors) {
  const Offset expected = checked_multiply<Offset>(rows, vectors, "the elements of vectors");
  if (elements == expected) return;
  throw InvalidArgument(fmt::format("{} has {} elements; {} rows and {} vectors make {}", what,
                                    elements, rows, vectors, expected));
}

template <Value V>
void require_apart(DeviceSpan<const V> x, DeviceSpan<V> out) {
  const std::less<const V*> before;
  const bool apart = x.empty() || out.empty() || !before(x.data(), out.data() + out.size()) ||
                     !before(out.data(), x.data() + x.size());
  if (!apart) throw InvalidArgument("x overlaps the vectors that its powers are written to");
}

template <Value V, Index I>
Csr<V, std::int32_t> with_short_indices(const Csr<V, I>& matrix) {
  Array<std::int32_t> columns(matrix.columns().size());
  std::ranges::transform(matrix.columns(), columns.begin(),
                         [](I column) { return static_cast<std::int32_t>(column); });
  return Csr<V, std::int32_t>(
      narrow<std::int32_t>(matrix.rows(), "the number of rows on a GPU"),
      narrow<std::int32_t>(matrix.cols(), "the number of columns on a GPU"),
      Array<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()), std::move(columns),
      Array<V>(matrix.values().begin(), matrix.values().end()));
}

// Calls body with a matrix of 32-bit indices.
template <Value V, Index I, class Body>
auto with_device_indices(const Csr<V, I>& matrix, const Body& body) {
  if constexpr (std::same_as<I, std::int32_t>) {
    return body(matrix);
  } else {
    return body(with_short_indices(matrix));
  }
}

template <Value V, Index I>
void require_options(const Csr<V, I>& matrix, const GpuPowerOptions& options) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no powers", matrix.rows(), matrix.cols()));
  }
  if (options.power < 1) {
    throw InvalidArgument(fmt::format("power {} is not positive", options.power));
  }
  if (options.vectors < 1 || options.vectors > kMaxVectors) {
    throw InvalidArgument(fmt::format("a plan is for 1 to {} vectors at a time, not {}",
                                      kMaxVectors, options.vectors));
  }
  if (options.block < 0 || options.cache_bytes < 0 || options.slice_height < 0) {
    throw InvalidArgument("block, cache and slice height cannot be negative");
  }
  options.basis.template require_steps<V>(options.power);
}

}  // namespace

template <Value V>
const detail::PreparedPowers<V>& PowerPlan<V>::prepared() const {
  if (!prepared_) throw InvalidArgument("the plan is empty: it was moved from or never made");
  return *prepared_;
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
typename PowerPlan<V>::Workspace PowerPlan<V>::make_workspace(Stream& stream) const {
  return workspace_with(prepared().direct() ? 0 : power() + 1, stream);
}
template <Value V>
typename PowerPlan<V>::Workspace PowerPlan<V>::make_workspace_for_last(Stream& stream) const {
  return workspace_with(prepared().direct() ? 1 : 3, stream);
}

template <Value V>
typename PowerPlan<V>::Workspace PowerPlan<V>::workspace_with(int vectors, Stream& stream) const {
  Workspace workspace;
  workspace.state_ = std::make_unique<typename Workspace::State>();
  workspace.state_->plan = prepared().identity;
  const Offset elements = Offset{padded_rows()} * this->vectors();
  for (int k = 0; k < vectors; ++k) workspace.state_->vectors.emplace_back(elements);
  workspace.state_->method = detail::workspace_of(prepared().method, this->vectors(), stream);
  return workspace;
}

template <Value V>
typename PowerPlan<V>::Workspace::State& PowerPlan<V>::state_of(Workspace& workspace,
                                                                int vectors) const {
  const bool fits = workspace.state_ && workspace.state_->plan == prepared().identity &&
                    std::ssize(workspace.state_->vectors) >= vectors;
  if (!fits) throw InvalidArgument("the workspace was made for another plan or another function");
  return *workspace.state_;
}

template <Value V>
void PowerPlan<V>::apply(DeviceSpan<const V> x, DeviceSpan<V> powers, Workspace& workspace,
                         Stream& stream) const {
  require_elements("x", x.size(), vector_rows(), vectors());
  require_elements("the block of powers", powers.size(), Offset{vector_rows()} * power(),
                   vectors());
  require_apart(x, powers);
  const Offset each = x.size();
  const bool direct = prepared().direct();
  auto& state = state_of(workspace, direct ? 0 : power() + 1);
  const DeviceOrder& order = prepared().rows->on_device;
  if (!direct) order.gather(x, state.vectors[0].span(), vectors(), stream);
  std::vector<V*> y;
  for (int k = 0; k <= power(); ++k) {
    y.push_back(!direct  ? state.vectors[k].data()
                : k == 0 ? const_cast<V*>(x.data())
                         : powers.data() + (k - 1) * each);
  }
  detail::run_powers<V>(prepared().method, prepared().coefficients, y, vectors(), state.method,
                        stream);
  if (direct) return;
  for (int k = 1; k <= power(); ++k) {
    order.scatter(DeviceSpan<const V>(state.vectors[k].span()),
                  powers.subspan((k - 1) * each, each), vectors(), stream);
  }
}

template <Value V>
void PowerPlan<V>::apply_last(DeviceSpan<const V> x, DeviceSpan<V> last, Workspace& workspace,
                              Stream& stream) const {
  require_elements("x", x.size(), vector_rows(), vectors());
  require_elements("the last power", last.size(), vector_rows(), vectors());
  require_apart(x, last);
  const bool direct = prepared().direct();
  auto& state = state_of(workspace, direct ? 1 : 3);
  const DeviceOrder& order = prepared().rows->on_device;
  // Powers alternate between two vectors so that the last one is where it belongs.
  std::vector<V*> y{direct ? const_cast<V*>(x.data()) : state.vectors[1].data()};
  V* result = direct ? last.data() : state.vectors[2].data();
  V* other = state.vectors[0].data();
  if (!direct) order.gather(x, state.vectors[1].span(), vectors(), stream);
  for (int k = 1; k <= power(); ++k) y.push_back((power() - k) % 2 == 0 ? result : other);
  detail::run_powers<V>(prepared().method, prepared().coefficients, y, vectors(), state.method,
                        stream);
  if (!direct) order.scatter(DeviceSpan<const V>(state.vectors[2].span()), last, vectors(), stream);
}

template <Value V>
void PowerPlan<V>::require_ended(Workspace& workspace, Stream& stream) const {
  auto& state = state_of(workspace, 0);
  if (prepared().sweep() != nullptr) prepared().sweep()->require_ended(state.method.sweep, stream);
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
  if (fingerprint_of(matrix.pattern()) != prepared().pattern) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  with_device_indices(matrix, [&](const Csr<V, std::int32_t>& same) {
    const PaddedOrder<std::int32_t>& order = prepared().rows->order;
    prepared_->method =
        detail::method_like(prepared().method, prepared().storage,
                            order.is_identity() ? same : reordered(same, order), stream);
  });
}

template <Value V>
const PowerCandidate& PowerPlan<V>::choice() const {
  return prepared().candidates.front();
}
template <Value V>
const std::vector<PowerCandidate>& PowerPlan<V>::candidates() const {
  return prepared().candidates;
}
template <Value V>
Offset PowerPlan<V>::levels() const {
  return prepared().levels;
}
template <Value V>
Offset PowerPlan<V>::bytes() const {
  return detail::bytes_of<V>(prepared().method) + prepared().rows->on_device.bytes();
}
template <Value V>
double PowerPlan<V>::setup_seconds() const {
  return prepared().setup_seconds;
}
template <Value V>
double PowerPlan<V>::break_even() const {
  const double saved = prepared().plain_seconds - choice().seconds();
  return saved > 0 ? prepared().setup_seconds / saved : 0;
}

template <Value V, Index I>
PowerPlan<V> plan_powers(const Csr<V, I>& matrix, const GpuPowerOptions& options, Stream& stream) {
  require_options(matrix, options);
  PowerPlan<V> plan;
  plan.prepared_ = with_device_indices(matrix, [&](const Csr<V, std::int32_t>& same) {
    return std::make_unique<detail::PreparedPowers<V>>(
        detail::prepare_powers<V>(same, options, stream));
  });
  return plan;
}

#define STRATA_INSTANTIATE_PLAN(V, unused) template class PowerPlan<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_PLAN, );
#define STRATA_INSTANTIATE(V, I)                                        \
  template void PowerPlan<V>::update_values(const Csr<V, I>&, Stream&); \
  template PowerPlan<V> plan_powers(const Csr<V, I>&, const GpuPowerOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
