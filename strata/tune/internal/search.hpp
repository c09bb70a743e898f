// The search for the fastest product, on any device: candidates are ranked by a sample of rows and
// by their bytes, the best few are stored whole and timed in turn. What a device is, its backend
// says; product_search.cpp has that of processors, gpu/product_search.cpp that of GPUs.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/bench/timing.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/product_model.hpp"
#include "strata/tune/product_search.hpp"

namespace strata::detail {

template <class B>
using MatrixOf = Csr<typename B::value_type, typename B::index_type>;

// Where products are searched. It holds x, and y for whatever it has stored.
template <class B>
concept SearchBackend =
    requires(B& backend, const MatrixOf<B>& matrix, const ProductSpec& spec,
             typename B::Stored& stored, const Error& error, Offset bytes, double seconds) {
      { B::kTarget } -> std::convertible_to<KernelTarget>;
      // Of a sample: enough for all of the device to be busy.
      { backend.sample_entries() } -> std::same_as<Offset>;
      // The matrix, ready to run. Throws an Error that is_refusal() if the product does not take
      // it.
      { backend.store(matrix, spec) } -> std::same_as<std::unique_ptr<typename B::Stored>>;
      { backend.is_refusal(error) } -> std::same_as<bool>;
      { backend.bytes_of(stored) } -> std::same_as<Offset>;  // that a product reads
      { backend.run(stored) };                               // one product
      // That share the rows: threads of a processor, multiprocessors of a GPU.
      { backend.workers() } -> std::same_as<int>;
      // Of reading a working set again and again; 0 if nobody knows.
      { backend.bandwidth(bytes) } -> std::same_as<double>;
      { B::kWriteAllocate } -> std::convertible_to<bool>;
      // How a sample is timed, and whole matrices for so many seconds each.
      { backend.sample_timing() } -> std::same_as<TimingOptions>;
      { backend.timing(seconds) } -> std::same_as<TimingOptions>;
      { backend.stopwatch() } -> std::convertible_to<const Stopwatch&>;
    };

// Throws InvalidArgument for options that make no sense.
void require_sense(const SearchOptions& options);

// Formats that store where columns are relative to the row: rows of a sample have other numbers.
bool needs_all_rows(Format format);
// What the kernels of these are taken to need of the time of CSR's.
double share_of_csr_kernel(Format format);
// CSR, which all are compared with.
bool is_baseline(const SearchedProduct& product);
// CSR and the best of the others, by their rank.
void find_contenders(std::vector<SearchedProduct>& ranked, int timed);
// By measured time, then by predicted time; what refuses the matrix comes last.
void sort_by_place(std::vector<SearchedProduct>& products);
// After how many products each has paid off.
void compare_with_csr(std::vector<SearchedProduct>& products);

template <SearchBackend B>
class Search {
 public:
  Search(const MatrixOf<B>& matrix, B& backend, const SearchOptions& options)
      : matrix_(matrix), backend_(backend), options_(options) {}

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
    compare_with_csr(products_);
    sort_by_place(products_);
    ProductSearch found{.products = std::move(products_)};
    found.timed = static_cast<int>(
        std::ranges::count_if(found.products, [](const auto& each) { return each.seconds > 0; }));
    found.seconds = seconds_since(begin);
    return found;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Stored = typename B::Stored;

  static constexpr int kRounds = 3;                  // who is disturbed in one is not in all
  static constexpr Offset kSmallSample = 64;         // times as small: what does not grow
  static constexpr double kUnknownBandwidth = 1e10;  // of a profile without any

  // A product of a sample.
  struct Sampled {
    SearchedProduct* product;
    std::unique_ptr<Stored> stored;
    double bytes = 0;
    double seconds = 0;
  };

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  // Takes some passes over the matrix: only where they are needed.
  const MatrixStatistics& statistics() const {
    if (!statistics_) statistics_ = statistics_of(matrix_);
    return *statistics_;
  }

  // Without entries no clock sees anything of some products, and no choice matters.
  bool has_work() const { return matrix_.nnz() > 0; }

