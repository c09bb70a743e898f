// A matrix from a generator, in two formats, and a product with each of them.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "strata/formats/sell.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"

int main() {
  const auto csr = strata::generate<double, std::int32_t>("stencil7:16x16x16");
  const auto sell = strata::Sell<double, std::int32_t>::from_csr(csr, {.slice_height = 8});

  const std::vector<double> x(csr.cols(), 1.0);
  std::vector<double> by_csr(csr.rows());
  std::vector<double> by_sell(csr.rows());
  strata::reference::spmv(csr, 1.0, x, 0.0, by_csr);
  strata::reference::spmv(sell, 1.0, x, 0.0, by_sell);

  double difference = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(by_csr[i] - by_sell[i]));
  }
  std::printf("%d rows, %lld nonzeros, %.2f B per nonzero in SELL-8, largest difference %g\n",
              csr.rows(), static_cast<long long>(csr.nnz()), sell.footprint().bytes_per_entry(),
              difference);
  return difference == 0.0 ? 0 : 1;
}
