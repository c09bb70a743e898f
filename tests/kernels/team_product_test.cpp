// Whole products on teams of threads against the reference kernels: every format, numbers of
// threads, vectors and coefficients, on every awkward matrix and on larger ones whose rows are cut
// and whose windows overlap.
#include "strata/kernels/cpu/team_product.hpp"

#include <gtest/gtest.h>

#include "strata/gen/generate.hpp"
#include "tests/support/step_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::random_vector;

template <class Types>
class CpuTeamProduct : public testing::Test {};
TYPED_TEST_SUITE(CpuTeamProduct, test::AllTypes);

// Large enough for many parts: rows that are longer than a part, windows that overlap and windows
// that do not, rows without entries.
constexpr const char* kLargerMatrices[] = {"arrow:3000", "band:2000,width=9", "random:1500,nnzr=7",
                                           "rmat:10,edges=8"};

// body(name, matrix) for all of them.
template <Value V, Index I, class Body>
void for_each_matrix(const Body& body) {
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) body(name, entries.to_csr());
  for (const char* spec : kLargerMatrices) body(spec, generate<V, I>(spec));
}

template <class Product>
auto on_team(const Product& product) {
  return [&product]<Value V>(const cpu::StepCoefficients<V>& coefficients,
                             const cpu::StepVectors<V>& vectors, auto /*all rows*/) {
    std::vector<V> scratch(product.scratch_elements(vectors.count), test::not_a_number<V>());
    product.run(coefficients, vectors, scratch);
  };
}

// `csr` is the matrix that the product multiplies by.
template <class Product, Value V, Index I>
void expect_steps(const Product& product, const Csr<V, I>& csr) {
  const V half = V(0.5f);
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const ThreadCountScope scope(threads);
    for (const int count : {1, 2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << count << " vectors");
      const auto expect = [&](const cpu::StepCoefficients<V>& coefficients) {
        test::expect_step(csr, coefficients, count, csr.all_rows(), on_team(product));
      };
      expect({});
      expect({.alpha = -half, .beta = V(2.0f)});
      if (csr.rows() == csr.cols()) expect({.alpha = V(2.0f), .shift = -half, .beta = V(-1.0f)});
    }
  }
}

template <Value V, Index I, class Build>
void expect_steps_on_all(const Build& build) {
  for_each_matrix<V, I>([&](const std::string& name, const Csr<V, I>& csr) {
    SCOPED_TRACE(name);
    const auto matrix = build(csr);
    expect_steps(cpu::TeamProduct(matrix), csr);
  });
}

TYPED_TEST(CpuTeamProduct, RowsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return csr; });
}

TYPED_TEST(CpuTeamProduct, CsrInEqualPartsAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for_each_matrix<V, I>([](const std::string& name, const Csr<V, I>& csr) {
    SCOPED_TRACE(name);
    expect_steps(cpu::EntriesProduct<Csr<V, I>>(csr), csr);
  });
}

TYPED_TEST(CpuTeamProduct, CsrInOtherWaysAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for_each_matrix<V, I>([](const std::string& name, const Csr<V, I>& csr) {
    SCOPED_TRACE(name);
    expect_steps(cpu::CsrProduct<V, I, cpu::CsrWay::gathers>(csr), csr);
    expect_steps(cpu::CsrProduct<V, I, cpu::CsrWay::loop>(csr), csr);
  });
}

TYPED_TEST(CpuTeamProduct, CooAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return Coo<V, I>::from_csr(csr); });
}

TYPED_TEST(CpuTeamProduct, CscAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return Csc<V, I>::from_csr(csr); });
}

template <Value V, Index I>
Csr<V, I> conjugated(const Csr<V, I>& matrix) {
  Array<V> values(matrix.values().begin(), matrix.values().end());
  if constexpr (!std::is_floating_point_v<V>) {
    for (V& value : values) value = std::conj(value);
  }
  return {matrix.rows(), matrix.cols(),
          Array<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()),
          Array<I>(matrix.columns().begin(), matrix.columns().end()), std::move(values)};
}

TYPED_TEST(CpuTeamProduct, TransposedProductsAgreeWithThoseOfTheTransposedMatrix) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  using Product = cpu::LinesProduct<V, I>;
  for_each_matrix<V, I>([](const std::string& name, const Csr<V, I>& csr) {
    SCOPED_TRACE(name);
    expect_steps(Product(csr, Product::Kind::transposed), transposed(csr));
    expect_steps(Product(csr, Product::Kind::conjugate_transposed), transposed(conjugated(csr)));
  });
}

// Lower triangles of all matrices that are square, with diagonals as the symmetry allows.
template <Value V, Index I>
SymmetricCsr<V, I> triangle_of(const Csr<V, I>& matrix, Symmetry symmetry) {
  Array<I> rows;
  Array<I> columns;
  Array<V> values;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const I column = matrix.columns()[k];
      if (column > row) continue;
      V value = matrix.values()[k];
      if (column == row && symmetry == Symmetry::skew_symmetric) value = V{};
      if (column == row && symmetry == Symmetry::hermitian) value = V(std::real(value));
      rows.push_back(row);
      columns.push_back(column);
      values.push_back(value);
    }
  }
  return {Coo<V, I>(matrix.rows(), matrix.cols(), rows, columns, values).to_csr(), symmetry};
}

TYPED_TEST(CpuTeamProduct, SymmetricCsrAgreesWithTheReferenceForEverySymmetry) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for_each_matrix<V, I>([](const std::string& name, const Csr<V, I>& csr) {
    if (csr.rows() != csr.cols()) return;
    SCOPED_TRACE(name);
    for (const Symmetry symmetry :
         {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
      const SymmetricCsr<V, I> triangle = triangle_of(csr, symmetry);
      expect_steps(cpu::TeamProduct(triangle), triangle.to_csr());
    }
  });
}

