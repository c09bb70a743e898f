#include "strata/plans/internal/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata::detail {

template <Value V, Index I>
V trial_scale(const Csr<V, I>& matrix) {
  constexpr Offset kSample = 4096;
  double largest = 0;  // sum of a row's absolute values
  const Offset stride = std::max<Offset>(matrix.rows() / kSample, 1);
  for (Offset row = 0; row < matrix.rows(); row += stride) {
    double sum = 0;
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      sum += static_cast<double>(std::abs(matrix.values()[k]));
    }
    if (std::isfinite(sum)) largest = std::max(largest, sum);
  }
  using Real = decltype(std::abs(V{}));
  return V(static_cast<Real>(1 / std::max(4 * largest, 1e-30)));
}

template <Value V, Index I>
double Trials<V, I>::entry_seconds(const StoredMatrix<V, I>& stored, I cols,
                                   FunctionRef<Offset(RowRange<I>)> entries_of) {
  constexpr double kProbeSeconds = 0.0002;
  constexpr int kProbeRuns = 4;
  if (stored.nnz() == 0) return 0;
  // Some rows, of an order that may have more columns than the matrix.
  make_vectors(std::max<Offset>(stored.rows(), cols), 1);
  const Array<I> cuts =
      cut_rows<I>(stored.bytes_before(), {0, stored.rows()}, kProbeBytes, stored.row_alignment());
  const std::size_t middle = (cuts.size() - 1) / 2;
  // Where values take next to nothing, x and y fill the cache.
  const Offset vector_rows = kProbeBytes / (2 * Offset{sizeof(V)} * options_.vectors);
  const Offset most_rows =
      std::max<Offset>(vector_rows / stored.row_alignment(), 1) * stored.row_alignment();
  const RowRange<I> probed{
      cuts[middle], static_cast<I>(std::min<Offset>(cuts[middle + 1], cuts[middle] + most_rows))};
  const Offset entries = entries_of(probed);
  if (entries == 0) return 0;
  double fastest = std::numeric_limits<double>::infinity();
  const double begin = now();
  for (int run = 0; run < kProbeRuns || now() - begin < kProbeSeconds; ++run) {
    const double start = now();
    stored.step(coefficients(), vectors_of(1), probed);
    fastest = std::min(fastest, now() - start);
  }
  return fastest / static_cast<double>(entries);
}

namespace {

// The first task whose data begin at so many pieces or later.
template <Index I>
std::size_t first_task(const Sweep<I>& sweep, int number, int pieces) {
  const std::size_t tasks = sweep.schedule().tasks.size();
  const Offset begin = chunk_of(sweep.bytes_before(tasks), number, pieces).begin;
  std::size_t low = 0;
  for (std::size_t high = tasks; low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (sweep.bytes_before(middle) < begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

template <Value V, Index I>
double Trials<V, I>::application_seconds(const Arrangement<V, I>& arrangement,
                                         const Sweep<I>& sweep, int threads, SweepPiece piece) {
  const std::size_t tasks = sweep.schedule().tasks.size();
  std::size_t first = piece.number == 0 ? 0 : first_task(sweep, piece.number, piece.of);
  std::size_t last =
      piece.number + 1 == piece.of ? tasks : first_task(sweep, piece.number + 1, piece.of);
  if (sweep.bytes_before(first) == sweep.bytes_before(last)) {
    first = 0;
    last = tasks;
  }
  const Offset bytes = sweep.bytes_before(last) - sweep.bytes_before(first);
  make_vectors(arrangement.matrix.rows(), sweep.schedule().power);
  std::vector<ProgressCounter> counters(threads);
  const cpu::StepCoefficients<V> step = coefficients();
  const double start = now();
  sweep.run_some(counters, first, last, [&](const typename Sweep<I>::Step& task) {
    arrangement.matrix.step(step, vectors_of(task.power), task.rows, task.upcoming);
  });
  const double end = now();
  const double of_sweep =
      bytes == 0 ? 1 : static_cast<double>(sweep.bytes_before(tasks)) / static_cast<double>(bytes);
  const double share = of_sweep * options_.power / sweep.schedule().power;
  const PaddedOrder<I>& order = arrangement.order;
  if (options_.vector_order == VectorOrder::plan || order.is_identity()) {
    return (end - start) * share;
  }
  const auto elements = [&](I rows) { return static_cast<std::size_t>(rows) * options_.vectors; };
  order.template scatter<V>(std::span(vectors_[1]).first(elements(order.padded_rows())),
                            std::span(vectors_[0]).first(elements(order.rows())), options_.vectors);
  // To choose p, every sweep is an application of its own.
  const double copies =
      options_.products > 0 ? share * (sweep.schedule().power + 1) : options_.power + 1.0;
  return (end - start) * share + (now() - end) * copies;
}

template <Value V, Index I>
double Trials<V, I>::application_seconds(const cpu::StoredProduct<V>& product) {
  make_vectors(matrix_.rows(), 1);
  const auto needed = static_cast<std::size_t>(product.scratch_elements(options_.vectors));
  if (scratch_.size() < needed) scratch_.resize(needed);
  const cpu::StepCoefficients<V> step = coefficients();
  const cpu::StepVectors<V> vectors = vectors_of(1);
  const double start = now();
  product.run(step, vectors, scratch_);
  return (now() - start) * options_.power;
}

template <Value V, Index I>
void Trials<V, I>::make_vectors(Offset rows, int powers) {
  const auto elements =
      static_cast<std::size_t>(std::max<Offset>(rows, matrix_.cols()) * options_.vectors);
  vectors_.resize(std::max(vectors_.size(), static_cast<std::size_t>(powers) + 1));
  for (Array<V>& vector : vectors_) {
    if (vector.size() >= elements) continue;
    vector = {};  // what it holds is not worth a copy
    vector.resize(elements);
    parallel_for(static_cast<Offset>(elements),
                 [&](Offset i) { vector[i] = V(1 + static_cast<float>(i % 8) / 8); });
  }
}

template <Value V, Index I>
cpu::StepVectors<V> Trials<V, I>::vectors_of(int power) {
  return {vectors_[power - 1].data(), nullptr, vectors_[power].data(), options_.vectors};
}

template <Value V, Index I>
V Trials<V, I>::fitting_scale() const {
  const V scale = trial_scale(matrix_);
  const cpu::StepCoefficients<V> first = options_.basis.template step<V>(1);
  const double growth = -std::log10(static_cast<double>(std::abs(scale))) * options_.power;
  const double most = std::numeric_limits<decltype(std::abs(V{}))>::max_exponent10 - 2;
  const bool plain = first.alpha == V{1} && first.shift == V{};
  return plain && std::abs(growth) < most ? V{1} : scale;
}

template <Value V, Index I>
cpu::StepCoefficients<V> Trials<V, I>::coefficients() {
  if (scale_ == V{}) scale_ = fitting_scale();
  return {.alpha = scale_};
}

#define STRATA_INSTANTIATE(V, I)            \
  template V trial_scale(const Csr<V, I>&); \
  template class Trials<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
