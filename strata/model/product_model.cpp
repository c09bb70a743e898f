#include "strata/model/product_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

void require_positive(double number, const char* what) {
  if (!(std::isfinite(number) && number > 0)) {
    throw InvalidArgument(fmt::format("{} cannot be {}", what, number));
  }
}

void require_entries(const Footprint& matrix) {
  if (matrix.entries == 0) throw InvalidArgument("a product without entries has no balance");
}

// An array that is read from its beginning to its end: only its first access to a line can miss.
class Stream {
 public:
  Stream(std::uint64_t begin, Offset element_bytes, CacheSimulator& cache)
      : begin_(begin), element_bytes_(element_bytes), cache_(cache) {}

  void read(Offset position) { advance(position, false); }
  void write(Offset position) { advance(position, true); }
  void rewind() { line_ = kNone; }

 private:
  void advance(Offset position, bool write) {
    const auto address = begin_ + static_cast<std::uint64_t>(position * element_bytes_);
    const std::uint64_t line = address / static_cast<std::uint64_t>(cache_.line_bytes());
    if (line == line_) return;
    line_ = line;
    write ? cache_.write(address, 1) : cache_.read(address, 1);
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t begin_;
  Offset element_bytes_;
  CacheSimulator& cache_;
  std::uint64_t line_ = kNone;
};

// The arrays of a CSR product, one after another on pages of their own.
template <Index I>
class ProductTrace {
 public:
  ProductTrace(const PatternView<I>& pattern, Offset value_bytes, Offset index_bytes,
               CacheSimulator& cache)
      : pattern_(pattern),
        value_bytes_(value_bytes),
        cache_(cache),
        x_(place(pattern.cols, value_bytes)),
        y_(place(pattern.rows, value_bytes), value_bytes, cache),
        offsets_(place(Offset{pattern.rows} + 1, sizeof(Offset)), sizeof(Offset), cache),
        columns_(place(pattern.entries(), index_bytes), index_bytes, cache),
        values_(place(pattern.entries(), value_bytes), value_bytes, cache) {}

  // Lines of x that missed in one product.
  Offset play() {
    for (Stream* stream : {&y_, &offsets_, &columns_, &values_}) stream->rewind();
    Offset missed = 0;
    for (I row = 0; row < pattern_.rows; ++row) {
      offsets_.read(Offset{row} + 1);
      for (Offset k = pattern_.row_offsets[row]; k < pattern_.row_offsets[row + 1]; ++k) {
        columns_.read(k);
        values_.read(k);
        const auto element = static_cast<std::uint64_t>(pattern_.columns[k] * value_bytes_);
        missed += cache_.read(x_ + element, value_bytes_);
      }
      y_.write(row);
    }
    return missed;
  }

 private:
  std::uint64_t place(Offset count, Offset element_bytes) {
    constexpr Offset kPage = 4096;
    const std::uint64_t begin = next_;
    const Offset bytes = checked_multiply(count, element_bytes, "the size of an array");
    next_ += static_cast<std::uint64_t>((ceil_div<Offset>(bytes, kPage) + 1) * kPage);
    return begin;
  }

  const PatternView<I>& pattern_;
  Offset value_bytes_;
  CacheSimulator& cache_;
  std::uint64_t next_ = 0;  // before the arrays, which it places
  std::uint64_t x_;
  Stream y_;
  Stream offsets_;
  Stream columns_;
  Stream values_;
};

}  // namespace

template <Index I>
double predicted_alpha(const PatternView<I>& pattern, const CacheShape& cache,
                       const ElementSizes& sizes) {
  const auto value_bytes = static_cast<Offset>(sizes.value);
  const auto index_bytes = static_cast<Offset>(sizes.index);
  if (value_bytes < 1 || index_bytes < 1) {
    throw InvalidArgument(
        fmt::format("values of {} bytes and indices of {}", sizes.value, sizes.index));
  }
  CacheSimulator simulator(cache);
  if (pattern.entries() == 0) return 0;
  ProductTrace<I> trace(pattern, value_bytes, index_bytes, simulator);
  trace.play();
  const auto missed = static_cast<double>(trace.play());
  return missed * static_cast<double>(simulator.line_bytes()) /
         (sizes.value * static_cast<double>(pattern.entries()));
}

