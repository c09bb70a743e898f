#include "strata/tune/fill_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"

namespace strata {

namespace {

constexpr double kStandardErrors = 2;   // of the normal distribution's 95 %
constexpr double kHiddenNumerator = 3;  // the rule of three, 95 % as well
constexpr Offset kFewestOfAClass = 32;  // a spread from fewer says little

// Block rows with 2^(k−1) … 2^k − 1 entries are class k; class 0, without entries, has no blocks.
constexpr std::size_t kClasses = 64;

template <Index I>
class BlockRows {
 public:
  BlockRows(const PatternView<I>& pattern, int height) : pattern_(pattern), height_(height) {}

  Offset count() const { return ceil_div<Offset>(pattern_.rows, height_); }
  Offset begin(Offset block_row) const { return pattern_.row_offsets[block_row * height_]; }
  Offset end(Offset block_row) const {
    const Offset row = std::min<Offset>((block_row + 1) * height_, pattern_.rows);
    return pattern_.row_offsets[row];
  }
  Offset entries(Offset block_row) const { return end(block_row) - begin(block_row); }
  std::size_t class_of(Offset block_row) const {
    return std::bit_width(static_cast<std::uint64_t>(entries(block_row)));
  }
  // All columns of the rows, row after row.
  std::span<const I> columns(Offset block_row) const {
    return pattern_.columns.subspan(begin(block_row), entries(block_row));
  }

