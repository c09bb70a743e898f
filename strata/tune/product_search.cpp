#include "strata/tune/product_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
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
constexpr double kSampleSeconds = 5e-4;     // of timing, per candidate and round
constexpr double kUnknownBandwidth = 1e10;  // of a profile without any
constexpr Offset kSmallSample = 64;         // times as small: what does not grow with entries
constexpr int kRounds = 3;                  // so that who is disturbed in one is not in all
constexpr int kMostOfFormat = 3;            // of the candidates that are timed
// Runs of rows begin at multiples of this, and have so many rows, or several times: blocks of any
// shape are then what they are in the matrix.
constexpr Offset kAlignment = 24;

// Formats that store where columns are relative to the row: rows of a sample have other numbers.
bool needs_all_rows(Format format) {
  return format == Format::dia || format == Format::symmetric_csr;
}

// What the kernels of these are taken to need of the time of CSR's: DIA has no columns to load,
// symmetric CSR adds to two results for every entry.
double share_of_csr_kernel(Format format) {
  return format == Format::dia ? 0.5 : 1.4;
}

bool is_baseline(const SearchedProduct& product) {
  return product.spec == ProductSpec{FormatSpec(Format::csr)};
}

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
        statistics_(statistics_of(matrix)),
        x_(elements(matrix.cols()), V{1}),
        y_(elements(matrix.rows()), V{}) {}

  std::vector<SearchedProduct> ranked() {
    collect();
    rank();
    return std::move(products_);
  }

  ProductSearch run() {
    const Clock::time_point begin = Clock::now();
    collect();
    rank();
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
    if (product.refusal.empty()) return {1, product.predicted.seconds()};
    return {2, 0};
  }

  std::size_t elements(Offset rows) const {
    return static_cast<std::size_t>(
        checked_multiply<Offset>(rows, options_.vectors, "the elements of vectors"));
  }

  void report(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  void collect() {
    auto specs = options_.only.empty()
                     ? parse_product_list("all", statistics_, KernelTarget::processor)
                     : options_.only;
    specs.insert(specs.end(), options_.more.begin(), options_.more.end());
    for (const ProductSpec& spec : specs) {
      const auto same = [&](const SearchedProduct& known) { return known.spec == spec; };
      if (std::ranges::none_of(products_, same)) products_.push_back({.spec = spec});
    }
  }

  // What each should take, from a sample of rows and from its bytes.
  void rank() {
    if (options_.sampled) {
      report("ranking products on a sample of rows");
      rank_by_sample(sample_of_rows(matrix_, kSampleEntries));
    } else {
      for (SearchedProduct& product : products_) rank_by_bytes(product);
    }
    std::ranges::stable_sort(products_, {}, place_of);
    for (std::size_t i = 0; i < products_.size(); ++i) products_[i].rank = static_cast<int>(i);
    find_contenders();
  }

  // CSR, which all are compared with, and the best of the others. What a sample says too well of a
  // format, it says of all its parameters.
  void find_contenders() {
    std::vector<Format> taken;
    for (SearchedProduct& product : products_) {
      if (!product.refusal.empty()) return;
      const Format format = product.spec.format.format();
      if (is_baseline(product)) {
        product.contender = true;
      } else if (std::ssize(taken) < options_.timed &&
                 std::ranges::count(taken, format) < kMostOfFormat) {
        product.contender = true;
        taken.push_back(format);
      }
    }
  }

  void rank_by_sample(const Csr<V, I>& sample) {
    if (sample.nnz() == matrix_.nnz()) {
      for (const Sampled& each : sampled_products(sample)) {
        each.product->predicted_bytes = each.bytes();
        each.product->predicted.kernel_seconds = each.seconds;
      }
      return;
    }
    extrapolate(sampled_products(sample), sample.nnz());
    const auto csr = std::ranges::find_if(products_, is_baseline);
    for (SearchedProduct& product : products_) {
      const Format format = product.spec.format.format();
      if (!needs_all_rows(format)) continue;
      rank_by_bytes(product);
      if (csr == products_.end() || !product.refusal.empty()) continue;
      product.predicted.kernel_seconds =
          share_of_csr_kernel(format) * csr->predicted.kernel_seconds;
    }
  }

  // A product of a sample.
  struct Sampled {
    SearchedProduct* product;
    std::unique_ptr<Ready<V>> ready;
    double seconds = 0;

    double bytes() const { return static_cast<double>(ready->product->bytes()); }
  };

  // The products that take the sample, timed; of a part of the matrix those that it tells about.
  std::vector<Sampled> sampled_products(const Csr<V, I>& sample) {
    const bool whole = sample.nnz() == matrix_.nnz();
    std::vector<Sampled> sampled;
    for (SearchedProduct& product : products_) {
      if (!product.refusal.empty()) continue;
      if (needs_all_rows(product.spec.format.format()) && !whole) continue;
      if (auto ready = store(sample, product)) sampled.push_back({&product, std::move(ready)});
    }
    Array<V> y(elements(sample.rows()), V{});
    for (int round = 0; round < kRounds; ++round) {
      for (Sampled& each : sampled) {
        const double seconds = time_runs([&] { multiply(*each.ready, y); },
                                         {.min_seconds = kSampleSeconds, .min_repetitions = 2})
                                   .minimum;
        each.seconds = round == 0 ? seconds : std::min(each.seconds, seconds);
      }
    }
    return sampled;
  }

  // From a sample to the matrix, with the help of a much smaller one: what does not grow with the
  // entries counts once.
  void extrapolate(const std::vector<Sampled>& sampled, Offset entries) {
    const Csr<V, I> small_sample = sample_of_rows(matrix_, kSampleEntries / kSmallSample);
    const Offset few = small_sample.nnz();
    for (const Sampled& small : sampled_products(small_sample)) {
      const auto large = std::ranges::find(sampled, small.product, &Sampled::product);
      if (large == sampled.end()) continue;
      const auto to_matrix = [&](double of_small, double of_large) {
        return few < entries
                   ? extrapolated({few, of_small}, {entries, of_large}, matrix_.nnz())
                   : of_large * static_cast<double>(matrix_.nnz()) / static_cast<double>(entries);
      };
      small.product->predicted.kernel_seconds = to_matrix(small.seconds, large->seconds);
      expect_bytes(*small.product, to_matrix(small.bytes(), large->bytes()), large->bytes());
    }
  }

  void rank_by_bytes(SearchedProduct& product) const {
    try {
      const Footprint whole = footprint(matrix_, product.spec.format);
      require_fill(whole, kDefaultMaxFill, label_of(product.spec));
      expect_bytes(product, static_cast<double>(whole.bytes()));
    } catch (const Error& error) {
      product.refusal = error.what();
    }
  }

  // A sample of so many bytes has waited for them already, if they come from where all would.
  void expect_bytes(SearchedProduct& product, double of_matrix, double of_sample = 0) const {
    product.predicted_bytes = of_matrix;
    const auto bandwidth = [&](double working_set) {
      const double measured =
          profile_.read_bandwidth(thread_count(), static_cast<Offset>(working_set));
      return measured > 0 ? measured : kUnknownBandwidth;
    };
    const double bytes = of_matrix + options_.vectors * vectors().bytes();
    const bool waited = of_sample > 0 && bandwidth(of_sample) <= bandwidth(bytes);
    product.predicted.memory_seconds = waited ? 0 : bytes / bandwidth(bytes);
  }

  VectorTraffic vectors() const {
    return {.rows = matrix_.rows(), .cols = matrix_.cols(), .value_bytes = sizeof(V)};
  }

  std::vector<SearchedProduct*> finalists() {
    std::vector<SearchedProduct*> running;
    for (SearchedProduct& product : products_) {
      if (product.contender || (options_.exhaustive && product.refusal.empty())) {
        running.push_back(&product);
      }
    }
    return running;
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
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i]->seconds = timings[i].median;
      running[i]->miss = miss_of(*running[i]);
    }
  }

  std::string miss_of(const SearchedProduct& product) const {
    return cause_of_miss({.spec = product.spec,
                          .predicted = product.predicted,
                          .predicted_bytes = product.predicted_bytes,
                          .seconds = product.seconds,
                          .bytes = static_cast<double>(product.bytes),
                          .threads = thread_count()},
                         statistics_);
  }

  // The matrix in the product's format; null, and the reason in the product, if it refuses.
  std::unique_ptr<Ready<V>> store(const Csr<V, I>& matrix, SearchedProduct& product) const {
    try {
      auto ready = std::make_unique<Ready<V>>();
      ready->product = cpu::store_product(matrix, product.spec);
      ready->scratch = Array<V>(ready->product->scratch_elements(options_.vectors));
      return ready;
    } catch (const Error& error) {
      product.refusal = error.what();
      return nullptr;
    }
  }

  void multiply(Ready<V>& ready, Array<V>& y) const {
    ready.product->run({}, {x_.data(), nullptr, y.data(), options_.vectors}, ready.scratch);
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
  MatrixStatistics statistics_;
  Array<V> x_;
  Array<V> y_;
  std::vector<SearchedProduct> products_;
};

void require_sense(const SearchOptions& options) {
  if (options.timed < 1 || !(options.min_seconds >= 0)) {
    throw InvalidArgument("a search times one candidate or more, and not for less than no time");
  }
  if (options.vectors < 1 || options.vectors > cpu::kMaxVectors) {
    throw InvalidArgument(
        fmt::format("products have 1 to {} vectors, not {}", cpu::kMaxVectors, options.vectors));
  }
}

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
  require_sense(options);
  return Search<V, I>(matrix, profile, options).ranked();
}

template <Value V, Index I>
ProductSearch search_products(const Csr<V, I>& matrix, const MachineProfile& profile,
                              const SearchOptions& options) {
  require_sense(options);
  return Search<V, I>(matrix, profile, options).run();
}

#define STRATA_INSTANTIATE(V, I)                                                               \
  template ProductSearch search_products(const Csr<V, I>&, const MachineProfile&,              \
                                         const SearchOptions&);                                \
  template std::vector<SearchedProduct> rank_products(const Csr<V, I>&, const MachineProfile&, \
                                                      const SearchOptions&);                   \
  template Csr<V, I> sample_of_rows(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
