#include "tests/gen/gen_check.hpp"

#include "strata/base/parallel.hpp"

namespace strata::test {

double smallest_eigenvalue(const Matrix& matrix) {
  return hermitian_eigenvalues(dense(matrix)).minCoeff();
}

std::uint64_t checksum(const Matrix& matrix) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](const auto& array) {
    for (const std::byte byte : std::as_bytes(array)) {
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
  };
  add(matrix.row_offsets());
  add(matrix.columns());
  add(matrix.values());
  return hash;
}

void expect_checksums(std::span<const Sample> samples) {
  for (const int threads : {1, 2, 5}) {
    const ThreadCountScope scope(threads);
    for (const auto& [spec, expected] : samples) {
      EXPECT_EQ(checksum(make(spec)), expected) << spec << " on " << threads << " threads";
    }
  }
}

}  // namespace strata::test
