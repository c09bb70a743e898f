#include "strata/hpcg/coloured_smoother.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/gen/rowwise.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata::hpcg {

namespace {

using Row = ColouredSmoother::Row;
using Matrix = ColouredSmoother::Matrix;

// Rows of up to 26 entries: from so many on they are worth waking a thread.
constexpr Row kSerialRows = 2048;

void check(const Matrix& matrix, std::span<const std::uint8_t> colour_of, int colours,
           const SmootherOptions& options) {
  if (matrix.rows() != matrix.cols() || std::ssize(colour_of) != matrix.rows()) {
    throw InvalidArgument(fmt::format("{} colours of rows for a matrix of {} rows and {} columns",
                                      colour_of.size(), matrix.rows(), matrix.cols()));
  }
  if (options.slice_height < 1) throw InvalidArgument("slices without rows");
  parallel_for(matrix.rows(), [&](Offset row) {
    const auto own = colour_of[row];
    if (own >= colours) {
      throw InvalidArgument(fmt::format("row {} has colour {} of {}", row + 1, own, colours));
    }
    for (const Row column : matrix.pattern().columns_of(static_cast<Row>(row))) {
      if (column != row && colour_of[column] == own) {
        throw InvalidArgument(
            fmt::format("rows {} and {} have one colour and an entry that joins "
                        "them",
                        row + 1, column + 1));
      }
    }
  });
}

// By colour, then as they were.
PaddedOrder<Row> ordered_by_colour(std::span<const std::uint8_t> colour_of, int colours,
                                   Offset height, std::vector<Row>& colour_begin) {
  std::vector<Offset> counts(colours, 0);
  for (const std::uint8_t colour : colour_of) ++counts[colour];
  Offset place = 0;
  std::vector<Offset> next;
  colour_begin.clear();
  for (const Offset count : counts) {
    colour_begin.push_back(narrow<Row>(place, "the number of rows"));
    next.push_back(place);
    place += ceil_div(count, height) * height;
  }
  colour_begin.push_back(narrow<Row>(place, "the number of rows"));
  Array<Row> row_at(place, PaddedOrder<Row>::kEmpty);
  for (std::size_t row = 0; row < colour_of.size(); ++row) {
    row_at[next[colour_of[row]]++] = static_cast<Row>(row);
  }
  return PaddedOrder<Row>(narrow<Row>(std::ssize(colour_of), "the number of rows"),
                          std::move(row_at));
}

std::vector<Offset> bytes_before_colours(const PackedSell<double, Row>& part,
                                         std::span<const Row> colour_begin) {
  const Array<Offset> before = part.bytes_before_slices();
  std::vector<Offset> bytes;
  for (const Row begin : colour_begin) {
    bytes.push_back(before[begin / part.slice_height()]);
  }
  return bytes;
}

}  // namespace

ColouredSmoother::ColouredSmoother(const Matrix& matrix, std::span<const std::uint8_t> colour_of,
                                   int colours, const SmootherOptions& options) {
  check(matrix, colour_of, colours, options);
  order_ = ordered_by_colour(colour_of, colours, options.slice_height, colour_begin_);
  const Matrix ordered = reordered(matrix, order_);

  diagonal_ = Array<double>(rows(), 1.0);
  parallel_for(rows(), [&](Offset position) {
    const Row row = order_.row_at(static_cast<Row>(position));
    if (row == PaddedOrder<Row>::kEmpty) return;
    const std::span<const Row> columns = ordered.pattern().columns_of(static_cast<Row>(position));
    const auto found = std::lower_bound(columns.begin(), columns.end(), position);
    const double value =
        found == columns.end() || *found != position
            ? 0
            : ordered.values()[ordered.row_offsets()[position] + (found - columns.begin())];
    if (value == 0) {
      throw InvalidArgument(
          fmt::format("row {} has no diagonal to divide by, as Gauss-Seidel does", row + 1));
    }
    diagonal_[position] = value;
  });

  // −D⁻¹ times what is before, or behind, the diagonal: that is all of other colours.
  const std::vector<Offset> groups(colour_begin_.begin(), colour_begin_.end());
  const auto packed = [&](bool before) {
    const auto row = [&](Offset position, auto&& emit) {
      const auto i = static_cast<std::size_t>(position);
      for (Offset k = ordered.row_offsets()[i]; k < ordered.row_offsets()[i + 1]; ++k) {
        const Row column = ordered.columns()[k];
        if (column == position || (column < position) != before) continue;
        emit(column, -ordered.values()[k] / diagonal_[i]);
      }
    };
    return PackedSell<double, Row>::from_csr(build_rows<double, Row>(rows(), rows(), row),
                                             {.slice_height = options.slice_height,
                                              .stored_values = static_cast<Offset>(options.values),
                                              .groups = groups});
  };
  lower_ = packed(true);
  upper_ = packed(false);
  lower_bytes_before_ = bytes_before_colours(lower_, colour_begin_);
  upper_bytes_before_ = bytes_before_colours(upper_, colour_begin_);
}

RowRange<ColouredSmoother::Row> ColouredSmoother::rows_of(int colour) const {
  return {colour_begin_[colour], colour_begin_[colour + 1]};
}

bool ColouredSmoother::uses_threads(int colour) const {
  const RowRange<Row> rows = rows_of(colour);
  return rows.end - rows.begin >= kSerialRows;
}

// Slices of the colour load from other colours alone, those of holes and padding included: that is
// what its groups ask of the format. So nobody reads what is written here.
void ColouredSmoother::add(const PackedSell<double, Row>& part, int colour, const double* x,
                           const double* previous, double* out) const {
  const RowRange<Row> rows = rows_of(colour);
  const Row height = part.slice_height();
  const Row slices = (rows.end - rows.begin) / height;
  run_on_threads(uses_threads(colour) ? thread_count() : 1, [&](int thread, int team) {
    const Chunk mine = chunk_of(slices, thread, team);
    if (mine.begin == mine.end) return;
    cpu::step(part, {.alpha = 1.0, .beta = 1.0}, {x, previous, out, 1},
              {static_cast<Row>(rows.begin + mine.begin * height),
               static_cast<Row>(rows.begin + mine.end * height)});
  });
}

void ColouredSmoother::smooth(std::span<const double> b, std::span<double> x,
                              std::span<double> scratch) const {
  for (int colour = 0; colour < colours(); ++colour) {
    add(lower_, colour, x.data(), b.data(), scratch.data());
    add(upper_, colour, x.data(), scratch.data(), x.data());
  }
  // The last one has no later colours, and has just been done.
  for (int colour = colours() - 2; colour >= 0; --colour) {
    add(upper_, colour, x.data(), scratch.data(), x.data());
  }
}

void ColouredSmoother::smooth_from_zero(std::span<const double> b, std::span<double> x) const {
  for (int colour = 0; colour < colours(); ++colour) {
    add(lower_, colour, x.data(), b.data(), x.data());
  }
  for (int colour = colours() - 2; colour >= 0; --colour) {
    add(upper_, colour, x.data(), x.data(), x.data());
  }
}

void ColouredSmoother::residual(int colour, std::span<const double> b, std::span<const double> x,
                                std::span<double> out) const {
  const RowRange<Row> rows = rows_of(colour);
  add(lower_, colour, x.data(), b.data(), out.data());
  add(upper_, colour, x.data(), out.data(), out.data());
  parallel_for(rows.end - rows.begin, [&](Offset k) {
    const auto i = static_cast<std::size_t>(rows.begin + k);
    out[i] -= x[i];
  });
}

}  // namespace strata::hpcg
