// The largest eigenvalue of a matrix whose rows are on several ranks, by the power method: p
// products at a time, with one exchange of messages for all of them.
//
//   mpirun -n 4 ./distributed [matrix [p]]
#include <strata/mpi.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace strata::distributed;

double dot(const Communicator& world, const double* x, const double* y, std::size_t rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += x[i] * y[i];
  return world.sum(sum);
}

void run(const Communicator& world, const std::string& spec, int power) {
  // Every rank makes its own rows; then as many entries as others have.
  const auto matrix = by_nonzeros(world, generate_distributed<double, std::int32_t>(world, spec));
  const DistributedPowers<double> powers(world, matrix, {.power = {.power = power}});
  auto workspace = powers.make_workspace();

  const auto rows = static_cast<std::size_t>(powers.rows());
  std::vector<double> x(rows), y(rows * static_cast<std::size_t>(power));
  for (std::size_t i = 0; i < rows; ++i) {
    x[i] = 1 + 0.1 * static_cast<double>((i * 7) % 13);
  }
  double value = 0;
  for (int step = 0; step < 60; ++step) {
    powers.apply(x, y, workspace);
    // Of the last two powers: λ is (y_{p−1}, y_p) / (y_{p−1}, y_{p−1}).
    const double* last = y.data() + (static_cast<std::size_t>(power) - 1) * rows;
    const double* before = power > 1 ? last - rows : x.data();
    value = dot(world, before, last, rows) / dot(world, before, before, rows);
    const double norm = std::sqrt(dot(world, last, last, rows));
    for (std::size_t i = 0; i < rows; ++i) x[i] = last[i] / norm;
  }
  if (world.rank() != 0) return;
  const RankShare& share = powers.shares().front();
  std::printf("%d ranks, largest eigenvalue about %.6f\n", world.size(), value);
  std::printf("rank 0 sends %lld messages for %d powers, in depth %d\n",
              static_cast<long long>(share.messages), power, powers.depth());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const Communicator world(MPI_COMM_WORLD);
    try {
      run(world, argc > 1 ? argv[1] : "stencil7:24x24x24", argc > 2 ? std::atoi(argv[2]) : 4);
    } catch (const strata::Error& error) {
      // All ranks throw the same, and one has to say it.
      if (world.rank() == 0) std::fprintf(stderr, "%s\n", error.what());
      status = 1;
    }
  } catch (const strata::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
