// Heat maps of block tables: PERF(r, c), fill(r, c) and their quotient as a picture for a terminal
// and as SVG, as in R. Vuduc: Automatic Performance Tuning of Sparse Matrix Kernels, Berkeley 2003,
// chapter 3. Rows of blocks go down, columns go across.
//
//   const strata::HeatMap map{.title = "fill", .values = estimate.fill(),
//                             .marked = strata::BlockSize{1, 1}};
//   std::puts(strata::text_heat_map(map).c_str());
//   std::ofstream("fill.svg") << strata::svg_heat_map(map);
#pragma once

#include <optional>
#include <string>

#include "strata/tune/block_table.hpp"

namespace strata {

struct HeatMap {
  std::string title;
  std::string unit = {};  // behind the title, such as "GF/s"; empty: a plain number
  BlockTable values = {};
  double scale = 1;                      // numbers are shown divided by it: 1e9 for GF/s
  std::optional<BlockSize> marked = {};  // the best one
};

// PERF in GF/s, the fastest marked.
HeatMap performance_map(const BlockTable& flops_per_second);
// Values stored per nonzero. The least, which is always that of 1 × 1, is not worth a mark.
HeatMap fill_map(const BlockTable& fill);
// PERF/fill in GF/s, the choice marked.
HeatMap expected_map(const BlockTable& expected);

// Lines of text, each ended by '\n': the title, the columns, and per row its numbers, each behind a
// block of one of the shades ░▒▓█ (a blank for the lowest) and with * behind the marked one.
std::string text_heat_map(const HeatMap& map);

// A whole document that needs no other file. It is readable on light and on dark paper: colours of
// paper and words follow the reader's setting, and a number stands out against its cell.
std::string svg_heat_map(const HeatMap& map);

}  // namespace strata
