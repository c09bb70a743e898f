#include "strata/model/warp_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

constexpr double kBranchesOfStep = 4;
constexpr double kBranchesOfBlock = 2;

void require_possible(const CoopKernel& kernel) {
  const auto power_of_two = [](int number) {
    return number > 0 && std::has_single_bit(static_cast<unsigned>(number));
  };
  if (!power_of_two(kernel.coop) || !power_of_two(kernel.warp) || kernel.coop > kernel.warp ||
      kernel.repeat < 1 || kernel.block_size < 1 || kernel.block_size % kernel.warp != 0) {
    throw InvalidArgument(
        fmt::format("a kernel with coop {}, repeat {} and blocks of {} threads in warps of {}",
                    kernel.coop, kernel.repeat, kernel.block_size, kernel.warp));
  }
}

// The rows that one warp works on at a time.
template <Index I>
class WarpRows {
 public:
  WarpRows(const PatternView<I>& pattern, const CoopKernel& kernel, Offset first_row)
      : pattern_(&pattern), kernel_(&kernel), first_row_(first_row) {}

  Offset first_row() const { return first_row_; }
  int groups() const { return kernel_->warp / kernel_->coop; }
  bool inside(int group) const { return first_row_ + group < pattern_->rows; }
  Offset length(int group) const {
    return inside(group) ? pattern_->row_length(static_cast<I>(first_row_ + group)) : 0;
  }
  // How often a thread goes through the loop.
  Offset trips(int group, int thread) const {
    const Offset left = length(group) - thread;
    return left > 0 ? ceil_div<Offset>(left, kernel_->coop) : 0;
  }

 private:
  const PatternView<I>* pattern_;
  const CoopKernel* kernel_;
  Offset first_row_;
};

// first row of every step of every warp of a block: visit(first_row).
template <class Visit>
void for_each_step(const CoopKernel& kernel, Offset block, Visit&& visit) {
  const Offset rows_of_warp = kernel.warp / kernel.coop;
  for (Offset step = 0; step < kernel.repeat; ++step) {
    const Offset begin = block * kernel.rows_per_block() + step * kernel.rows_per_step();
    for (Offset row = 0; row < kernel.rows_per_step(); row += rows_of_warp) visit(begin + row);
  }
}

struct BranchCounts {
  double branches = 0;
  double divergent = 0;
  double trips = 0;     // of all threads
  double possible = 0;  // as many as the thread with the most has, for all
};

template <Index I>
void count_step(const WarpRows<I>& rows, const CoopKernel& kernel, std::vector<Offset>& trips,
                BranchCounts& counts) {
  trips.clear();
  int inside = 0;
  for (int group = 0; group < rows.groups(); ++group) {
    if (!rows.inside(group)) continue;
    ++inside;
    for (int thread = 0; thread < kernel.coop; ++thread) {
      trips.push_back(rows.trips(group, thread));
    }
  }
  counts.branches += kBranchesOfStep;
  if (inside < rows.groups()) ++counts.divergent;  // some threads have no row
  std::ranges::sort(trips);
  for (const Offset trip : trips) counts.trips += static_cast<double>(trip);
  const auto most = static_cast<double>(trips.back());
  counts.possible += most * kernel.warp;
  counts.branches += most + 1;
  // Each time that some threads leave the loop and others stay.
  for (std::size_t i = 1; i < trips.size(); ++i) counts.divergent += trips[i] != trips[i - 1];
}

// One warp of a resident block: the lines that its next load touches.
template <Index I>
class Warp {
 public:
  // `number` is its place in the block.
  Warp(const PatternView<I>& pattern, const CoopKernel& kernel, const ElementSizes& sizes,
       Offset line_bytes, Offset block, int number)
      : pattern_(&pattern),
        kernel_(&kernel),
        value_bytes_(static_cast<Offset>(sizes.value)),
        index_bytes_(static_cast<Offset>(sizes.index)),
        line_bytes_(line_bytes),
        row_(block * kernel.rows_per_block() + number * (kernel.warp / kernel.coop)) {}

  bool done() const { return step_ == kernel_->repeat || row_ >= pattern_->rows; }

  // Lines as numbers, each array in a range of its own.
  void next_load(std::vector<std::uint64_t>& lines) {
    lines.clear();
    const WarpRows<I> rows(*pattern_, *kernel_, row_);
    for (int group = 0; group < rows.groups(); ++group) {
      if (rows.inside(group)) add_lines_of(rows, group, lines);
    }
    std::ranges::sort(lines);
    const auto repeated = std::ranges::unique(lines);
    lines.erase(repeated.begin(), repeated.end());
    advance(rows);
  }

 private:
  enum Load { row_begin, row_end, values, columns, x };
  static constexpr std::uint64_t kArray = std::uint64_t{1} << 40;

  std::uint64_t line_of(Load array, Offset position, Offset element_bytes) const {
    // Both ends of a row are in the array of offsets.
    const std::uint64_t place = array == row_end ? row_begin : array;
    return place * kArray + static_cast<std::uint64_t>(position * element_bytes / line_bytes_);
  }

  void add_lines_of(const WarpRows<I>& rows, int group, std::vector<std::uint64_t>& lines) const {
    const Offset row = rows.first_row() + group;
    if (load_ == row_begin || load_ == row_end) {
      lines.push_back(line_of(load_, row + (load_ == row_end), index_bytes_));
      return;
    }
    const Offset begin = pattern_->row_offsets[row];
    for (int thread = 0; thread < kernel_->coop; ++thread) {
      const Offset entry = thread + trip_ * kernel_->coop;
      if (entry >= rows.length(group)) break;
      switch (load_) {
        case values: lines.push_back(line_of(values, begin + entry, value_bytes_)); break;
        case columns: lines.push_back(line_of(columns, begin + entry, index_bytes_)); break;
        default: lines.push_back(line_of(x, pattern_->columns[begin + entry], value_bytes_));
      }
    }
  }

