// The choice of a level, and that levels agree bit by bit where they promise to.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/repeated_values.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using cpu::Level;

bool is_available(Level level) {
  return std::ranges::count(cpu::available_levels(), level) == 1;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// The words that Linux has for what the processor can do and the system supports.
std::vector<std::string> processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("flags") || line.starts_with("Features")) {
      return words_of(line.substr(line.find(':') + 1));
    }
  }
  return {};
}

TEST(CpuLevels, TheHighestOneRunsUnlessAnotherIsSet) {
  const auto levels = cpu::available_levels();
  EXPECT_EQ(levels.front(), Level::baseline);
  EXPECT_TRUE(std::ranges::is_sorted(levels));
  EXPECT_EQ(cpu::level(), levels.back());
  for (const Level level : levels) {
    const cpu::LevelScope scope(level);
    EXPECT_EQ(cpu::level(), level);
  }
  EXPECT_EQ(cpu::level(), levels.back());
}

TEST(CpuLevels, TheSystemNamesTheInstructionsOfEachLevel) {
  const std::vector<std::string> flags = processor_flags();
  if (flags.empty()) GTEST_SKIP() << "the system does not tell";
  // A build may leave levels out (STRATA_X86_LEVELS).
  const std::vector<std::string> built = words_of(STRATA_BUILT_LEVELS);
  const auto runs = [&](const std::string& level, const std::string& needed) {
    return std::ranges::count(built, level) > 0 &&
           std::ranges::all_of(words_of(needed), [&](const std::string& flag) {
             return std::ranges::count(flags, flag) > 0;
           });
  };
  EXPECT_EQ(is_available(Level::avx2), runs("avx2", "avx2 fma"));
  EXPECT_EQ(is_available(Level::avx512),
            runs("avx512", "avx2 fma avx512f avx512bw avx512dq avx512vl"));
}

TEST(CpuLevels, OneThatIsNotAvailableIsRefusedByName) {
  const Level before = cpu::level();
  bool refused = false;
  for (const Level level : {Level::avx2, Level::avx512}) {
    if (is_available(level)) continue;
    refused = true;
    try {
      cpu::set_level(level);
      ADD_FAILURE() << "level " << cpu::name_of(level) << " was taken";
    } catch (const Unavailable& error) {
      EXPECT_NE(std::string(error.what()).find(cpu::name_of(level)), std::string::npos);
    }
    EXPECT_EQ(cpu::level(), before);
  }
  if (!refused) GTEST_SKIP() << "this processor has all of them";
}

TEST(CpuLevels, HaveNamesOfTheirOwn) {
  EXPECT_EQ(cpu::name_of(Level::avx2), "avx2");
  EXPECT_EQ(cpu::name_of(Level::avx512), "avx512");
  const auto baseline = cpu::name_of(Level::baseline);
  EXPECT_TRUE(baseline == "sse2" || baseline == "neon" || baseline == "baseline") << baseline;
}

template <class Types>
class CpuBits : public testing::Test {};
TYPED_TEST_SUITE(CpuBits, test::AllTypes);

// The numbers of vector 0 after a step with all of its parts.
template <class Matrix>
auto step_of_first(const Matrix& matrix, int count) {
  using V = typename Matrix::value_type;
  const std::vector<V> first_x = test::random_vector<V>(matrix.cols(), 1);
  const std::vector<V> first_previous = test::random_vector<V>(matrix.rows(), 2);
  std::vector<V> x(first_x.size() * count, V{});
  std::vector<V> previous(first_previous.size() * count, V{});
  for (std::size_t i = 0; i < first_x.size(); ++i) x[i * count] = first_x[i];
  for (std::size_t i = 0; i < first_previous.size(); ++i) previous[i * count] = first_previous[i];
  std::vector<V> out(previous.size());
  const V factor = test::random_vector<V>(1, 3)[0];
  const bool square = matrix.rows() == matrix.cols();
  cpu::step(matrix, {.alpha = factor, .shift = square ? factor : V{}, .beta = factor},
            {x.data(), previous.data(), out.data(), count}, matrix.all_rows());
  std::vector<V> first(first_previous.size());
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = out[i * count];
  return first;
}

