#include "strata/kernels/gpu/internal/step_launch.hpp"

#include <fmt/format.h>

namespace strata::gpu {

void require_step(const DeviceShape& matrix, std::int32_t row_alignment, Offset x, Offset previous,
                  Offset out, int count, RowRange<std::int32_t> rows) {
  if (count < 1 || count > kMaxVectors) {
    throw InvalidArgument("kernels take 1 to 8 vectors at a time");
  }
  const auto require = [&](Offset elements, Offset needed, const char* what) {
    if (elements < needed * count) {
      throw InvalidArgument(fmt::format("{} has {} elements; {} vectors of {} are needed", what,
                                        elements, count, needed));
    }
  };
  require(x, matrix.cols, "x");
  require(previous, matrix.rows, "the previous vector");
  require(out, matrix.rows, "the result");
  if (rows.begin < 0 || rows.begin > rows.end || rows.end > matrix.rows) {
    throw InvalidArgument(fmt::format("rows {} … {} are not a range of a matrix with {} rows",
                                      rows.begin, rows.end, matrix.rows));
  }
  const auto on_border = [&](std::int32_t row) {
    return row == matrix.rows || row % row_alignment == 0;
  };
  if (!on_border(rows.begin) || !on_border(rows.end)) {
    throw InvalidArgument(
        fmt::format("rows {} … {} begin or end inside a slice or a window of sorted rows: "
                    "multiples of {} are needed",
                    rows.begin, rows.end, row_alignment));
  }
}

void require_scratch(Offset elements, Offset needed) {
  if (elements >= needed) return;
  throw InvalidArgument(
      fmt::format("the scratch of a step has {} elements; it needs {}", elements, needed));
}

void require_all_rows(const DeviceShape& matrix, RowRange<std::int32_t> rows,
                      std::string_view format) {
  if (rows.begin == 0 && rows.end == matrix.rows) return;
  throw InvalidArgument(
      fmt::format("rows {} … {} of {}: on GPUs a step in the format {} is on all rows", rows.begin,
                  rows.end, matrix.rows, format));
}

}  // namespace strata::gpu
