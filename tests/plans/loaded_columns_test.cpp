// What kernels load of x while others write it: every element, those that holes and padding lead to
// included, is waited for, and nobody overwrites it before it has been read. Checked for each part
// of each task of a plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;
using Matrix = Csr<double, I>;
using Prepared = detail::Prepared<double, I>;

// Rows that are always computed together, a slice of them or one, and what is loaded for them.
struct Loads {
  I first_row = 0;
  std::set<I> columns;
};
std::vector<Loads> loads_of(const Prepared& prepared) {
  const auto& matrix = prepared.arrangement->matrix;
  const LoadedColumns<I> loaded = matrix.loaded_columns();
  std::vector<Loads> loads;
  for (I begin = 0; begin < matrix.rows(); begin += matrix.row_alignment()) {
    const I end = std::min<I>(begin + matrix.row_alignment(), matrix.rows());
    loads.push_back({begin, {}});
    loaded.for_each({begin, end}, [&](RowRange<I> range) {
      for (I column = range.begin; column < range.end; ++column) {
        loads.back().columns.insert(column);
      }
    });
  }
  return loads;
}

// Which part of which task computes each power of each row.
struct Owner {
  Offset task = -1;
  int part = 0;
};
std::vector<std::vector<Owner>> owners_of(const Sweep<I>& sweep, I rows) {
  std::vector<std::vector<Owner>> owners(sweep.schedule().power + 1, std::vector<Owner>(rows));
  for (std::size_t task = 0; task < sweep.schedule().tasks.size(); ++task) {
    for (int part = 0; part < sweep.parts(); ++part) {
      const RowRange<I> of_part = sweep.rows_of(task, part);
      for (I row = of_part.begin; row < of_part.end; ++row) {
        owners[sweep.schedule().tasks[task].power][row] = {static_cast<Offset>(task), part};
      }
    }
  }
  return owners;
}

// How many loads of a sweep race with whoever computes the element, or overwrites it two powers
// later.
int races_of(const Sweep<I>& sweep, I rows, const std::vector<Loads>& loads) {
  const auto owners = owners_of(sweep, rows);
  const auto comes_after = [&](const Owner& late, const Owner& early) {
    return early.task < sweep.schedule().ready_after[late.task] &&
           sweep.waits_for(static_cast<std::size_t>(late.task), late.part, early.part);
  };
  int races = 0;
  for (int power = 1; power <= sweep.schedule().power; ++power) {
    for (const auto& [first_row, columns] : loads) {
      const Owner& reader = owners[power][first_row];
      for (const I column : columns) {
        if (power > 1 && !comes_after(reader, owners[power - 1][column])) ++races;
        if (power < sweep.schedule().power && !comes_after(owners[power + 1][column], reader)) {
          ++races;
        }
      }
    }
  }
  return races;
}

// The pattern without some of its entries: dia slices get holes, and some rows become empty.
Pattern<I> with_holes(const Pattern<I>& pattern, std::uint64_t seed) {
  const Random random(seed, 12);
  test::Edges kept;
  std::uint64_t counter = 0;
  for (const auto& [row, column] : test::entries_of(pattern)) {
    const bool empty = random.below(static_cast<std::uint64_t>(row) << 32, 10) == 0;
    if (!empty && random.below(counter++, 4) != 0) kept.emplace_back(row, column);
  }
  return test::pattern_of<I>(pattern.rows, std::move(kept));
}

Matrix matrix_of(const Pattern<I>& pattern, std::uint64_t seed) {
  const auto values = test::random_vector<double>(pattern.columns.size(), seed);
  return Matrix(pattern.rows, pattern.cols, pattern.row_offsets, pattern.columns,
                {values.begin(), values.end()});
}

// The diagonal, and in the first row of every slice of 32 an entry in the column of its last. The
// holes beside that lead to the next slice, where the slice has no entry.
Pattern<I> lonely_entries(Offset rows) {
  test::Edges entries;
  for (Offset row = 0; row < rows; ++row) entries.emplace_back(row, row);
  for (Offset row = 0; row + 31 < rows; row += 32) entries.emplace_back(row, row + 31);
  return test::pattern_of<I>(rows, std::move(entries));
}

// The upper half of each slice is empty: its padding comes before any entry.
Pattern<I> half_empty_slices(Offset rows, Offset width) {
  test::Edges entries;
  for (Offset row = 0; row < rows; ++row) {
    if (row % 32 < 16) continue;
    for (Offset column = std::max<Offset>(row - width, 0); column <= row; ++column) {
      entries.emplace_back(row, column);
    }
  }
  return test::pattern_of<I>(rows, std::move(entries));
}