// A row's entries are added up one after the other, whatever stands beside the row. (CSR and BCSR
// have several sums per row.)
TYPED_TEST(CpuBits, DependOnNeitherFormatNorSliceHeightNorEncodingNorNumberOfVectors) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Level level : cpu::available_levels()) {
    const cpu::LevelScope scope(level);
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      SCOPED_TRACE(testing::Message() << name << ", " << cpu::name_of(level));
      const Csr<V, I> csr = entries.to_csr();
      const auto plain = Sell<V, I>::from_csr(csr, {.slice_height = 1, .max_fill = 1e9});
      const std::vector<V> expected = step_of_first(plain, 1);
      for (const int count : {1, 2, 3, 8}) {
        EXPECT_EQ(step_of_first(Ell<V, I>::from_csr(csr, {.max_fill = 1e9}), count), expected);
        EXPECT_EQ(step_of_first(Dia<V, I>::from_csr(csr, {.max_fill = 1e9}), count), expected);
        EXPECT_EQ(step_of_first(Jds<V, I>::from_csr(csr), count), expected);
        for (const Offset height : {4, 32}) {
          const auto sell = Sell<V, I>::from_csr(csr, {.slice_height = height, .max_fill = 1e9});
          EXPECT_EQ(step_of_first(sell, count), expected) << "C = " << height;
          for (const bool dia : {false, true}) {
            const auto packed = PackedSell<V, I>::from_csr(
                csr, {.slice_height = height, .max_fill = 1e9, .allowed = {.dia = dia}});
            EXPECT_EQ(step_of_first(packed, count), expected) << "C = " << height;
          }
        }
      }
    }
  }
}

// Whatever the encoding of the values, they are multiplied and added as full ones are. Values that
// are not finite make rows be summed again.
TYPED_TEST(CpuBits, DoNotDependOnTheEncodingOfTheValues) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  // At all levels, for several numbers of vectors.
  const auto all_steps = [](const PackedSell<V, I>& matrix) {
    std::vector<std::vector<V>> results;
    for (const Level level : cpu::available_levels()) {
      const cpu::LevelScope scope(level);
      for (const int count : {1, 2, 3, 8}) results.push_back(step_of_first(matrix, count));
    }
    return results;
  };
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    for (const test::Repeats repeats : test::kRepeats) {
      const Csr<V, I> csr = test::with_repeats(entries.to_csr(), repeats);
      for (const Offset height : {4, 8, 16, 32}) {
        const auto stored = [&](const AllowedValues& allowed) {
          return PackedSell<V, I>::from_csr(
              csr, {.slice_height = height, .max_fill = 1e9, .values = allowed});
        };
        const auto expected = all_steps(stored(AllowedValues::of(StoredValues::full)));
        for (const AllowedValues& allowed : test::kAllowedValues) {
          const auto results = all_steps(stored(allowed));
          for (std::size_t i = 0; i < results.size(); ++i) {
            EXPECT_TRUE(test::same_results(results[i], expected[i]))
                << name << ", C = " << height << ", repeats " << static_cast<int>(repeats)
                << ", set " << &allowed - test::kAllowedValues << ", step " << i;
          }
        }
      }
    }
  }
}

// A band with holes whose entries are drawn from so many values, enough of them for every table of
// few values to be worth its filling.
template <Value V, Index I>
Csr<V, I> band_of_values(std::size_t distinct) {
  constexpr I kRows = 4200;
  const Random random(distinct);
  std::vector<V> values = test::random_vector<V>(static_cast<Offset>(distinct), 5);
  if (distinct > 4) {
    values[1] = V(-0.0);
    values[3] = std::numeric_limits<decltype(std::abs(V{}))>::denorm_min();
  }
  test::Entries<V, I> band(kRows, kRows, 6);
  for (I row = 0; row < kRows; ++row) {
    for (const I offset : {-64, -1, 0, 1, 2, 63, 64}) {
      const auto draw =
          static_cast<std::uint64_t>(row) * 256 + static_cast<std::uint64_t>(offset + 64);
      const I column = row + offset;
      if (column < 0 || column >= kRows || random.below(draw, 64) == 0) continue;
      band.add(row, column, values[random.below(draw + (std::uint64_t{1} << 40), distinct)]);
    }
  }
  return band.coo().to_csr();
}

// All results of a step on vectors with NaN, infinities, both zeros and small numbers in them.
template <class Matrix>
auto step_of_special(const Matrix& matrix, int count, bool three_terms) {
  using V = typename Matrix::value_type;
  using Real = decltype(std::abs(V{}));
  std::vector<V> x = test::random_vector<V>(Offset{matrix.cols()} * count, 1);
  const Random random(3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t draw = random.below(i, 500);
    if (draw < 7) x[i] = test::special_value<V>(draw);
    if (draw >= 400) x[i] *= std::numeric_limits<Real>::min();
  }
  const std::vector<V> previous = test::random_vector<V>(Offset{matrix.rows()} * count, 2);
  const V factor = three_terms ? test::random_vector<V>(1, 3)[0] : V{};
  std::vector<V> out(previous.size());
  cpu::step(matrix, {.alpha = three_terms ? factor : V{1}, .shift = factor, .beta = factor},
            {x.data(), previous.data(), out.data(), count}, matrix.all_rows());
  return out;
}

