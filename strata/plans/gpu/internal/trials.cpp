#include "strata/plans/gpu/internal/trials.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/device/array.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"
#include "strata/plans/internal/trials.hpp"

namespace strata::gpu::detail {

using I = std::int32_t;

template <Value V>
Trials<V>::Trials(const Csr<V, I>& matrix, const PowerOptions& options, Stream& stream)
    : matrix_(matrix), options_(options), stream_(stream) {
  steps_.assign(static_cast<std::size_t>(options.power),
                {.alpha = strata::detail::trial_scale(matrix)});
}

template <Value V>
bool Trials<V>::copies(const Rows& rows) const {
  return options_.vector_order == VectorOrder::caller && !rows.order.is_identity();
}

template <Value V>
Offset Trials<V>::bytes(const Rows& rows) const {
  const Offset longest = std::max(rows.order.padded_rows(), matrix_.cols());
  const Offset own = copies(rows) ? rows.order.rows() : 0;
  return (longest * (std::ssize(steps_) + 1) + own) * options_.vectors * Offset{sizeof(V)};
}

template <Value V>
void Trials<V>::make_vectors(Offset elements) {
  if (!arrays_.empty() && arrays_.front().size() >= elements) return;
  // Power k may stand in place of power k − 2.
  constexpr std::size_t kFewest = 2;
  arrays_.clear();
  try {
    for (std::size_t k = 0; k <= steps_.size(); ++k) arrays_.emplace_back(elements);
  } catch (const DeviceOutOfMemory&) {
    if (arrays_.size() < kFewest) throw;
    arrays_.resize(kFewest);
  }
}

template <Value V>
void Trials<V>::run(const Method<V>& method, const Rows& rows, MethodWorkspace<V>& workspace) {
  const Offset padded = Offset{rows.order.padded_rows()} * options_.vectors;
  const auto array = [&](std::size_t k) -> DeviceArray<V>& { return arrays_[k % arrays_.size()]; };
  std::vector<V*> y;
  for (std::size_t k = 0; k <= steps_.size(); ++k) y.push_back(array(k).data());
  if (copies(rows)) {
    rows.on_device.gather(std::as_const(callers_).span(), arrays_.front().subspan(0, padded),
                          options_.vectors, stream_);
  }
  run_powers<V>(method, steps_, y, options_.vectors, workspace, stream_);
  if (!copies(rows)) return;
  for (std::size_t k = 1; k <= steps_.size(); ++k) {
    rows.on_device.scatter(DeviceSpan<const V>(array(k).subspan(0, padded)), callers_.span(),
                           options_.vectors, stream_);
  }
}

template <Value V>
double Trials<V>::seconds_of(const Method<V>& method, const Rows& rows) {
  constexpr int kRuns = 5;
  const Offset elements =
      Offset{std::max(rows.order.padded_rows(), matrix_.cols())} * options_.vectors;
  if (elements == 0) return 0;
  make_vectors(elements);
  const std::vector<V> ones(static_cast<std::size_t>(elements), V(1));
  copy(std::span<const V>(ones), arrays_.front().subspan(0, elements), stream_);
  if (copies(rows)) {
    const Offset own = Offset{rows.order.rows()} * options_.vectors;
    if (callers_.size() != own) callers_ = DeviceArray<V>(own);
    copy(std::span<const V>(ones).first(static_cast<std::size_t>(own)), callers_.span(), stream_);
  }
  // What follows may throw, and the copies must have read the ones by then.
  stream_.synchronize();
  MethodWorkspace<V> workspace = workspace_of(method, options_.vectors, stream_);
  run(method, rows, workspace);
  double fastest = 0;
  for (int r = 0; r < kRuns; ++r) {
    Event before;
    Event after;
    before.record(stream_);
    run(method, rows, workspace);
    after.record(stream_);
    const double seconds = seconds_between(before, after);
    fastest = r == 0 ? seconds : std::min(fastest, seconds);
  }
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    sweep->require_ended(workspace.sweep, stream_);
  }
  return fastest;
}

#define STRATA_INSTANTIATE(V, unused) template class Trials<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
