#include "strata/plans/gpu/internal/trials.hpp"

#include <algorithm>
#include <cmath>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/array.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// ‖A‖∞.
template <Value V>
double largest_row_sum(const Csr<V, I>& matrix) {
  return parallel_reduce(
      matrix.rows(), 0.0,
      [&](Offset begin, Offset end) {
        double most = 0;
        for (Offset row = begin; row < end; ++row) {
          double sum = 0;
          for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
            sum += std::abs(matrix.values()[k]);
          }
          if (sum > most) most = sum;
        }
        return most;
      },
      [](double a, double b) { return std::max(a, b); });
}

}  // namespace

template <Value V>
Trials<V>::Trials(const Csr<V, I>& matrix, int power, int vectors, Stream& stream)
    : vectors_(vectors), stream_(stream) {
  using Real = decltype(std::abs(V{}));
  const double sum = largest_row_sum(matrix);
  steps_.assign(static_cast<std::size_t>(power),
                {V(static_cast<Real>(sum > 0 ? 1 / sum : 1)), V{}, V{}});
}

template <Value V>
Offset Trials<V>::bytes(I padded_rows) const {
  return Offset{padded_rows} * vectors_ * (std::ssize(steps_) + 1) * Offset{sizeof(V)};
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
double Trials<V>::seconds_of(const Method<V>& method, I padded_rows) {
  constexpr int kRuns = 5;
  const Offset elements = Offset{padded_rows} * vectors_;
  if (elements == 0) return 0;
  make_vectors(elements);
  const std::vector<V> ones(static_cast<std::size_t>(elements), V(1));
  copy(std::span<const V>(ones), arrays_.front().subspan(0, elements), stream_);
  std::vector<V*> y;
  for (std::size_t k = 0; k <= steps_.size(); ++k) {
    y.push_back(arrays_[k % arrays_.size()].data());
  }
  MethodWorkspace<V> workspace = workspace_of(method, vectors_, stream_);
  const auto run = [&] { run_powers<V>(method, steps_, y, vectors_, workspace, stream_); };
  run();
  std::vector<double> seconds;
  for (int r = 0; r < kRuns; ++r) {
    Event before;
    Event after;
    before.record(stream_);
    run();
    after.record(stream_);
    seconds.push_back(seconds_between(before, after));
  }
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    sweep->require_ended(workspace.sweep, stream_);
  }
  std::ranges::sort(seconds);
  return seconds[kRuns / 2];
}

#define STRATA_INSTANTIATE(V, unused) template class Trials<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
