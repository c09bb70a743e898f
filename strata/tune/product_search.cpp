#include "strata/tune/product_search.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/cpu/stored_product.hpp"
#include "strata/tune/internal/search.hpp"

namespace strata {

namespace {

constexpr Offset kRunsOfSample = 16;
// Runs of rows begin at multiples of this, and have so many rows, or several times: blocks of any
// shape are then what they are in the matrix.
constexpr Offset kAlignment = 24;

// The threads of this processor.
template <Value V, Index I>
class ProcessorBackend {
 public:
  using value_type = V;
  using index_type = I;
  struct Stored {
    std::unique_ptr<const cpu::StoredProduct<V>> product;
    Array<V> scratch;
  };

  static constexpr KernelTarget kTarget = KernelTarget::processor;
  static constexpr bool kWriteAllocate = true;

  ProcessorBackend(const Csr<V, I>& matrix, const MachineProfile& profile, int vectors)
      : profile_(profile), vectors_(vectors), x_(elements(matrix.cols()), V{1}) {}

  // Enough for every thread to be busy, little enough to be converted in no time.
  Offset sample_entries() const { return Offset{1} << 18; }

  std::unique_ptr<Stored> store(const Csr<V, I>& matrix, const ProductSpec& spec) {
    auto stored = std::make_unique<Stored>();
    stored->product = cpu::store_product(matrix, spec);
    stored->scratch = Array<V>(stored->product->scratch_elements(vectors_));
    if (y_.size() < elements(matrix.rows())) y_ = Array<V>(elements(matrix.rows()), V{});
    return stored;
  }
  bool is_refusal(const Error&) const { return true; }
  Offset bytes_of(const Stored& stored) const { return stored.product->bytes(); }
  void run(Stored& stored) {
    stored.product->run({}, {x_.data(), nullptr, y_.data(), vectors_}, stored.scratch);
  }

  int workers() const { return thread_count(); }
  double bandwidth(Offset working_set) const {
    return profile_.read_bandwidth(thread_count(), working_set);
  }

  TimingOptions sample_timing() const {
    return {.min_seconds = kSampleSeconds, .min_repetitions = 2};
  }
  TimingOptions timing(double min_seconds) const { return {.min_seconds = min_seconds}; }
  const Stopwatch& stopwatch() const { return host_stopwatch(); }

 private:
  static constexpr double kSampleSeconds = 5e-4;  // of timing, per candidate and round

  std::size_t elements(Offset rows) const {
    return static_cast<std::size_t>(
        checked_multiply<Offset>(rows, vectors_, "the elements of vectors"));
  }

  const MachineProfile& profile_;
  int vectors_;
  Array<V> x_;
  Array<V> y_;
};

}  // namespace

template <Value V, Index I>
Csr<V, I> sample_of_rows(const Csr<V, I>& matrix, Offset entries) {
  if (matrix.nnz() <= entries) return matrix;
  const auto offsets = matrix.row_offsets();
  Array<Offset> row_offsets(1, 0);
  Array<I> columns;
  Array<V> values;
  for (Offset run = 0; run < kRunsOfSample; ++run) {
    // From the middle of each of the equal parts of the entries, whole rows only.
    const Offset middle = matrix.nnz() / kRunsOfSample * run + matrix.nnz() / (2 * kRunsOfSample);
    Offset row = std::ranges::upper_bound(offsets, middle) - offsets.begin() - 1;
    row -= row % kAlignment;
    const Offset enough = std::ssize(values) + entries / kRunsOfSample;
    const auto wanted = [&] {
      const Offset aligned = std::ssize(row_offsets) - 1;
      return std::ssize(values) < enough ||
             (aligned % kAlignment != 0 && std::ssize(values) < enough + entries / kRunsOfSample);
    };
    for (; row < matrix.rows() && wanted(); ++row) {
      // Of a row that is longer than its share, the beginning tells as much.
      const Offset end = std::min(offsets[row + 1], offsets[row] + entries / kRunsOfSample);
      columns.insert(columns.end(), matrix.columns().begin() + offsets[row],
                     matrix.columns().begin() + end);
      values.insert(values.end(), matrix.values().begin() + offsets[row],
                    matrix.values().begin() + end);
      row_offsets.push_back(std::ssize(values));
    }
  }
  return {static_cast<I>(row_offsets.size() - 1), matrix.cols(), std::move(row_offsets),
          std::move(columns), std::move(values)};
}

double ProductSearch::distance() const {
  double chosen = 0;
  for (const SearchedProduct& product : products) {
    if (!product.contender || product.seconds == 0) continue;
    chosen = chosen == 0 ? product.seconds : std::min(chosen, product.seconds);
  }
  return chosen == 0 ? 0 : chosen / best().seconds - 1;
}

template <Value V, Index I>
std::vector<SearchedProduct> rank_products(const Csr<V, I>& matrix, const MachineProfile& profile,
                                           const SearchOptions& options) {
  detail::require_sense(options);
  ProcessorBackend<V, I> processor(matrix, profile, options.vectors);
  return detail::Search(matrix, processor, options).ranked();
}

template <Value V, Index I>
ProductSearch search_products(const Csr<V, I>& matrix, const MachineProfile& profile,
                              const SearchOptions& options) {
  detail::require_sense(options);
  ProcessorBackend<V, I> processor(matrix, profile, options.vectors);
  return detail::Search(matrix, processor, options).run();
}

#define STRATA_INSTANTIATE(V, I)                                                               \
  template ProductSearch search_products(const Csr<V, I>&, const MachineProfile&,              \
                                         const SearchOptions&);                                \
  template std::vector<SearchedProduct> rank_products(const Csr<V, I>&, const MachineProfile&, \
                                                      const SearchOptions&);                   \
  template Csr<V, I> sample_of_rows(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