std::vector<std::pair<std::string, Matrix>> matrices_with_holes() {
  std::vector<std::pair<std::string, Matrix>> all;
  const auto add = [&](std::string name, const Pattern<I>& pattern) {
    all.emplace_back(std::move(name), matrix_of(pattern, all.size()));
  };
  const auto box = test::box<I>(16, 8, 24, test::Touching::corners);
  add("stencil", box);
  add("stencil with holes", with_holes(box, 1));
  add("shuffled stencil with holes", test::shuffled(with_holes(box, 2), 2));
  add("plane with holes", with_holes(test::box<I>(40, 60, 1, test::Touching::faces), 3));
  add("path with holes", with_holes(test::path<I>(9000), 4));
  add("lonely entries", lonely_entries(20000));
  add("half-empty slices", half_empty_slices(3000, 20));
  add("tree with holes", with_holes(test::random_tree<I>(1500, 5), 5));
  add("not symmetric", test::random_pattern<I>(1500, 4000, 6));
  add("components", test::interleaved(with_holes(test::path<I>(500), 7),
                                      with_holes(test::box<I>(8, 8, 8, test::Touching::faces), 8)));
  return all;
}

TEST(LoadedColumnsOfPlans, AreWaitedForByEveryPartOfEveryTask) {
  int with_neighbours = 0;
  std::set<std::string> orders;
  for (const auto& [name, matrix] : matrices_with_holes()) {
    for (const PowerStrategy strategy : test::kStrategies) {
      for (const Format format : test::kFormats) {
        for (const int threads : {1, 2, 7}) {
          PowerOptions options = test::quick_options();
          options.strategy = strategy;
          options.format = format;
          options.threads = threads;
          options.slice_height = format == Format::csr ? 0 : 32;
          options.cache_bytes = 40000;
          const auto plan = detail::prepare(matrix, options);
          const Prepared& prepared = *plan;
          const std::vector<Loads> loads = loads_of(prepared);
          const I rows = prepared.arrangement->matrix.rows();
          for (const Sweep<I>& sweep : prepared.sweeps) {
            EXPECT_EQ(races_of(sweep, rows, loads), 0)
                << name << ", " << name_of(strategy) << ", " << name_of(format) << ", " << threads
                << " threads, rows " << text_of(prepared.record.choice().order);
            for (std::size_t task = 0; task < sweep.schedule().tasks.size(); ++task) {
              with_neighbours += sweep.waits_for(task, 0, sweep.parts() - 1) ? 0 : 1;
            }
          }
          orders.insert(text_of(prepared.record.choice().order));
        }
      }
    }
  }
  // Else the claim would be about less than it says.
  EXPECT_GT(with_neighbours, 0) << "no part ever waits for some of the others only";
  EXPECT_GT(orders.size(), 1U);
}

// The powers that the plan's kernels compute while threads sleep now and then, so that others
// overtake them.
std::vector<std::vector<double>> powers_with_delays(const Prepared& prepared, std::uint64_t seed) {
  const Random random(seed, 13);
  const auto& matrix = prepared.arrangement->matrix;
  std::vector<std::vector<double>> powers(prepared.options.power + 1,
                                          std::vector<double>(matrix.rows(), 0.0));
  std::ranges::fill(powers[0], 1.0);
  std::vector<ProgressCounter> counters(prepared.threads);
  int done = 0;
  for (const Sweep<I>& sweep : prepared.sweeps) {
    sweep.run(counters, [&](const Sweep<I>::Step& task) {
      const auto dice = static_cast<std::uint64_t>(task.rows.begin) * 64 + done + task.power;
      if (random.below(dice, 3) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      matrix.step(
          {}, {powers[done + task.power - 1].data(), nullptr, powers[done + task.power].data(), 1},
          task.rows);
    });
    done += sweep.schedule().power;
  }
  return powers;
}

// The same with threads that really run: for ThreadSanitizer, which sees loads of holes as well.
TEST(PowerPlan, NobodyWritesWhatHolesAndPaddingLeadTo) {
  for (const auto& [name, matrix] : matrices_with_holes()) {
    for (const PowerStrategy strategy : {PowerStrategy::levels, PowerStrategy::wavefront}) {
      for (const Format format : {Format::sell, Format::packed_sell}) {
        PowerOptions options = test::quick_options();
        options.strategy = strategy;
        options.format = format;
        options.slice_height = 32;
        options.cache_bytes = 40000;
        options.power = 3;
        for (const int threads : {2, 7}) {
          options.threads = threads;
          const auto plan = detail::prepare(matrix, options);
          const Prepared& prepared = *plan;
          const auto powers = powers_with_delays(prepared, 1);
          EXPECT_EQ(powers_with_delays(prepared, 2), powers)
              << name << ", " << name_of(strategy) << ", " << name_of(format) << ", " << threads
              << " threads";
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata
