// The CPU kernels against the reference kernels: every format, encoding, slice height, shape of
// blocks, number of vectors, coefficient and row range, on every awkward matrix, at every level of
// instructions that this machine has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "tests/support/step_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::random_vector;
using test::StepCase;

template <class Types>
class CpuStep : public testing::Test {};
TYPED_TEST_SUITE(CpuStep, test::AllTypes);

// How the CPU runs a step.
template <class Matrix>
auto on_cpu(const Matrix& matrix) {
  using V = typename Matrix::value_type;
  using I = typename Matrix::index_type;
  return [&matrix](const cpu::StepCoefficients<V>& coefficients, const cpu::StepVectors<V>& vectors,
                   RowRange<I> rows) { cpu::step(matrix, coefficients, vectors, rows); };
}

// body() at each level.
template <class Body>
void at_every_level(const Body& body) {
  for (const cpu::Level level : cpu::available_levels()) {
    SCOPED_TRACE(cpu::name_of(level));
    const cpu::LevelScope scope(level);
    body();
  }
}

constexpr std::initializer_list<int> kAllCounts{1, 2, 3, 4, 5, 6, 7, 8};

// A matrix with what steps of it have to give, which is found when it is asked for first.
template <Value V, Index I>
class Subject {
 public:
  Subject(std::string name, const Csr<V, I>& csr)
      : name_(std::move(name)), csr_(std::make_unique<const Csr<V, I>>(csr)) {}

  const std::string& name() const { return name_; }
  const Csr<V, I>& csr() const { return *csr_; }

  struct Case {
    StepCase<V, I> step;
    bool middle;  // on some rows alone
  };
  const std::vector<Case>& cases_of(int count) {
    std::vector<Case>& cases = cases_[count];
    if (!cases.empty()) return cases;
    const V half = V(0.5f);
    const auto add = [&](const cpu::StepCoefficients<V>& coefficients, bool middle = false) {
      cases.push_back({{*csr_, coefficients, count}, middle});
    };
    add({});
    add({.alpha = -half, .beta = V(2.0f)});
    add({.beta = half}, true);
    if (csr_->rows() == csr_->cols()) {
      add({.alpha = half, .shift = V(0.75f)});
      add({.alpha = V(2.0f), .shift = -half, .beta = V(-1.0f)});
    }
    return cases;
  }

 private:
  std::string name_;
  std::unique_ptr<const Csr<V, I>> csr_;  // cases point to it
  std::map<int, std::vector<Case>> cases_;
};

// Formats, encodings and levels all have to give the same.
template <Value V, Index I>
std::vector<Subject<V, I>>& awkward_subjects() {
  static std::vector<Subject<V, I>> subjects = [] {
    std::vector<Subject<V, I>> made;
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      made.emplace_back(name, entries.to_csr());
    }
    return made;
  }();
  return subjects;
}

template <class Matrix, Value V, Index I>
void expect_steps(const Matrix& matrix, Subject<V, I>& subject, std::initializer_list<int> counts) {
  SCOPED_TRACE(subject.name());
  const RowRange<I> all = subject.csr().all_rows();
  const RowRange<I> middle = test::middle_rows(subject.csr().rows(), cpu::row_alignment(matrix));
  for (const int count : counts) {
    SCOPED_TRACE(testing::Message() << count << " vectors");
    for (const auto& [step, some] : subject.cases_of(count)) {
      step.expect(some ? middle : all, on_cpu(matrix));
    }
  }
}

template <Value V, Index I, class Build>
void expect_steps_on_all(Build&& build, std::initializer_list<int> counts = kAllCounts) {
  for (Subject<V, I>& subject : awkward_subjects<V, I>()) {
    const auto matrix = build(subject.csr());
    at_every_level([&] { expect_steps(matrix, subject, counts); });
  }
}

TYPED_TEST(CpuStep, CsrAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return csr; });
}

TYPED_TEST(CpuStep, CooInBlocksAgreesWithTheReferenceForAnySize) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [rows, cols] :
       {std::pair<Offset, Offset>{1, 1}, {3, 5}, {16, 4}, {65536, 65536}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
      return BlockedCoo<V, I>::from_csr(csr, {.block_rows = rows, .block_cols = cols});
    });
  }
}

