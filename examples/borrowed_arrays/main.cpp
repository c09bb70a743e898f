// A program that has a matrix already, with 32-bit row offsets, computes with it where it lies. As
// a guest in that program, Strata measures nothing and writes nothing.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "strata/strata.hpp"

namespace {

struct HostMatrix {
  std::vector<std::int32_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

// tridiag(−1, 2, −1), rows numbered from `base`.
HostMatrix laplacian(std::int32_t n, std::int32_t base) {
  HostMatrix matrix;
  matrix.offsets[0] = base;
  for (std::int32_t row = 0; row < n; ++row) {
    for (std::int32_t column : {row - 1, row, row + 1}) {
      if (column < 0 || column >= n) continue;
      matrix.columns.push_back(column + base);
      matrix.values.push_back(column == row ? 2.0 : -1.0);
    }
    matrix.offsets.push_back(static_cast<std::int32_t>(matrix.columns.size()) + base);
  }
  return matrix;
}

}  // namespace

int main() {
  using Matrix = strata::Csr<double, std::int32_t>;
  strata::set_profile_policy({.measure = false, .write = false});
  constexpr std::int32_t n = 10000;

  HostMatrix host = laplacian(n, 0);
  const Matrix A = Matrix::borrow(n, n, host.offsets, host.columns, host.values);
  const HostMatrix fortran = laplacian(n, 1);
  const Matrix B = Matrix::borrow(n, n, fortran.offsets, fortran.columns, fortran.values,
                                  strata::IndexBase::one);
  const bool same = A == B;
  const bool in_place = A.values().data() == host.values.data();

  // Aᵏ applied to i² gives the constant −2 for k = 1 and 0 beyond, away from both ends.
  std::vector<double> squares(n);
  for (std::int32_t i = 0; i < n; ++i) squares[i] = static_cast<double>(i) * i;
  std::vector<double> product(n);
  strata::reference::spmv(A, 1.0, squares, 0.0, product);

  const auto plan = strata::plan_powers(A, {.power = 3});
  host = {};  // a plan has its own matrix
  std::vector<double> powers(3 * squares.size());
  auto workspace = plan.make_workspace();
  plan.apply(squares, powers, workspace);

  const bool right = product[n / 2] == -2.0 && powers[n / 2] == -2.0 && powers[n + n / 2] == 0.0;
  std::printf("values %s, both bases %s, powers %s\n", in_place ? "in place" : "copied",
              same ? "the same" : "different", right ? "right" : "wrong");
  return in_place && same && right ? 0 : 1;
}
