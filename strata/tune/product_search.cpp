#include "strata/tune/product_search.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/bench/timing.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/kernels/cpu/stored_product.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/product_model.hpp"

namespace strata {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Enough for every thread to be busy, little enough to be converted in no time.
constexpr Offset kSampleEntries = Offset{1} << 18;
constexpr Offset kRunsOfSample = 16;
constexpr double kSampleSeconds = 2e-3;  // of timing, per candidate

// A candidate whose matrix has been stored.
template <Value V>
struct Ready {
  std::shared_ptr<const cpu::StoredProduct<V>> product;
  Array<V> scratch;
};

template <Value V, Index I>
class Search {
 public:
  Search(const Csr<V, I>& matrix, const MachineProfile& profile, const SearchOptions& options)
      : matrix_(matrix),
        profile_(profile),
        options_(options),
        x_(static_cast<std::size_t>(matrix.cols()), V{1}),
        y_(static_cast<std::size_t>(matrix.rows()), V{}) {}

  ProductSearch run() {
    const Clock::time_point begin = Clock::now();
    collect();
    if (!options_.exhaustive) {
      rank();
    }
    time_best();
    compare_with_csr();
    std::ranges::stable_sort(products_, {}, place_of);
    ProductSearch found{.products = std::move(products_)};
    found.timed = static_cast<int>(
        std::ranges::count_if(found.products, [](const auto& each) { return each.seconds > 0; }));
    found.seconds = seconds_since(begin);
    return found;
  }

 private:
  static std::pair<int, double> place_of(const SearchedProduct& product) {
    if (product.seconds > 0) return {0, product.seconds};
    if (product.refusal.empty()) return {1, product.predicted_seconds()};
    return {2, 0};
  }
  static bool is_baseline(const SearchedProduct& product) {
    return product.spec == ProductSpec{FormatSpec(Format::csr)};
  }

  void report(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  void collect() {
    auto specs = parse_product_list("all", statistics_of(matrix_), KernelTarget::processor);
    specs.insert(specs.end(), options_.more.begin(), options_.more.end());
    for (const ProductSpec& spec : specs) {
      const auto same = [&](const SearchedProduct& known) { return known.spec == spec; };
      if (std::ranges::none_of(products_, same)) products_.push_back({.spec = spec});
    }
  }

  // What each should take, from a sample of rows and from its bytes.
  void rank() {
    report("ranking products on a sample of rows");
    const Csr<V, I> sample = sample_of_rows(matrix_, kSampleEntries);
    const double share = static_cast<double>(std::max<Offset>(sample.nnz(), 1)) /
                         static_cast<double>(std::max<Offset>(matrix_.nnz(), 1));
    Array<V> y(static_cast<std::size_t>(sample.rows()), V{});
    for (SearchedProduct& product : products_) {
      const auto ready = store(sample, product);
      if (!ready) continue;
      const Timing timing = time_runs([&] { multiply(*ready, y); },
                                      {.min_seconds = kSampleSeconds, .min_repetitions = 3});
      product.sampled_seconds = timing.minimum / share;
      const double bytes = static_cast<double>(ready->product->bytes()) / share + vectors().bytes();
      product.bandwidth_seconds =
          bytes / profile_.read_bandwidth(thread_count(), static_cast<Offset>(bytes));
    }
  }

  VectorTraffic vectors() const {
    return {.rows = matrix_.rows(), .cols = matrix_.cols(), .value_bytes = sizeof(V)};
  }

  // CSR, which all are compared with, and the best of the others.
  std::vector<SearchedProduct*> finalists() {
    std::vector<SearchedProduct*> ranked;
    for (SearchedProduct& product : products_) {
      if (product.refusal.empty()) ranked.push_back(&product);
    }
    if (options_.exhaustive) return ranked;
    std::ranges::stable_sort(ranked, {}, [](const SearchedProduct* product) {
      return std::pair(!is_baseline(*product), product->predicted_seconds());
    });
    const auto count = std::min<std::size_t>(ranked.size(), 1 + options_.timed);
    ranked.resize(count);
    return ranked;
  }

  void time_best() {
    std::vector<std::unique_ptr<Ready<V>>> ready;
    std::vector<SearchedProduct*> running;
    for (SearchedProduct* product : finalists()) {
      report("converting to " + label_of(product->spec));
      const Clock::time_point begin = Clock::now();
      auto stored = store(matrix_, *product);
      if (!stored) continue;
      product->setup_seconds = seconds_since(begin);
      product->bytes = stored->product->bytes();
      ready.push_back(std::move(stored));
      running.push_back(product);
    }
    std::vector<std::function<void()>> runs;
    for (const auto& each : ready) {
      runs.emplace_back([this, &each] { multiply(*each, y_); });
    }
    report("timing the best products in turn");
    const auto timings = time_interleaved(runs, {.min_seconds = options_.min_seconds});
    for (std::size_t i = 0; i < running.size(); ++i) running[i]->seconds = timings[i].median;
  }

  // The matrix in the product's format; null, and the reason in the product, if it refuses.
  std::unique_ptr<Ready<V>> store(const Csr<V, I>& matrix, SearchedProduct& product) const {
    try {
      auto ready = std::make_unique<Ready<V>>();
      ready->product = cpu::store_product(matrix, product.spec);
      ready->scratch = Array<V>(ready->product->scratch_elements(1));
      return ready;
    } catch (const Error& error) {
      product.refusal = error.what();
      return nullptr;
    }
  }

  void multiply(Ready<V>& ready, Array<V>& y) const {
    ready.product->run({}, {x_.data(), nullptr, y.data(), 1}, ready.scratch);
  }

  void compare_with_csr() {
    const auto csr = std::ranges::find_if(products_, is_baseline);
    if (csr == products_.end() || csr->seconds == 0) return;
    const SetupAndProduct baseline{csr->setup_seconds, csr->seconds};
    for (SearchedProduct& product : products_) {
      if (product.seconds == 0) continue;
      product.break_even = break_even_products({product.setup_seconds, product.seconds}, baseline);
    }
  }

  const Csr<V, I>& matrix_;
  const MachineProfile& profile_;
  const SearchOptions& options_;
  Array<V> x_;
  Array<V> y_;
  std::vector<SearchedProduct> products_;
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
    const Offset enough = std::ssize(values) + entries / kRunsOfSample;
    for (; row < matrix.rows() && std::ssize(values) < enough; ++row) {
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

template <Value V, Index I>
ProductSearch search_products(const Csr<V, I>& matrix, const MachineProfile& profile,
                              const SearchOptions& options) {
  if (options.timed < 1 || !(options.min_seconds >= 0)) {
    throw InvalidArgument("a search times one candidate or more, and not for less than no time");
  }
  return Search<V, I>(matrix, profile, options).run();
}

#define STRATA_INSTANTIATE(V, I)                                                  \
  template ProductSearch search_products(const Csr<V, I>&, const MachineProfile&, \
                                         const SearchOptions&);                   \
  template Csr<V, I> sample_of_rows(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