 private:
  const PatternView<I>& pattern_;
  Offset height_;
};

struct RowClass {
  Offset block_rows = 0;
  Offset entries = 0;
  Offset sampled = 0;  // how many of the block rows
};

using RowClasses = std::array<RowClass, kClasses>;

// By entries: where most of the matrix is, most is looked at.
template <Index I>
RowClasses classes_of(const BlockRows<I>& rows, Offset entries, Offset sample) {
  RowClasses classes;
  for (Offset block_row = 0; block_row < rows.count(); ++block_row) {
    RowClass& members = classes[rows.class_of(block_row)];
    ++members.block_rows;
    members.entries += rows.entries(block_row);
  }
  for (RowClass& members : classes) {
    if (members.entries == 0) continue;
    const double share = static_cast<double>(members.entries) / static_cast<double>(entries);
    const auto wanted = static_cast<Offset>(std::ceil(share * static_cast<double>(sample)));
    const bool everything = sample >= rows.count();
    members.sampled = everything ? members.block_rows
                                 : std::min(members.block_rows, std::max(wanted, kFewestOfAClass));
  }
  return classes;
}

struct SampledBlockRow {
  Offset block_row = 0;
  std::size_t row_class = 0;
  double entries = 0;
  std::array<double, kBlockSizes.size()> blocks{};  // for each c
};

// Position `pick` of `picks` among `count` members: a random one of the pick-th part of them.
Offset picked(const Random& random, Offset pick, Offset picks, Offset count) {
  __extension__ using Wide = __int128;
  const auto part_begin = [&](Offset part) {
    return static_cast<Offset>(static_cast<Wide>(count) * part / picks);
  };
  const Offset begin = part_begin(pick);
  const auto width = static_cast<std::uint64_t>(part_begin(pick + 1) - begin);
  return begin + static_cast<Offset>(random.below(static_cast<std::uint64_t>(pick), width));
}

// By class, and in the order of the matrix within one.
template <Index I>
std::vector<SampledBlockRow> sample_of(const BlockRows<I>& rows, const RowClasses& classes,
                                       std::uint64_t seed) {
  struct Progress {
    Offset seen = 0;   // members of the class so far
    Offset picks = 0;  // of them in the sample
    Offset next = 0;   // position of the next one
  };
  std::array<Progress, kClasses> progress;
  const auto next_of = [&](std::size_t row_class, Offset pick) {
    const RowClass& members = classes[row_class];
    if (pick == members.sampled) return members.block_rows;  // none
    return picked(Random(seed, row_class), pick, members.sampled, members.block_rows);
  };
  for (std::size_t k = 0; k < kClasses; ++k) progress[k].next = next_of(k, 0);

  std::vector<SampledBlockRow> sample;
  for (Offset block_row = 0; block_row < rows.count(); ++block_row) {
    const std::size_t row_class = rows.class_of(block_row);
    Progress& now = progress[row_class];
    if (now.seen++ != now.next) continue;
    sample.push_back({.block_row = block_row,
                      .row_class = row_class,
                      .entries = static_cast<double>(rows.entries(block_row))});
    now.next = next_of(row_class, ++now.picks);
  }
  std::ranges::stable_sort(sample, {}, &SampledBlockRow::row_class);
  return sample;
}

// How many block columns of every width the sorted columns touch.
template <Index I>
std::array<double, kBlockSizes.size()> blocks_of(std::span<const I> sorted) {
  std::array<double, kBlockSizes.size()> blocks{};
  for (std::size_t c = 0; c < kBlockSizes.size(); ++c) {
    I last = -1;
    Offset count = 0;
    for (const I column : sorted) {
      const I block_column = column / kBlockSizes[c];
      count += block_column != last;
      last = block_column;
    }
    blocks[c] = static_cast<double>(count);
  }
  return blocks;
}

template <Index I>
void count_blocks(const BlockRows<I>& rows, std::vector<SampledBlockRow>& sample) {
  parallel_dynamic(static_cast<Offset>(sample.size()), 64, [&](Offset begin, Offset end) {
    std::vector<I> sorted;
    for (Offset i = begin; i < end; ++i) {
      const std::span<const I> columns = rows.columns(sample[i].block_row);
      sorted.assign(columns.begin(), columns.end());
      std::ranges::sort(sorted);
      sample[i].blocks = blocks_of<I>(sorted);
    }
  });
}

// Blocks per entry of one class.
struct ClassRatio {
  double ratio = 0;
  double variance = 0;  // of the ratio
  double hidden = 0;    // how far rows that the sample has none of may shift it
};

// Cochran, equations 2.20 and 6.13 with the known mean of the class. Blocks per entry of a block
// row are at most 1 and at least 1/(r·c).
ClassRatio ratio_of(const RowClass& members, std::span<const SampledBlockRow> sample, std::size_t c,
                    double least_ratio) {
  double blocks = 0;
  double entries = 0;
  for (const SampledBlockRow& row : sample) {
    blocks += row.blocks[c];
    entries += row.entries;
  }
  ClassRatio result{.ratio = blocks / entries};
  if (members.sampled == members.block_rows) return result;
  double squares = 0;
  for (const SampledBlockRow& row : sample) {
    const double residual = row.blocks[c] - result.ratio * row.entries;
    squares += residual * residual;
  }
  const auto sampled = static_cast<double>(members.sampled);
  const auto all = static_cast<double>(members.block_rows);
  const double unseen = 1 - sampled / all;
  const double mean = static_cast<double>(members.entries) / all;
  result.variance = unseen * squares / ((sampled - 1) * sampled * mean * mean);
  const double farthest = std::max(result.ratio - least_ratio, 1 - result.ratio);
  result.hidden = kHiddenNumerator / sampled * unseen * farthest;
  return result;
}

EstimatedFill fill_of(const RowClasses& classes, BlockSize block,
                      const std::vector<SampledBlockRow>& sample, Offset entries) {
  const double area = block.rows * block.cols;
  const std::size_t c = block_size_index(block.cols);
  double ratio = 0;
  double variance = 0;
  double hidden = 0;
  for (std::size_t k = 0; k < kClasses; ++k) {
    if (classes[k].sampled == 0) continue;
    const double share = static_cast<double>(classes[k].entries) / static_cast<double>(entries);
    const auto rows = std::ranges::equal_range(sample, k, {}, &SampledBlockRow::row_class);
    const ClassRatio part = ratio_of(classes[k], std::span(rows), c, 1 / area);
    ratio += share * part.ratio;
    variance += share * share * part.variance;
    hidden += share * part.hidden;
  }
  EstimatedFill result{.fill = area * ratio, .standard_error = area * std::sqrt(variance)};
  const double half = kStandardErrors * result.standard_error + area * hidden;
  // No block is emptier than one entry or fuller than all its places.
  result.low = half == 0 ? result.fill : std::max(result.fill - half, 1.0);
  result.high = half == 0 ? result.fill : std::min(result.fill + half, area);
  return result;
}

}  // namespace

BlockTable FillEstimate::fill() const {
  BlockTable table;
  for (const BlockSize block : all_block_sizes()) table.at(block) = at(block).fill;
  return table;
}

template <Index I>
FillEstimate estimate_fill(const PatternView<I>& pattern, const FillOptions& options) {
  if (options.block_rows < 1) {
    throw InvalidArgument(
        fmt::format("fill cannot be estimated from {} block rows", options.block_rows));
  }
  FillEstimate estimate;
  if (pattern.entries() == 0) return estimate;
  for (const int height : kBlockSizes) {
    const BlockRows<I> rows(pattern, height);
    const RowClasses classes = classes_of(rows, pattern.entries(), options.block_rows);
    std::vector<SampledBlockRow> sample = sample_of(rows, classes, options.seed);
    count_blocks(rows, sample);
    for (const int width : kBlockSizes) {
      const BlockSize block{height, width};
      estimate.set(block, fill_of(classes, block, sample, pattern.entries()));
    }
  }
  return estimate;
}

#define STRATA_INSTANTIATE(I) \
  template FillEstimate estimate_fill(const PatternView<I>&, const FillOptions&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