TYPED_TEST(CpuBits, DoNotDependOnTheNumberOfDistinctValues) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const std::size_t distinct : {1, 2, 15, 16, 17, 31, 32, 33, 256, 257}) {
    const Csr<V, I> csr = band_of_values<V, I>(distinct);
    for (const Offset height : {4, 8, 16, 32}) {
      const auto stored = [&](const AllowedValues& allowed) {
        return PackedSell<V, I>::from_csr(csr, {.slice_height = height, .values = allowed});
      };
      const auto full = stored(AllowedValues::of(StoredValues::full));
      const PackedSell<V, I> encoded[] = {stored({}), stored({.constant = false}),
                                          stored(AllowedValues::of(StoredValues::few))};
      for (const Level level : cpu::available_levels()) {
        const cpu::LevelScope scope(level);
        for (const auto& [count, three_terms] :
             {std::pair(1, false), {1, true}, {1 + static_cast<int>(distinct % 8), true}}) {
          const std::vector<V> expected = step_of_special(full, count, three_terms);
          for (const auto& packed : encoded) {
            EXPECT_TRUE(test::same_results(step_of_special(packed, count, three_terms), expected))
                << distinct << " values, C = " << height << ", " << cpu::name_of(level) << ", "
                << count << " vectors, set " << &packed - encoded;
          }
        }
      }
    }
  }
}

// Values and columns are decoded some entries or lanes at a time. Rows have more than fit, fewer of
// which many lanes fit, or none.
TYPED_TEST(CpuBits, DoNotDependOnHowMuchIsDecodedAtATime) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  constexpr I kRows = 72;
  constexpr I kColumns = 9000;
  const Random random(9);
  const std::vector<V> values = test::random_vector<V>(7, 5);
  test::Entries<V, I> entries(kRows, kColumns, 8);
  for (I row = 0; row < kRows; ++row) {
    const std::uint64_t wanted = row < 32 ? 600 : row == 40 ? 6000 : row < 64 ? 40 : 0;
    for (I column = 0; column < kColumns; ++column) {
      const auto draw =
          static_cast<std::uint64_t>(row) * kColumns + static_cast<std::uint64_t>(column);
      if (random.below(draw, kColumns) >= wanted) continue;
      entries.add(row, column,
                  values[random.below(draw + (std::uint64_t{1} << 40), values.size())]);
    }
  }
  const Csr<V, I> csr = entries.coo().to_csr();
  for (const Level level : cpu::available_levels()) {
    const cpu::LevelScope scope(level);
    for (const Offset height : {4, 8, 16, 32}) {
      const auto stored = [&](const AllowedValues& allowed) {
        return PackedSell<V, I>::from_csr(
            csr, {.slice_height = height, .max_fill = 1e9, .values = allowed});
      };
      const auto full = stored(AllowedValues::of(StoredValues::full));
      const auto few = stored(AllowedValues::of(StoredValues::few));
      EXPECT_LT(few.footprint().bytes(), full.footprint().bytes());
      for (const int count : {1, 2, 5}) {
        EXPECT_EQ(step_of_first(few, count), step_of_first(full, count))
            << cpu::name_of(level) << ", C = " << height << ", " << count << " vectors";
      }
    }
  }
}

// All levels but the baseline of x86-64 fuse.
TYPED_TEST(CpuBits, AreTheSameAtEveryLevelThatFuses) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  std::vector<Level> fusing;
  for (const Level level : cpu::available_levels()) {
    if (cpu::name_of(level) != "sse2") fusing.push_back(level);
  }
  if (fusing.size() < 2) GTEST_SKIP() << "there are no two such levels";
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    const Csr<V, I> csr = entries.to_csr();
    const auto expect_same = [&](const auto& matrix) {
      const cpu::LevelScope scope(fusing.front());
      const std::vector<V> expected = step_of_first(matrix, 1);
      for (const Level level : fusing) {
        SCOPED_TRACE(testing::Message() << name << ", " << cpu::name_of(level));
        cpu::set_level(level);
        EXPECT_EQ(step_of_first(matrix, 1), expected);
      }
    };
    expect_same(csr);
    expect_same(Sell<V, I>::from_csr(csr, {.slice_height = 16, .max_fill = 1e9}));
    expect_same(PackedSell<V, I>::from_csr(csr, {.slice_height = 32, .max_fill = 1e9}));
    expect_same(Ell<V, I>::from_csr(csr, {.max_fill = 1e9}));
    expect_same(Dia<V, I>::from_csr(csr, {.max_fill = 1e9}));
    expect_same(Jds<V, I>::from_csr(csr));
    for (const Offset rows : {1, 2, 3, 4, 6, 8}) {
      for (const Offset cols : {1, 2, 3, 4, 6, 8}) {
        expect_same(
            Bcsr<V, I>::from_csr(csr, {.block_rows = rows, .block_cols = cols, .max_fill = 1e9}));
      }
    }
  }
}

}  // namespace
}  // namespace strata
