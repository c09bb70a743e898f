#include "strata/execute/gpu/flagged_form.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/execute/gpu/internal/flagged_rows.hpp"

namespace strata::gpu {

namespace {

using detail::Diagonals;
using detail::diagonals_of;
using detail::end_of_block_tile;
using detail::I;
using detail::is_block_row;
using detail::kMostDiagonals;
using detail::kMostSegments;
using detail::lines_of;
using detail::LinesOfTile;
using detail::point_lines;
using detail::SectorSet;
using detail::segment_rows;
using detail::shape_of;

// A matrix has lines if so many of the segments that are looked at do.
constexpr double kMostlyLines = 0.8;
constexpr Offset kSamples = 128;
constexpr int kMostTileRows = 256;
// So many of the multiprocessors are enough, if planes of tiles are whole rounds of them then:
// tiles that need each other are on the same one, which has them in its turn.
constexpr double kMostWorkers = 0.95;
// So many times the rows that fit into a tile have lanes: a few of them have nothing to do.
constexpr double kMostLanes = 1.25;

// Whether so many of some are as many as kMostlyLines says.
bool are_most(Offset these, Offset all) {
  return static_cast<double>(these) >= kMostlyLines * static_cast<double>(all);
}

// Rows to look at: the first of so many segments, evenly spread.
std::vector<Offset> sampled(Offset rows, Offset unit) {
  std::vector<Offset> firsts;
  const Offset units = rows / unit;
  for (Offset s = 0; s < std::min(kSamples, units); ++s) {
    firsts.push_back(s * units / std::min(kSamples, units) * unit);
  }
  return firsts;
}

// The stride of a stencil of these points; 0 if it is none.
template <Value V>
I stencil_stride(const Csr<V, I>& matrix, std::span<const Offset> segments, FlaggedLines points) {
  I stride = 0;
  Offset fit = 0;
  for (const Offset first : segments) {
    Diagonals<V> diagonals;
    if (!diagonals.add(matrix, first, first + segment_rows<V>(), kMostDiagonals)) return 0;
    const auto beyond = std::ranges::upper_bound(diagonals.all(), 1);
    if (beyond == diagonals.all().end()) continue;
    if (stride == 0) stride = *beyond;
    fit += point_lines(diagonals.all(), stride, shape_of(points).lines).has_value() ? 1 : 0;
  }
  const bool mostly = are_most(fit, std::ssize(segments));
  const bool patches = stride > 0 && stride % segment_rows<V>() == 0 &&
                       matrix.rows() >= shape_of(points).segments * Offset{stride};
  return mostly && patches ? stride : 0;
}

// How many tiles of a seven-point stencil have the rows between a row and the farthest one that it
// needs.
template <Value V>
I tiles_of_plane(const Csr<V, I>& matrix, I stride) {
  const I rows_of_tile = SevenPoints::segments * segment_rows<V>();
  const I middle = matrix.rows() / 2;
  const Offset end = matrix.row_offsets()[middle + 1];
  if (end == matrix.row_offsets()[middle]) return 0;
  const I plane = matrix.columns()[end - 1] - middle;
  return plane > stride && plane % (SevenPoints::segments * stride) == 0 ? plane / rows_of_tile : 0;
}

// Whether lines of these rows are loaded element by element, or are so close to each other that
// most of what they load is the same.
template <Value V>
bool are_awkward(const LinesOfTile& lines) {
  // So many times what all lines have between them.
  constexpr Offset kMuchTheSame = 2;
  constexpr Offset chunk = kChunk<DeviceValue<V>>;
  constexpr Offset each = segment_rows<V>();
  Offset loaded = 0;
  Offset distinct = 0;
  Offset end = std::numeric_limits<Offset>::min();
  std::vector<I> distances;
  for (int line = 0; line < kMostLines; ++line) {
    if (line_columns(lines.columns, line) == 0) continue;
    if (lines.distances[line] % chunk != 0) return true;
    distances.push_back(lines.distances[line]);
  }
  std::ranges::sort(distances);
  for (const I distance : distances) {
    loaded += each;
    distinct += distance + each - std::max<Offset>(distance, end);
    end = distance + each;
  }
  return loaded > kMuchTheSame * distinct;
}

// How many segments a tile of diagonals should have, of as many rows as fit; 0: they do not suit.
template <Value V>
int diagonal_segments(const Csr<V, I>& matrix) {
  for (int segments = kMostSegments; segments > 0; --segments) {
    const Offset rows = segments * segment_rows<V>();
    const auto firsts = sampled(matrix.rows(), rows);
    const auto fit = std::ranges::count_if(firsts, [&](Offset first) {
      return diagonals_of(matrix, first, first + rows).has_value();
    });
    if (!firsts.empty() && are_most(fit, std::ssize(firsts))) return segments;
  }
  return 0;
}

// How many of the block rows from a sampled one on fit into a tile, in the mean; 0 if one does not.
template <Value V>
double rows_that_fit(const Csr<V, I>& matrix, int block) {
  SectorSet<V> sectors;
  const auto firsts = sampled(matrix.rows() / block * block, block);
  Offset fit = 0;
  for (const Offset first : firsts) {
    // The last rows count as if others followed.
    const Offset end = std::min<Offset>(first + Offset{kMostTileRows} * block, matrix.rows());
    const Offset cut = end_of_block_tile(matrix, first, end, block, kMostTileRows, sectors);
    if (cut == first) return 0;
    fit += cut < end ? (cut - first) / block : kMostTileRows;
  }
  return static_cast<double>(fit) / static_cast<double>(std::ssize(firsts));
}

// As few lanes per block row as possible, so that a row for all of them is a tile, or more rows
// where they are short. No lanes if some rows fit into no tile.
template <Value V>
void choose_lanes(const Csr<V, I>& matrix, FlaggedForm& form) {
  const double fit = rows_that_fit(matrix, form.block);
  form.lanes = fit > 0 ? 1 : 0;
  form.rows = kWarpLanes;
  while (form.lanes > 0 && form.rows > kMostLanes * fit) {
    form.lanes *= 2;
    form.rows /= 2;
  }
  while (form.lanes == 1 && form.rows < kMostTileRows && 2 * form.rows <= fit) form.rows *= 2;
}

}  // namespace

template <Value V>
std::optional<FlaggedForm> find_flagged_form(const Csr<V, I>& matrix) {
  if (matrix.rows() != matrix.cols() || matrix.nnz() == 0) return std::nullopt;
  FlaggedForm form;
  const auto segments = sampled(matrix.rows(), segment_rows<V>());
  Offset in_lines = 0;
  Offset awkward = 0;
  for (const Offset first : segments) {
    const auto lines = lines_of(matrix, first, first + segment_rows<V>());
    in_lines += lines ? 1 : 0;
    awkward += lines && are_awkward<V>(*lines) ? 1 : 0;
  }
  form.has_lines = !segments.empty() && are_most(in_lines, std::ssize(segments));
  if (!form.has_lines || are_most(awkward, in_lines)) form.segments = diagonal_segments(matrix);
  if (form.segments > 0) {
    form.has_lines = false;
  } else if (form.has_lines) {
    for (const FlaggedLines points : {FlaggedLines::five_points, FlaggedLines::seven_points}) {
      form.stride = stencil_stride(matrix, segments, points);
      if (form.stride == 0) continue;
      form.lines = points;
      if (points == FlaggedLines::seven_points) form.period = tiles_of_plane(matrix, form.stride);
      break;
    }
  } else {
    for (const int block : {3, 2}) {
      if (matrix.rows() % block != 0 || form.block > 1) continue;
      const auto rows = sampled(matrix.rows(), block);
      const bool blocks =
          std::ranges::all_of(rows, [&](Offset row) { return is_block_row(matrix, row, block); });
      if (blocks) form.block = block;
    }
  }
  choose_lanes(matrix, form);
  if (form.lanes == 0) return std::nullopt;
  return form;
}

int flagged_workers(const FlaggedForm& form, int multiprocessors) {
  for (int workers = multiprocessors; form.period > 0 && workers >= kMostWorkers * multiprocessors;
       --workers) {
    if (form.period % workers == 0) return workers;
  }
  return multiprocessors;
}

#define STRATA_INSTANTIATE(V, unused) \
  template std::optional<FlaggedForm> find_flagged_form(const Csr<V, std::int32_t>& matrix)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