TYPED_TEST(CpuStep, SellAgreesWithTheReferenceForAnyHeightAndWindow) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [height, window] :
       {std::pair<Offset, Offset>{1, 1}, {4, 1}, {8, 16}, {5, 1}, {16, 1}, {32, 64}}) {
    SCOPED_TRACE(testing::Message() << "C = " << height << ", sigma = " << window);
    expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
      return Sell<V, I>::from_csr(csr,
                                  {.slice_height = height, .sort_window = window, .max_fill = 1e9});
    });
  }
}

TYPED_TEST(CpuStep, PackedSellAgreesWithTheReferenceInEveryEncoding) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  // index32 stays allowed, for it is the only one that fits everything.
  const AllowedEncodings all;
  const AllowedEncodings no_dia{.dia = false};
  const AllowedEncodings wide{.dia = false, .delta8 = false};
  const AllowedEncodings plain{.dia = false, .delta8 = false, .delta16 = false};
  for (const Offset height : {4, 8, 16, 32}) {
    for (const AllowedEncodings& allowed : {all, no_dia, wide, plain}) {
      SCOPED_TRACE(testing::Message() << "C = " << height);
      expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
        return PackedSell<V, I>::from_csr(
            csr, {.slice_height = height, .sort_window = 1, .max_fill = 1e9, .allowed = allowed});
      });
    }
  }
  expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
    return PackedSell<V, I>::from_csr(csr, {.slice_height = 8, .sort_window = 24, .max_fill = 1e9});
  });
}

TYPED_TEST(CpuStep, EllAndJdsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>(
      [](const Csr<V, I>& csr) { return Ell<V, I>::from_csr(csr, {.max_fill = 1e9}); });
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return Jds<V, I>::from_csr(csr); });
}

TYPED_TEST(CpuStep, DiaAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const auto build = [](const Csr<V, I>& csr) {
    return Dia<V, I>::from_csr(csr, {.max_fill = 1e9});
  };
  expect_steps_on_all<V, I>(build);
  // Diagonals that begin and end anywhere among the rows that run together.
  for (const auto& [rows, cols] : {std::pair<I, I>{300, 290}, {290, 333}, {400, 90}}) {
    test::Entries<V, I> entries(rows, cols, 8);
    for (I row = 0; row < rows; ++row) {
      for (const I offset : {-310, -130, -65, -3, 0, 1, 150}) {
        const I column = row + offset;
        if (column >= 0 && column < cols && (row + offset) % 29 != 0) entries.add(row, column);
      }
    }
    Subject<V, I> band(fmt::format("band of {} x {}", rows, cols), entries.coo().to_csr());
    const auto matrix = build(band.csr());
    at_every_level([&] { expect_steps(matrix, band, {1, 3}); });
  }
}

TYPED_TEST(CpuStep, BcsrAgreesWithTheReferenceForAnyBlocks) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const auto expect = [](Offset rows, Offset cols, std::initializer_list<int> counts) {
    SCOPED_TRACE(testing::Message() << "blocks of " << rows << " x " << cols);
    expect_steps_on_all<V, I>(
        [&](const Csr<V, I>& csr) {
          return Bcsr<V, I>::from_csr(csr,
                                      {.block_rows = rows, .block_cols = cols, .max_fill = 1e9});
        },
        counts);
  };
  for (const Offset rows : {1, 2, 3, 4, 6, 8}) {
    for (const Offset cols : {1, 2, 3, 4, 6, 8}) expect(rows, cols, {1});
  }
  for (const auto& [rows, cols] :
       {std::pair<Offset, Offset>{3, 3}, {4, 2}, {5, 5}, {2, 7}, {7, 1}, {16, 3}}) {
    expect(rows, cols, kAllCounts);
  }
}

// With padding that uses column 4 wherever it is no entry.
template <Value V, Index I>
Ell<V, I> ell_with_padding_at_4(const Csr<V, I>& csr) {
  const auto ell = Ell<V, I>::from_csr(csr);
  Array<I> columns(ell.columns().begin(), ell.columns().end());
  for (I row = 0; row < ell.rows(); ++row) {
    for (I entry = ell.row_lengths()[row]; entry < ell.width(); ++entry) {
      columns[ell.position(row, entry)] = 4;
    }
  }
  return Ell<V, I>(ell.rows(), ell.cols(), ell.width(),
                   Array<I>(ell.row_lengths().begin(), ell.row_lengths().end()), std::move(columns),
                   Array<V>(ell.values().begin(), ell.values().end()));
}