  void report(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  void collect() {
    auto specs =
        options_.only.empty() ? parse_product_list("all", statistics(), B::kTarget) : options_.only;
    specs.insert(specs.end(), options_.more.begin(), options_.more.end());
    for (const ProductSpec& spec : specs) {
      const auto same = [&](const SearchedProduct& known) { return known.spec == spec; };
      if (std::ranges::none_of(products_, same)) products_.push_back({.spec = spec});
    }
  }

  // What each should take, from a sample of rows and from its bytes.
  void rank() {
    if (options_.sampled && has_work()) {
      report("ranking products on a sample of rows");
      rank_by_sample(sample_of_rows(matrix_, backend_.sample_entries()));
    } else {
      for (SearchedProduct& product : products_) rank_by_bytes(product);
    }
    sort_by_place(products_);
    for (std::size_t i = 0; i < products_.size(); ++i) products_[i].rank = static_cast<int>(i);
    find_contenders(products_, options_.timed);
  }

  void rank_by_sample(const MatrixOf<B>& sample) {
    if (sample.nnz() == matrix_.nnz()) {
      for (const Sampled& each : sampled_products(sample)) {
        each.product->predicted_bytes = each.bytes;
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

  // The products that take the sample, timed; of a part of the matrix those that it tells about.
  std::vector<Sampled> sampled_products(const MatrixOf<B>& sample) {
    const bool whole = sample.nnz() == matrix_.nnz();
    std::vector<Sampled> sampled;
    for (SearchedProduct& product : products_) {
      if (!product.refusal.empty()) continue;
      if (needs_all_rows(product.spec.format.format()) && !whole) continue;
      if (auto stored = store(sample, product)) {
        const auto bytes = static_cast<double>(backend_.bytes_of(*stored));
        sampled.push_back({&product, std::move(stored), bytes});
      }
    }
    for (int round = 0; round < kRounds; ++round) {
      for (Sampled& each : sampled) {
        const double seconds = time_runs([&] { backend_.run(*each.stored); },
                                         backend_.sample_timing(), backend_.stopwatch())
                                   .minimum;
        each.seconds = round == 0 ? seconds : std::min(each.seconds, seconds);
      }
    }
    return sampled;
  }

  // From a sample to the matrix, with the help of a much smaller one: what does not grow with the
  // entries counts once.
  void extrapolate(const std::vector<Sampled>& sampled, Offset entries) {
    const auto small_sample = sample_of_rows(matrix_, backend_.sample_entries() / kSmallSample);
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
      expect_bytes(*small.product, to_matrix(small.bytes, large->bytes), large->bytes);
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
      const double measured = backend_.bandwidth(static_cast<Offset>(working_set));
      return measured > 0 ? measured : kUnknownBandwidth;
    };
    const double bytes = of_matrix + options_.vectors * vectors().bytes();
    constexpr double kAsSlow = 1.1;
    const bool waited = of_sample > 0 && bandwidth(of_sample) <= kAsSlow * bandwidth(bytes);
    product.predicted.memory_seconds = waited ? 0 : bytes / bandwidth(bytes);
  }

  // x counts once, or as often as α says.
  VectorTraffic vectors() const {
    VectorTraffic traffic{.rows = matrix_.rows(),
                          .cols = matrix_.cols(),
                          .value_bytes = sizeof(typename B::value_type),
                          .write_allocate = B::kWriteAllocate};
    if (options_.alpha && matrix_.cols() > 0) {
      traffic.x_loads = std::max(1.0, *options_.alpha * static_cast<double>(matrix_.nnz()) /
                                          static_cast<double>(matrix_.cols()));
    }
    return traffic;
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
    if (!has_work()) return;
    std::vector<std::unique_ptr<Stored>> ready;
    std::vector<SearchedProduct*> running;
    for (SearchedProduct* product : finalists()) {
      report("converting to " + label_of(product->spec));
      const Clock::time_point begin = Clock::now();
      auto stored = store(matrix_, *product);
      if (!stored) continue;
      product->setup_seconds = seconds_since(begin);
      product->bytes = backend_.bytes_of(*stored);
      ready.push_back(std::move(stored));
      running.push_back(product);
    }
    std::vector<std::function<void()>> runs;
    for (const auto& each : ready) {
      runs.emplace_back([this, &each] { backend_.run(*each); });
    }
    report("timing the best products in turn");
    const auto timings =
        time_interleaved(runs, backend_.timing(options_.min_seconds), backend_.stopwatch());
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
                          .threads = backend_.workers(),
                          .target = B::kTarget},
                         statistics());
  }

  // Null, and the reason in the product, if it refuses.
  std::unique_ptr<Stored> store(const MatrixOf<B>& matrix, SearchedProduct& product) const {
    try {
      return backend_.store(matrix, product.spec);
    } catch (const Error& error) {
      if (!backend_.is_refusal(error)) throw;
      product.refusal = error.what();
      return nullptr;
    }
  }

  const MatrixOf<B>& matrix_;
  B& backend_;
  const SearchOptions& options_;
  mutable std::optional<MatrixStatistics> statistics_;
  std::vector<SearchedProduct> products_;
};

}  // namespace strata::detail
