// Right results are accepted: every kernel of a processor, on every awkward matrix, with numbers of
// all sizes. The bound is one of worst cases, so nothing here may depend on luck.

#include <functional>

#include "strata/formats/bcsr.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csc.hpp"
#include "strata/formats/dia.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/hyb.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/formats/symmetric_csr.hpp"
#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

using I = std::int32_t;

// Replaces numbers by others of a kind.
enum class Numbers { ordinary, of_all_sizes, near_underflow, cancelling };
constexpr Numbers kAllNumbers[] = {Numbers::ordinary, Numbers::of_all_sizes,
                                   Numbers::near_underflow, Numbers::cancelling};

template <Value V>
V of_kind(V value, Numbers kind, std::uint64_t counter) {
  using Real = RealOf<V>;
  const Random random(11);
  const int smallest = std::numeric_limits<Real>::min_exponent;
  const auto scaled = [&](int exponent) { return value * V(std::ldexp(Real{1}, exponent)); };
  switch (kind) {
    case Numbers::ordinary: return value;
    // Products of three stay below the largest number.
    case Numbers::of_all_sizes: return scaled(static_cast<int>(random.below(counter, 61)) - 30);
    // Products of two are normal, denormal or nothing.
    case Numbers::near_underflow:
      return scaled(smallest / 2 + static_cast<int>(random.below(counter, 30)) - 20);
    // The same few numbers with either sign: sums are often next to nothing.
    case Numbers::cancelling: return number<V>(std::real(value) < 0 ? -1.1 : 1.1);
  }
  return value;
}

template <Value V>
std::vector<V> vector_of_kind(std::size_t size, Numbers kind, std::uint64_t seed) {
  std::vector<V> vector = random_vector<V>(size, seed);
  for (std::size_t i = 0; i < size; ++i) vector[i] = of_kind(vector[i], kind, i + seed * size);
  return vector;
}

template <Value V>
Matrix<V> of_kind(Matrix<V> matrix, Numbers kind) {
  const auto values = matrix.mutable_values();
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = of_kind(values[k], kind, k);
  return matrix;
}

template <Value V>
std::vector<cpu::StepCoefficients<V>> coefficients() {
  std::vector<cpu::StepCoefficients<V>> all = {{},
                                               {.alpha = number<V>(0.3)},
                                               {.alpha = number<V>(-7), .beta = number<V>(1.3)},
                                               {.beta = V{1}}};
  if constexpr (is_complex<V>) all.push_back({.alpha = V(0.3F, -0.7F), .beta = V(0.1F, 1.9F)});
  return all;
}

// Calls use(matrix) with the matrix in every format that takes it.
template <Value V>
void for_each_format(
    const Matrix<V>& csr,
    const std::function<void(
        const char*, std::function<void(V, const std::vector<V>&, V, std::vector<V>&)>)>& use) {
  const auto with = [&](const char* name, const auto& matrix) {
    use(name, [&](V alpha, const std::vector<V>& x, V beta, std::vector<V>& y) {
      reference::spmv(matrix, alpha, x, beta, y);
    });
  };
  with("csr", csr);
  with("coo", Coo<V, I>::from_csr(csr));
  with("csc", Csc<V, I>::from_csr(csr));
  with("ell", Ell<V, I>::from_csr(csr, {.max_fill = 1e9}));
  with("hyb", Hyb<V, I>::from_csr(csr));
  with("dia", Dia<V, I>::from_csr(csr, {.max_fill = 1e9}));
  with("bcsr", Bcsr<V, I>::from_csr(csr, {.block_rows = 3, .block_cols = 2}));
  with("sell", Sell<V, I>::from_csr(csr, {.slice_height = 8, .sort_window = 16}));
  with("packed-sell", PackedSell<V, I>::from_csr(csr));
}

void expect_passed(const Check& check) {
  EXPECT_TRUE(check.passed) << check.explain();
  EXPECT_EQ(check.judged, check.elements);
}

template <class V>
class ValidationAccepts : public testing::Test {};
TYPED_TEST_SUITE(ValidationAccepts, AllValues);

TYPED_TEST(ValidationAccepts, ReferenceKernelsOfAllFormats) {
  using V = TypeParam;
  for (const auto& [name, entries] : awkward_matrices<V, I>()) {
    for (const Numbers kind : kAllNumbers) {
      SCOPED_TRACE(testing::Message() << name << ", numbers " << static_cast<int>(kind));
      const Matrix<V> matrix = of_kind<V>(entries.to_csr(), kind);
      const auto x = vector_of_kind<V>(matrix.cols(), kind, 1);
      const auto y = vector_of_kind<V>(matrix.rows(), kind, 2);
      for (const auto& step : coefficients<V>()) {
        for_each_format<V>(matrix, [&](const char* format, const auto& multiply) {
          SCOPED_TRACE(format);
          std::vector<V> out = y;
          if (step.beta == V{}) poison<V>(out);
          multiply(step.alpha, x, step.beta, out);
          expect_passed(check_step(matrix, step, x, y, out));
        });
      }
    }
  }
}