double inferred_alpha(double seconds, double bytes_per_second, const Footprint& matrix,
                      const VectorTraffic& vectors) {
  require_positive(seconds, "the time of a product");
  require_positive(bytes_per_second, "a bandwidth");
  require_entries(matrix);
  VectorTraffic y_alone = vectors;
  y_alone.x_loads = 0;
  const double of_x = seconds * bytes_per_second - product_bytes(matrix, y_alone);
  return of_x / (vectors.value_bytes * static_cast<double>(matrix.entries));
}

FormatBalance balance_with_alpha(const Footprint& matrix, const VectorTraffic& vectors,
                                 double alpha) {
  require_entries(matrix);
  if (vectors.cols < 1) throw InvalidArgument("a product of a vector without elements");
  const auto entries = static_cast<double>(matrix.entries);
  VectorTraffic traffic = vectors;
  traffic.x_loads = alpha * entries / static_cast<double>(vectors.cols);
  VectorTraffic once = vectors;
  once.x_loads = 1;
  return {.alpha = alpha,
          .x_loads = traffic.x_loads,
          .bytes = product_bytes(matrix, traffic),
          .bytes_per_flop = product_balance(matrix, traffic),
          .minimum_per_flop = product_balance(matrix, once)};
}

template <Index I>
CsrBandwidths csr_bandwidths(const PatternView<I>& pattern, double seconds, Offset block_rows,
                             Offset line_bytes, const ElementSizes& sizes) {
  require_positive(seconds, "the time of a product");
  const CsrTraffic traffic{static_cast<double>(pattern.entries()),
                           static_cast<double>(pattern.rows), sizes};
  return {.effective = traffic.effective_bytes() / seconds,
          .worst = traffic.worst_bytes(static_cast<double>(line_bytes)) / seconds,
          .minimum = traffic.minimum_bytes() / seconds,
          .caching = caching_bytes(pattern, block_rows, line_bytes, sizes) / seconds};
}

Roofline roofline(double flops, double peak_flops_per_second,
                  std::span<const MemoryCeiling> levels) {
  require_positive(flops, "the flops of a computation");
  if (!(std::isfinite(peak_flops_per_second) && peak_flops_per_second >= 0)) {
    throw InvalidArgument(fmt::format("a peak of {} flops per second", peak_flops_per_second));
  }
  Roofline roof;
  const auto limit = [&](double seconds, const std::string& name) {
    if (seconds > roof.seconds) roof = {.seconds = seconds, .limit = name};
  };
  if (peak_flops_per_second > 0) limit(flops / peak_flops_per_second, "peak");
  for (const MemoryCeiling& level : levels) {
    require_positive(level.bytes_per_second, "a bandwidth");
    if (!(std::isfinite(level.bytes) && level.bytes >= 0)) {
      throw InvalidArgument(fmt::format("{} bytes through {}", level.bytes, level.name));
    }
    limit(level.bytes / level.bytes_per_second, level.name);
  }
  if (roof.seconds == 0) throw InvalidArgument("a roofline without a limit");
  roof.flops_per_second = flops / roof.seconds;
  return roof;
}

std::optional<Offset> break_even_products(const SetupAndProduct& format,
                                          const SetupAndProduct& baseline) {
  for (const SetupAndProduct& times : {format, baseline}) {
    for (const double seconds : {times.setup_seconds, times.seconds}) {
      if (!(std::isfinite(seconds) && seconds >= 0)) {
        throw InvalidArgument(fmt::format("{} seconds of set-up or of a product", seconds));
      }
    }
  }
  const double behind = format.setup_seconds - baseline.setup_seconds;
  const double gain = baseline.seconds - format.seconds;
  if (gain <= 0) return behind <= 0 && gain == 0 ? std::optional<Offset>(0) : std::nullopt;
  if (behind <= 0) return 0;
  const double products = std::ceil(behind / gain);
  constexpr double kForever = 1e18;
  if (products > kForever) return std::nullopt;
  return static_cast<Offset>(products);
}

#define STRATA_INSTANTIATE(I)                                                                     \
  template double predicted_alpha(const PatternView<I>&, const CacheShape&, const ElementSizes&); \
  template CsrBandwidths csr_bandwidths(const PatternView<I>&, double, Offset, Offset,            \
                                        const ElementSizes&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
