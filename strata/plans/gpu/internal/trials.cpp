#include "strata/plans/gpu/internal/trials.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/array.hpp"
#include "strata/device/error.hpp"
#include "strata/device/timing.hpp"
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
Offset Trials<V>::elements_for(const Rows& rows) const {
  if (rows.order.padded_rows() == 0) return 0;
  return Offset{std::max(rows.order.padded_rows(), matrix_.cols())} * options_.vectors;
}

// Whether they are new.
template <Value V>
bool Trials<V>::make_vectors(Offset elements) {
  if (!arrays_.empty() && arrays_.front().size() >= elements) return false;
  // Power k may stand in place of power k − 2.
  constexpr std::size_t kFewest = 2;
  arrays_.clear();
  try {
    for (std::size_t k = 0; k <= steps_.size(); ++k) arrays_.emplace_back(elements);
  } catch (const DeviceOutOfMemory&) {
    if (arrays_.size() < kFewest) throw;
    arrays_.resize(kFewest);
  }
  return true;
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

namespace {

// With the same bytes everywhere, which make any type of values a number that is not special: 0.75
// in single and 0.0005 in double precision.
template <Value V>
void fill_evenly(DeviceSpan<V> vector, Stream& stream) {
  gpu::detail::fill_bytes(vector.data(), std::byte{0x3f}, vector.bytes(), stream);
}

}  // namespace

// Vectors for all of them. Runs do not change y_0, unless powers take turns in it, and
// leave vectors in the caller's order that are as good.
template <Value V>
void Trials<V>::load_vectors(const std::vector<Runner>& runners) {
  Offset elements = 0;
  Offset own = 0;
  for (const Runner& runner : runners) {
    elements = std::max(elements, elements_for(*runner.rows));
    if (copies(*runner.rows)) own = Offset{runner.rows->order.rows()} * options_.vectors;
  }
  const bool changed = arrays_.size() <= steps_.size();
  if (make_vectors(elements) || changed) fill_evenly(arrays_.front().span(), stream_);
  if (own > 0 && callers_.size() != own) {
    callers_ = DeviceArray<V>(own);
    fill_evenly(callers_.span(), stream_);
  }
}

template <Value V>
double Trials<V>::seconds_of(const Method<V>& method, const Rows& rows, double beaten) {
  // The first run warms up; a short one is timed once more than a long one.
  constexpr int kSamples = 3;
  constexpr int kLongSamples = 2;
  if (elements_for(rows) == 0) return 0;
  load_vectors({{&method, &rows}});
  MethodWorkspace<V> workspace = workspace_of(method, options_.vectors, stream_);
  const Stopwatch stopwatch = device_stopwatch(stream_);
  const std::function<void()> once = [&] { run(method, rows, workspace); };
  double fastest =
      time_runs(once, {.min_seconds = 0, .min_repetitions = 1, .warm_up = 0}, stopwatch).minimum;
  if (fastest <= beaten) {
    constexpr double kShortest = 1e-9;  // of any run
    const auto runs =
        static_cast<int>(std::ceil(stopwatch.shortest_sample / std::max(fastest, kShortest)));
    for (int sample = 1; sample < (runs > 1 ? kSamples : kLongSamples); ++sample) {
      fastest = std::min(fastest, stopwatch.seconds_of(once, runs) / runs);
    }
  }
  require_ended(method, workspace, stream_);
  return fastest;
}

template <Value V>
std::vector<double> Trials<V>::seconds_in_turn(const std::vector<Runner>& runners) {
  constexpr int kSamples = 15;
  load_vectors(runners);
  std::vector<MethodWorkspace<V>> workspaces;
  for (const Runner& runner : runners) {
    workspaces.push_back(workspace_of(*runner.method, options_.vectors, stream_));
  }
  std::vector<std::function<void()>> runs;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    runs.emplace_back([this, &runner = runners[i], &workspace = workspaces[i]] {
      run(*runner.method, *runner.rows, workspace);
    });
  }
  std::vector<double> seconds;
  for (const Timing& timing : time_interleaved(
           runs, {.min_seconds = 0, .min_repetitions = kSamples}, device_stopwatch(stream_))) {
    seconds.push_back(timing.minimum);
  }
  return seconds;
}

#define STRATA_INSTANTIATE(V, unused) template class Trials<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