// Results of all kinds of products, which must not depend on who computed which part.
template <Value V, Index I>
std::vector<std::vector<V>> products_of(const Csr<V, I>& csr) {
  const std::vector<V> x = random_vector<V>(csr.cols(), 1);
  std::vector<std::vector<V>> results;
  const auto add = [&](const auto& product) {
    std::vector<V> y(csr.rows());
    on_team(product)(cpu::StepCoefficients<V>{}, cpu::StepVectors<V>{x.data(), nullptr, y.data()},
                     0);
    results.push_back(y);
  };
  const Coo<V, I> coo = Coo<V, I>::from_csr(csr);
  const Csc<V, I> csc = Csc<V, I>::from_csr(csr);
  const SymmetricCsr<V, I> triangle = triangle_of(csr, Symmetry::symmetric);
  add(cpu::EntriesProduct<Csr<V, I>>(csr));
  add(cpu::TeamProduct(coo));
  add(cpu::TeamProduct(csc));
  add(cpu::TeamProduct(triangle));
  return results;
}

TYPED_TEST(CpuTeamProduct, AnyNumberOfThreadsGivesTheSameBits) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const char* spec : kLargerMatrices) {
    SCOPED_TRACE(spec);
    const Csr<V, I> csr = generate<V, I>(spec);
    std::vector<std::vector<V>> alone;
    {
      const ThreadCountScope one(1);
      alone = products_of(csr);
    }
    for (const int threads : {2, 3, 16}) {
      const ThreadCountScope scope(threads);
      EXPECT_EQ(products_of(csr), alone) << threads << " threads";
    }
  }
}

TEST(EntryParts, EveryPartHasTheSameWorkEvenInsideOneRow) {
  const auto matrix = generate<double, std::int32_t>("arrow:100000");
  const cpu::EntryParts parts = cpu::entry_parts_of(matrix);
  ASSERT_GT(parts.count(), 100);
  const Offset each = parts.cuts[1].row + parts.cuts[1].entry;
  int inside = 0;
  for (int part = 0; part + 1 < parts.count(); ++part) {
    const cpu::PartCut& from = parts.cuts[part];
    const cpu::PartCut& to = parts.cuts[part + 1];
    EXPECT_EQ(to.row - from.row + to.entry - from.entry, each);
    inside += to.inside ? 1 : 0;
  }
  EXPECT_GT(inside, 50);  // the full row alone has a third of the entries
  EXPECT_EQ(parts.cuts.back().row, matrix.rows());
  EXPECT_EQ(parts.cuts.back().entry, matrix.nnz());
  EXPECT_FALSE(parts.cuts.back().inside);
}

TEST(EntryParts, CooIsCutWhereCsrIs) {
  const auto matrix = generate<double, std::int32_t>("rmat:10,edges=8");
  const cpu::EntryParts of_csr = cpu::entry_parts_of(matrix);
  const cpu::EntryParts of_coo = cpu::entry_parts_of(Coo<double, std::int32_t>::from_csr(matrix));
  ASSERT_EQ(of_csr.count(), of_coo.count());
  for (std::size_t i = 0; i < of_csr.cuts.size(); ++i) {
    EXPECT_EQ(of_csr.cuts[i].row, of_coo.cuts[i].row);
    EXPECT_EQ(of_csr.cuts[i].entry, of_coo.cuts[i].entry);
    EXPECT_EQ(of_csr.cuts[i].inside, of_coo.cuts[i].inside);
  }
}

TEST(LineWindows, PartsAreManyForABandAndFewWhereWindowsWouldOutgrowTheMatrix) {
  const auto band = generate<double, std::int32_t>("band:200000,width=9");
  const cpu::LineWindows of_band = cpu::line_windows_of(band, cpu::Touched::columns);
  EXPECT_EQ(of_band.count(), cpu::kMostLineParts);
  EXPECT_LT(of_band.window_rows, band.rows() + of_band.count() * 16);
  const auto random = generate<double, std::int32_t>("random:20000,nnzr=20");
  const cpu::LineWindows of_random = cpu::line_windows_of(random, cpu::Touched::columns);
  EXPECT_GT(of_random.count(), 4);
  EXPECT_LE(of_random.window_rows, random.nnz());
}

TEST(TeamProduct, CooThatIsNotInRowOrderIsRefused) {
  const Coo<double, std::int32_t> matrix(2, 2, {1, 0}, {0, 1}, {1.0, 2.0});
  EXPECT_THROW(cpu::TeamProduct{matrix}, InvalidArgument);
}

TEST(TeamProduct, TooLittleScratchAndTooManyVectorsAreRefused) {
  const auto matrix = generate<double, std::int32_t>("arrow:3000");
  const cpu::EntriesProduct<Csr<double, std::int32_t>> product(matrix);
  std::vector<double> x(9 * 3000), y(9 * 3000), scratch(product.scratch_elements(1));
  const cpu::StepVectors<double> one{x.data(), nullptr, y.data(), 1};
  EXPECT_NO_THROW(product.run({}, one, scratch));
  EXPECT_THROW(product.run({}, one, std::span(scratch).first(scratch.size() - 1)), InvalidArgument);
  EXPECT_THROW(product.run({}, {x.data(), nullptr, y.data(), 9}, scratch), InvalidArgument);
}

}  // namespace
}  // namespace strata