TYPED_TEST(CpuStep, HolesNeverLetAnythingThrough) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const Csr<V, I> csr = test::tridiagonal_with_a_hole<V, I>(150);
  const V infinity(std::numeric_limits<decltype(std::abs(V{}))>::infinity());
  for (const int count : {1, 3}) {
    const auto expect = [&](const auto& matrix) {
      at_every_level([&] {
        test::expect_holes_let_nothing_through(csr, count, on_cpu(matrix));
        test::expect_holes_let_nothing_through(csr, count, on_cpu(matrix), infinity);
      });
    };
    expect(csr);
    expect(ell_with_padding_at_4(csr));
    expect(Dia<V, I>::from_csr(csr));
    expect(Jds<V, I>::from_csr(csr));
    for (const Offset rows : {1, 2, 3, 4, 6, 8, 5}) {
      for (const Offset cols : {1, 2, 3, 4, 6, 8, 7}) {
        SCOPED_TRACE(testing::Message() << "blocks of " << rows << " x " << cols);
        expect(
            Bcsr<V, I>::from_csr(csr, {.block_rows = rows, .block_cols = cols, .max_fill = 1e9}));
      }
    }
    expect(Sell<V, I>::from_csr(csr, {.slice_height = 8}));
    expect(PackedSell<V, I>::from_csr(csr, {.slice_height = 8}));
  }
}

TEST(CpuKernels, MoreThanEightVectorsAreRefused) {
  const Csr<double, std::int32_t> matrix;
  EXPECT_THROW(cpu::step(matrix, {}, {nullptr, nullptr, nullptr, 9}, {0, 0}), InvalidArgument);
  EXPECT_THROW(cpu::step(matrix, {}, {nullptr, nullptr, nullptr, 0}, {0, 0}), InvalidArgument);
}

// The order in which a row is summed does not depend on the range it is computed in.
TYPED_TEST(CpuStep, AnySplitOfTheRowsGivesTheSameBits) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const std::vector<V> x = random_vector<V>(csr.cols(), 1);
    // In ranges of so many rows, or slots.
    const auto expect = [&](const auto& matrix, I length) {
      std::vector<V> whole(csr.rows());
      std::vector<V> pieces(csr.rows());
      cpu::step(matrix, {}, {x.data(), nullptr, whole.data(), 1}, matrix.all_rows());
      for (I row = 0; row < csr.rows(); row += length) {
        cpu::step(matrix, {}, {x.data(), nullptr, pieces.data(), 1},
                  {row, std::min<I>(row + length, csr.rows())});
      }
      EXPECT_EQ(whole, pieces) << "ranges of " << length;
    };
    expect(csr, 1);
    expect(PackedSell<V, I>::from_csr(csr, {.slice_height = 4, .max_fill = 1e9}), 4);
    for (const I length : {1, 19}) {
      expect(Ell<V, I>::from_csr(csr, {.max_fill = 1e9}), length);
      expect(Dia<V, I>::from_csr(csr, {.max_fill = 1e9}), length);
      expect(Jds<V, I>::from_csr(csr), length);
    }
    for (const Offset cols : {1, 2, 3, 4}) {
      expect(Bcsr<V, I>::from_csr(csr, {.block_rows = 2, .block_cols = cols, .max_fill = 1e9}), 2);
    }
  }
}

TYPED_TEST(CpuStep, UpcomingRowsChangeNothing) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const std::vector<V> x = random_vector<V>(csr.cols(), 1);
    const std::vector<V> before = random_vector<V>(csr.rows(), 2);
    for (const StoredValues values : {StoredValues::full, StoredValues::all}) {
      for (const Offset height : {4, 8, 16, 32}) {
        const auto matrix =
            PackedSell<V, I>::from_csr(csr, {.slice_height = height,
                                             .max_fill = 1e9,
                                             .stored_values = static_cast<Offset>(values)});
        const auto result = [&](const cpu::StepCoefficients<V>& coefficients,
                                RowRange<I> upcoming) {
          std::vector<V> out = before;
          cpu::step(matrix, coefficients, {x.data(), out.data(), out.data(), 1}, matrix.all_rows(),
                    upcoming);
          return out;
        };
        const RowRange<I> middle = test::middle_rows(csr.rows(), static_cast<I>(height));
        at_every_level([&] {
          for (const auto& coefficients :
               {cpu::StepCoefficients<V>{}, {.alpha = V(0.5f), .beta = V(2.0f)}}) {
            const std::vector<V> expected = result(coefficients, {});
            EXPECT_EQ(result(coefficients, matrix.all_rows()), expected);
            EXPECT_EQ(result(coefficients, middle), expected);
          }
        });
      }
    }
  }
}