TYPED_TEST(ValidationAccepts, TheHalfThatIsStoredOfSymmetricMatrices) {
  using V = TypeParam;
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::skew_symmetric}) {
    const Matrix<V> matrix = with_symmetry(grid<V>(12, 10), symmetry);
    const auto half = SymmetricCsr<V, I>::from_csr(matrix, symmetry);
    const auto x = random_vector<V>(120, 1);
    std::vector<V> y(120);
    poison<V>(y);
    reference::spmv(half, number<V>(0.3), x, V{}, y);
    expect_passed(check_step(matrix, {.alpha = number<V>(0.3)}, x, {}, y));
  }
}

// By ranges of rows that together are all of them.
TYPED_TEST(ValidationAccepts, ProcessorKernelsOnAnyRanges) {
  using V = TypeParam;
  const auto run = [](const auto& stored, const Matrix<V>& matrix, Numbers kind, int vectors) {
    const auto x = vector_of_kind<V>(static_cast<std::size_t>(matrix.cols()) * vectors, kind, 1);
    const auto y = vector_of_kind<V>(static_cast<std::size_t>(matrix.rows()) * vectors, kind, 2);
    const I alignment = cpu::row_alignment(stored);
    const Random random(5);
    for (auto step : coefficients<V>()) {
      if (matrix.rows() == matrix.cols()) step.shift = number<V>(0.6);
      std::vector<V> out(y.size());
      poison<V>(out);
      I begin = 0;
      for (std::uint64_t k = 0; begin < matrix.rows(); ++k) {
        const I length = alignment * static_cast<I>(1 + random.below(k, 5));
        const I end = std::min<I>(matrix.rows(), begin + length);
        cpu::step(stored, step, {x.data(), y.data(), out.data(), vectors}, {begin, end});
        begin = end;
      }
      expect_passed(check_step(matrix, step, x, y, out, vectors));
    }
  };
  for (const auto& [name, entries] : awkward_matrices<V, I>()) {
    for (const Numbers kind : kAllNumbers) {
      for (const int vectors : {1, 3}) {
        SCOPED_TRACE(testing::Message() << name << ", numbers " << static_cast<int>(kind) << ", "
                                        << vectors << " vectors");
        const Matrix<V> matrix = of_kind<V>(entries.to_csr(), kind);
        run(matrix, matrix, kind, vectors);
        for (const I height : {4, 32}) {
          run(Sell<V, I>::from_csr(matrix, {.slice_height = height, .sort_window = 2 * height}),
              matrix, kind, vectors);
          run(Sell<V, I>::from_csr(matrix, {.slice_height = height}), matrix, kind, vectors);
          PackedSellOptions packed;
          packed.slice_height = height;
          run(PackedSell<V, I>::from_csr(matrix, packed), matrix, kind, vectors);
        }
      }
    }
  }
}

// Numbers of all sizes may overflow in single precision.
template <Value V>
void expect_powers_passed(const Matrix<V>& matrix, const PowerOptions& options) {
  SCOPED_TRACE(testing::Message() << name_of(options.strategy) << ", " << name_of(options.format)
                                  << ", " << options.basis.name() << ", " << options.vectors
                                  << " vectors");
  const auto x = random_vector<V>(static_cast<std::size_t>(matrix.rows()) * options.vectors, 1);
  const auto y = powers(matrix, x, options);
  const Check check = check_powers(matrix, x, y, options.basis, options.power, options.vectors);
  EXPECT_TRUE(check.passed) << check.explain();
  EXPECT_GE(check.compared, sizeof(RealOf<V>) == 8 ? options.power : 2);
}

TYPED_TEST(ValidationAccepts, PlansOfAllStrategiesFormatsAndBases) {
  using V = TypeParam;
  PowerOptions options{.power = 4, .threads = 2};
  for (const auto& [name, entries] : awkward_matrices<V, I>()) {
    for (const Numbers kind : {Numbers::ordinary, Numbers::of_all_sizes, Numbers::cancelling}) {
      SCOPED_TRACE(testing::Message() << name << ", numbers " << static_cast<int>(kind));
      const Matrix<V> matrix = of_kind<V>(entries.to_csr(), kind);
      if (matrix.rows() != matrix.cols()) continue;
      for (const PowerStrategy strategy :
           {PowerStrategy::spmv, PowerStrategy::levels, PowerStrategy::wavefront}) {
        for (const Format format : {Format::csr, Format::sell, Format::packed_sell}) {
          options.strategy = strategy;
          options.format = format;
          options.vectors = 1;
          for (const Basis& basis : {Basis::monomial(), Basis::scaled(3), Basis::chebyshev(-4, 4),
                                     Basis::newton({0.5, {1, 2}, {1, -2}, -1.0})}) {
            options.basis = basis;
            expect_powers_passed(matrix, options);
          }
          options.vectors = 3;
          expect_powers_passed(matrix, options);
        }
      }
    }
  }
}

TEST(ValidationAccepts, SixtyFourBitIndices) {
  for (const auto& [name, entries] : awkward_matrices<double, std::int64_t>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) continue;
    const auto x = random_vector<double>(matrix.rows(), 1);
    const auto y = powers(matrix, x, {.power = 3});
    expect_passed(check_powers(matrix, x, y, Basis::monomial(), 3));
  }
}

}  // namespace
}  // namespace strata::test