  Offset most_trips(const WarpRows<I>& rows) const {
    Offset most = 0;
    for (int group = 0; group < rows.groups(); ++group) most = std::max(most, rows.trips(group, 0));
    return most;
  }

  void advance(const WarpRows<I>& rows) {
    if (load_ == row_begin) {
      load_ = row_end;
    } else if (load_ == row_end || load_ == x) {
      trip_ = load_ == x ? trip_ + 1 : 0;
      load_ = values;
      if (trip_ == most_trips(rows)) next_step();
    } else {
      load_ = load_ == values ? columns : x;
    }
  }

  void next_step() {
    ++step_;
    row_ += kernel_->rows_per_step();
    load_ = row_begin;
    trip_ = 0;
  }

  const PatternView<I>* pattern_;
  const CoopKernel* kernel_;
  Offset value_bytes_;
  Offset index_bytes_;
  Offset line_bytes_;
  Offset row_;
  Offset step_ = 0;
  Offset trip_ = 0;
  Load load_ = row_begin;
};

// The blocks of one multiprocessor, as many at a time as it holds.
template <Index I>
class ResidentWarps {
 public:
  ResidentWarps(const PatternView<I>& pattern, const CoopKernel& kernel,
                const Multiprocessor& multiprocessor, const ElementSizes& sizes)
      : pattern_(pattern), kernel_(kernel), multiprocessor_(multiprocessor), sizes_(sizes) {
    for (int i = 0; i < multiprocessor.resident_blocks; ++i) resident_.push_back(next_block());
  }

  // One load of every warp that has one left; false if none has.
  bool take_turns(CacheSimulator& cache) {
    bool any = false;
    for (std::vector<Warp<I>>& block : resident_) {
      bool busy = false;
      for (Warp<I>& warp : block) {
        if (warp.done()) continue;
        busy = true;
        warp.next_load(lines_);
        for (const std::uint64_t line : lines_) {
          cache.read(line * static_cast<std::uint64_t>(cache.line_bytes()), 1);
        }
      }
      if (!busy) block = next_block();
      any = any || busy || !block.empty();
    }
    return any;
  }

 private:
  // Empty after the last one.
  std::vector<Warp<I>> next_block() {
    std::vector<Warp<I>> warps;
    if (next_ * kernel_.rows_per_block() >= pattern_.rows) return warps;
    for (int number = 0; number < kernel_.block_size / kernel_.warp; ++number) {
      warps.emplace_back(pattern_, kernel_, sizes_, multiprocessor_.cache.line_bytes, next_,
                         number);
    }
    next_ += multiprocessor_.count;
    return warps;
  }

  const PatternView<I>& pattern_;
  const CoopKernel& kernel_;
  const Multiprocessor& multiprocessor_;
  const ElementSizes& sizes_;
  Offset next_ = 0;  // block
  std::vector<std::vector<Warp<I>>> resident_;
  std::vector<std::uint64_t> lines_;
};

}  // namespace

template <Index I>
Divergence predicted_divergence(const PatternView<I>& pattern, const CoopKernel& kernel) {
  require_possible(kernel);
  BranchCounts counts;
  std::vector<Offset> trips;
  const Offset blocks = ceil_div<Offset>(pattern.rows, kernel.rows_per_block());
  for (Offset block = 0; block < blocks; ++block) {
    for_each_step(kernel, block, [&](Offset first_row) {
      if (first_row >= pattern.rows) return;
      count_step(WarpRows<I>(pattern, kernel, first_row), kernel, trips, counts);
    });
    counts.branches += kBranchesOfBlock * (kernel.block_size / kernel.warp);
  }
  if (pattern.rows == 0) return {};
  return {.branch_share = counts.divergent / counts.branches,
          .idle_share = counts.possible == 0 ? 0 : 1 - counts.trips / counts.possible};
}

template <Index I>
double predicted_hit_rate(const PatternView<I>& pattern, const CoopKernel& kernel,
                          const Multiprocessor& multiprocessor, const ElementSizes& sizes) {
  require_possible(kernel);
  if (multiprocessor.resident_blocks < 1 || multiprocessor.count < 1 || !(sizes.value >= 1) ||
      !(sizes.index >= 1)) {
    throw InvalidArgument(fmt::format(
        "{} multiprocessors that hold {} blocks, values of {} bytes and indices of {}",
        multiprocessor.count, multiprocessor.resident_blocks, sizes.value, sizes.index));
  }
  CacheSimulator cache(multiprocessor.cache);
  ResidentWarps<I> warps(pattern, kernel, multiprocessor, sizes);
  while (warps.take_turns(cache)) {
  }
  const CacheCounts& counts = cache.counts();
  if (counts.accesses() == 0) return 0;
  return static_cast<double>(counts.hits) / static_cast<double>(counts.accesses());
}

#define STRATA_INSTANTIATE(I)                                                         \
  template Divergence predicted_divergence(const PatternView<I>&, const CoopKernel&); \
  template double predicted_hit_rate(const PatternView<I>&, const CoopKernel&,        \
                                     const Multiprocessor&, const ElementSizes&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