// A range of slots writes the rows that they hold and nothing else.
TYPED_TEST(CpuStep, JdsTakesAnyRangeOfSlots) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const auto jds = Jds<V, I>::from_csr(csr);
    const RowRange<I> slots = test::middle_rows(csr.rows(), I{1});
    for (const int count : {1, 2}) {
      const auto elements = static_cast<std::size_t>(csr.rows()) * count;
      const auto x = random_vector<V>(static_cast<std::size_t>(csr.cols()) * count, 1);
      std::vector<V> whole(elements);
      std::vector<V> some(elements, test::not_a_number<V>());
      cpu::step(jds, {}, {x.data(), nullptr, whole.data(), count}, jds.all_rows());
      cpu::step(jds, {}, {x.data(), nullptr, some.data(), count}, slots);
      for (I slot = 0; slot < csr.rows(); ++slot) {
        const auto first = static_cast<std::size_t>(jds.row_of_slot()[slot]) * count;
        for (std::size_t at = first; at < first + count; ++at) {
          if (slots.contains(slot)) {
            EXPECT_EQ(some[at], whole[at]) << "slot " << slot;
          } else {
            EXPECT_NE(some[at], some[at]) << "slot " << slot << " is outside the range";
          }
        }
      }
    }
  }
}

// Each row, or slot, is in one part, and parts begin where the step may.
TYPED_TEST(CpuStep, PartsOfThreadsAreAllOfTheRows) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const auto expect = [&](const auto& matrix, I alignment) {
      for (const int parts : {1, 2, 3, 7, 200}) {
        I before = 0;
        for (int part = 0; part < parts; ++part) {
          const RowRange<I> rows = cpu::balanced_rows(matrix, part, parts);
          ASSERT_EQ(rows.begin, before) << "part " << part << " of " << parts;
          ASSERT_LE(rows.begin, rows.end);
          ASSERT_TRUE(rows.begin == csr.rows() || rows.begin % alignment == 0);
          before = rows.end;
        }
        EXPECT_EQ(before, csr.rows()) << parts << " parts";
      }
    };
    expect(csr, 1);
    expect(Sell<V, I>::from_csr(csr, {.slice_height = 4, .sort_window = 8, .max_fill = 1e9}), 8);
    expect(PackedSell<V, I>::from_csr(csr, {.slice_height = 8, .max_fill = 1e9}), 8);
    expect(Ell<V, I>::from_csr(csr, {.max_fill = 1e9}), 1);
    expect(Dia<V, I>::from_csr(csr, {.max_fill = 1e9}), 1);
    expect(Jds<V, I>::from_csr(csr), 1);
    expect(Bcsr<V, I>::from_csr(csr, {.block_rows = 3, .block_cols = 2, .max_fill = 1e9}), 3);
  }
}

TEST(CpuParts, OfJdsHaveAsManyEntries) {
  using Matrix = Csr<double, std::int32_t>;
  test::Entries<double, std::int32_t> entries(100, 100, 1);
  for (int row = 0; row < 100; ++row) {
    for (int column = 0; column <= row; ++column) entries.add(row, column);
  }
  const Matrix csr = entries.coo().to_csr();
  const auto jds = Jds<double, std::int32_t>::from_csr(csr);
  for (int part = 0; part < 4; ++part) {
    Offset in_part = 0;
    const auto slots = cpu::balanced_rows(jds, part, 4);
    for (auto slot = slots.begin; slot < slots.end; ++slot) in_part += jds.row_of_slot()[slot] + 1;
    EXPECT_NEAR(static_cast<double>(in_part), static_cast<double>(csr.nnz()) / 4, 100);
  }
}

}  // namespace
}  // namespace strata
