// Spy plots, which show where a matrix has entries: for the terminal, as PNG and as SVG. The matrix
// is cut into square blocks, and every block becomes one dot whose darkness is the logarithm of the
// number of entries in it. Small matrices show every entry.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// Entries per block. Blocks are square, so that the plot has the shape of the matrix; only a matrix
// that would be a thin line gets narrower blocks across it.
struct DensityGrid {
  int width = 1;
  int height = 1;
  std::vector<Offset> counts;  // row by row

  Offset at(int x, int y) const {
    return counts[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(x)];
  }
  // 0 for an empty block, 1 for the fullest one, logarithmic in between.
  double darkness(int x, int y) const;

  Offset fullest = 0;  // the largest of the counts
};

// At most `limit` blocks wide and high; at least 1 of each.
template <Index I>
DensityGrid density_grid(const PatternView<I>& pattern, int limit);

// Lines of UTF-8 in a frame, at most 42 characters wide and 22 lines high. Braille dots stand for
// blocks; up to 20 rows and columns every entry is a circle. No lines without rows or columns.
template <Index I>
std::vector<std::string> text_spy_plot(const PatternView<I>& pattern);

template <Index I>
std::string png_spy_plot(const PatternView<I>& pattern);

template <Index I>
std::string svg_spy_plot(const PatternView<I>& pattern);

// Writes a PNG or an SVG by the ending of the name; throws InvalidArgument at any other ending.
template <Index I>
void write_spy_plot(const std::filesystem::path& path, const PatternView<I>& pattern);

// Throws what write_spy_plot would throw for this name: to know before hours of work.
void require_spy_plot_name(const std::filesystem::path& path);

}  // namespace strata
