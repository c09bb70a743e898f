#include "strata/tune/product_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/error.hpp"

namespace strata {

namespace {

// Bytes of a sample that differ by more from those of the matrix are the cause of a miss.
constexpr double kOtherBytes = 0.05;
// Of the entries of a thread that a single row has, if it is the cause.
constexpr double kLongRow = 0.25;
// Of the columns that the entries of a row are spread over, if that is the cause.
constexpr double kWideRows = 0.1;

bool has_columns_apart(Format format) {
  return format == Format::ell || format == Format::hyb || format == Format::jds ||
         format == Format::dia;
}

bool writes_anywhere(Format format) {
  return format == Format::csc || format == Format::symmetric_csr || format == Format::blocked_coo;
}

// Whether the entries of a row may belong to several threads.
bool cuts_rows(const ProductSpec& spec) {
  return spec.format.format() == Format::coo || spec.kernel == "parts" ||
         spec.kernel == "balanced" || spec.kernel == "stream";
}

bool pads(Format format) {
  return format == Format::ell || format == Format::hyb || is_sliced(format);
}

std::string cause_of_more(const MeasuredProduct& product, const MatrixStatistics& matrix) {
  const Format format = product.spec.format.format();
  const double share = static_cast<double>(matrix.row_lengths.max) * product.threads /
                       static_cast<double>(std::max<Offset>(matrix.entries, 1));
  const bool on_gpu = product.target == KernelTarget::gpu;
  if (share > kLongRow && !cuts_rows(product.spec)) {
    return fmt::format("one row is {:.0f} % of what a {} has", 100 * share,
                       on_gpu ? "multiprocessor" : "thread");
  }
  if (writes_anywhere(format))
    return "results are added up all over y, which a sample is too small to show";
  if (has_columns_apart(format) && !on_gpu) {
    return "columns of the format lie apart, more streams than are loaded ahead";
  }
  if (static_cast<double>(matrix.bandwidth()) > kWideRows * static_cast<double>(matrix.cols)) {
    return "rows reach all over x, of which a sample finds more in cache";
  }
  return "memory gave less than when it was measured";
}

std::string cause_of_less(const MeasuredProduct& product) {
  const FormatSpec& format = product.spec.format;
  if (encodes_values(format)) return "values of a sample are encoded in another way";
  if (writes_anywhere(format.format()))
    return "a sample has fewer entries for every column than the matrix";
  const auto& predicted = product.predicted;
  if (predicted.memory_seconds > predicted.kernel_seconds) {
    return pads(format.format()) ? "padding is not read, or some of the bytes stay in cache"
                                 : "some of the bytes stay in cache";
  }
  return "rows that follow each other share more of x than those of a sample";
}

}  // namespace

bool encodes_values(const FormatSpec& format) {
  return format.format() == Format::packed_sell &&
         format.parameter("values").value_or(0) != static_cast<Offset>(StoredValues::full);
}

double PredictedTime::seconds() const {
  const double longer = std::max(kernel_seconds, memory_seconds);
  if (!(longer > 0)) return 0;
  const double ratio = std::min(kernel_seconds, memory_seconds) / longer;
  return longer * std::pow(1 + std::pow(ratio, 4), 0.25);
}

double extrapolated(const SampleFigure& small, const SampleFigure& large, Offset entries) {
  if (small.entries >= large.entries) {
    throw InvalidArgument(fmt::format("samples of {} and {} entries tell nothing of others",
                                      small.entries, large.entries));
  }
  const double per_entry = std::max(large.figure - small.figure, 0.0) /
                           static_cast<double>(large.entries - small.entries);
  return large.figure + per_entry * static_cast<double>(entries - large.entries);
}

std::string cause_of_miss(const MeasuredProduct& product, const MatrixStatistics& matrix) {
  const double predicted = product.predicted.seconds();
  if (!(predicted > 0) || !(product.seconds > 0)) return {};
  if (std::abs(predicted / product.seconds - 1) <= kMissShare) return {};
  const bool other_bytes = product.predicted_bytes > 0 &&
                           std::abs(product.bytes / product.predicted_bytes - 1) > kOtherBytes;
  if (other_bytes) {
    return fmt::format("it has {:.2f} times the bytes that a sample lets expect",
                       product.bytes / product.predicted_bytes);
  }
  return product.seconds > predicted ? cause_of_more(product, matrix) : cause_of_less(product);
}

}  // namespace strata
