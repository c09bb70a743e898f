#include "strata/fem/local_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/gen/line_elements.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata::fem {

namespace {

// Batches of kLanes elements that are worth waking a thread.
constexpr Offset kSerialBatches = 32;

int colour_of(Offset ex, Offset ey) {
  return static_cast<int>(ex % 2 + 2 * (ey % 2));
}
// Elements of a colour along x and along y.
Offset across(const QuadMesh& mesh, int colour) {
  return (mesh.nx - colour % 2 + 1) / 2;
}
Offset along(const QuadMesh& mesh, int colour) {
  return (mesh.ny - colour / 2 + 1) / 2;
}

// The value of row ≤ column among those on and right of the diagonal.
constexpr int in_half(int row, int column, int nodes) {
  return row * nodes - row * (row - 1) / 2 + column - row;
}

// A batch: kLanes elements side by side, of which `count` exist. `values` and `unknowns` are those
// of the first; numbers are `stride` apart.
template <int kNodes, bool kSymmetric, class Real>
void multiply_batch(const Real* values, const Unknown* unknowns, Offset stride, Offset count,
                    const Real* x, Real* y) {
  Real in[kNodes][kLanes];
  for (int a = 0; a < kNodes; ++a) {
    for (Offset lane = 0; lane < kLanes; ++lane) in[a][lane] = x[unknowns[a * stride + lane]];
  }
  const auto scatter = [&](int a, const Real* sums) {
    for (Offset lane = 0; lane < count; ++lane) y[unknowns[a * stride + lane]] += sums[lane];
  };
  if constexpr (kSymmetric) {
    Real out[kNodes][kLanes] = {};
    for (int a = 0; a < kNodes; ++a) {
      Real sums[kLanes];
      for (Offset lane = 0; lane < kLanes; ++lane) {
        sums[lane] = out[a][lane] + values[lane] * in[a][lane];
      }
      values += stride;
      for (int b = a + 1; b < kNodes; ++b, values += stride) {
        for (Offset lane = 0; lane < kLanes; ++lane) {
          sums[lane] += values[lane] * in[b][lane];
          out[b][lane] += values[lane] * in[a][lane];
        }
      }
      scatter(a, sums);
    }
  } else {
    for (int a = 0; a < kNodes; ++a) {
      Real sums[kLanes] = {};
      for (int b = 0; b < kNodes; ++b, values += stride) {
        for (Offset lane = 0; lane < kLanes; ++lane) sums[lane] += values[lane] * in[b][lane];
      }
      scatter(a, sums);
    }
  }
}

template <class Real>
using Batch = void (*)(const Real*, const Unknown*, Offset, Offset, const Real*, Real*);

template <class Real>
Batch<Real> batch_for(int degree, bool symmetric) {
  switch (degree) {
    case 1: return symmetric ? multiply_batch<4, true, Real> : multiply_batch<4, false, Real>;
    case 2: return symmetric ? multiply_batch<9, true, Real> : multiply_batch<9, false, Real>;
    case 3: return symmetric ? multiply_batch<16, true, Real> : multiply_batch<16, false, Real>;
    default: return symmetric ? multiply_batch<25, true, Real> : multiply_batch<25, false, Real>;
  }
}

}  // namespace

template <std::floating_point Real>
int LocalMatrices<Real>::element_values() const {
  const int nodes = element_nodes();
  return symmetric_ ? nodes * (nodes + 1) / 2 : nodes * nodes;
}

template <std::floating_point Real>
RowRange<Offset> LocalMatrices<Real>::slots_of(int colour) const {
  const Offset begin = colour_begin_[colour];
  return {begin, begin + across(mesh_, colour) * along(mesh_, colour)};
}

template <std::floating_point Real>
Offset LocalMatrices<Real>::slot_of(Offset ex, Offset ey) const {
  const int colour = colour_of(ex, ey);
  return colour_begin_[colour] + ey / 2 * across(mesh_, colour) + ex / 2;
}

template <std::floating_point Real>
Real LocalMatrices<Real>::entry(Offset slot, int row, int column) const {
  const int nodes = element_nodes();
  const int number = symmetric_ ? in_half(std::min(row, column), std::max(row, column), nodes)
                                : row * nodes + column;
  return values_[place(slot, number, element_values())];
}

template <std::floating_point Real>
LocalMatrices<Real>::LocalMatrices(const QuadMesh& mesh, const Field& diffusivity,
                                   const LocalMatrixOptions& options)
    : mesh_(mesh), symmetric_(options.symmetric) {
  mesh.require_usable();
  if (options.block < 0 || options.block % kLanes != 0) {
    throw InvalidArgument(
        fmt::format("blocks of {} elements; they are multiples of {}", options.block, kLanes));
  }
  const Offset unit = std::max(options.block, kLanes);
  for (int colour = 0; colour < kMeshColours; ++colour) {
    const Offset count = across(mesh, colour) * along(mesh, colour);
    const Offset begin = colour_begin_[colour];
    colour_begin_[colour + 1] = begin + ceil_div(count, unit) * unit;
  }
  block_ = options.block > 0 ? options.block : std::max(slots(), kLanes);

  const int nodes = element_nodes();
  const int stored = element_values();
  values_ = Array<Real>(checked_multiply<Offset>(slots(), stored, "the number of values"));
  unknowns_ = Array<Unknown>(slots() * nodes);
  const ElementMatrices matrices(mesh, diffusivity);
  // By batches, so that what a thread writes first is what it will read.
  for (int colour = 0; colour < kMeshColours; ++colour) {
    const Offset first = colour_begin_[colour];
    const Offset last = colour_begin_[colour + 1];
    const Offset real = slots_of(colour).end;
    run_on_threads(thread_count(), [&](int thread, int team) {
      const Chunk mine = chunk_of((last - first) / kLanes, thread, team);
      std::vector<double> matrix(nodes * nodes);
      std::vector<Unknown> own(nodes);
      for (Offset slot = first + mine.begin * kLanes; slot < first + mine.end * kLanes; ++slot) {
        std::fill(matrix.begin(), matrix.end(), 0.0);
        std::fill(own.begin(), own.end(), 0);
        if (slot < real) {
          const Offset ex = 2 * ((slot - first) % across(mesh, colour)) + colour % 2;
          const Offset ey = 2 * ((slot - first) / across(mesh, colour)) + colour / 2;
          matrices.compute(ex, ey, matrix);
          Offset inside = -1;
          for (int node = 0; node < nodes; ++node) {
            const Offset unknown =
                mesh.unknown(ex, ey, node % (mesh.degree + 1), node / (mesh.degree + 1));
            own[node] = static_cast<Unknown>(unknown);
            inside = std::max(inside, unknown);
          }
          for (int node = 0; node < nodes; ++node) {
            if (own[node] >= 0) continue;
            own[node] = static_cast<Unknown>(inside);
            for (int other = 0; other < nodes; ++other) {
              matrix[node * nodes + other] = 0;
              matrix[other * nodes + node] = 0;
            }
          }
        }
        int number = 0;
        for (int row = 0; row < nodes; ++row) {
          unknowns_[place(slot, row, nodes)] = own[row];
          for (int column = symmetric_ ? row : 0; column < nodes; ++column) {
            values_[place(slot, number++, stored)] =
                static_cast<Real>(matrix[row * nodes + column]);
          }
        }
      }
    });
  }
}

template <std::floating_point Real>
void LocalMatrices<Real>::multiply(std::span<const Real> x, std::span<Real> y) const {
  if (std::ssize(x) != mesh_.unknowns() || std::ssize(y) != mesh_.unknowns()) {
    throw InvalidArgument(fmt::format("vectors of {} and {} elements for {} unknowns", x.size(),
                                      y.size(), mesh_.unknowns()));
  }
  parallel_chunks(mesh_.unknowns(), [&](Offset begin, Offset end) {
    std::fill(y.data() + begin, y.data() + end, Real(0));
  });
  const Batch<Real> batch = batch_for<Real>(mesh_.degree, symmetric_);
  for (int colour = 0; colour < kMeshColours; ++colour) {
    const RowRange<Offset> slots = slots_of(colour);
    const Offset batches = ceil_div(slots.end - slots.begin, kLanes);
    run_on_threads(batches < kSerialBatches ? 1 : thread_count(), [&](int thread, int team) {
      const Chunk mine = chunk_of(batches, thread, team);
      for (Offset number = mine.begin; number < mine.end; ++number) {
        const Offset slot = slots.begin + number * kLanes;
        batch(values_.data() + place(slot, 0, element_values()),
              unknowns_.data() + place(slot, 0, element_nodes()), block_,
              std::min(kLanes, slots.end - slot), x.data(), y.data());
      }
    });
  }
}

template <std::floating_point Real>
Offset LocalMatrices<Real>::bytes() const {
  return mesh_.elements() *
         (element_values() * Offset{sizeof(Real)} + element_nodes() * Offset{sizeof(Unknown)});
}

// Of two nodes that share elements, these add up in the order of their numbers.
Matrix assembled(const LocalMatrices<double>& local) {
  const QuadMesh mesh = local.mesh();
  const Offset degree = mesh.degree;
  const auto order = static_cast<Unknown>(mesh.unknowns());
  const auto row = [&](Offset unknown, auto&& emit) {
    const Offset i = unknown % mesh.width() + 1;
    const Offset j = unknown / mesh.width() + 1;
    const NodeReach x = reach_of(i, mesh.nx, degree);
    const NodeReach y = reach_of(j, mesh.ny, degree);
    const auto node = [&](Offset across, Offset along, Offset ex, Offset ey) {
      return static_cast<int>(across - ex * degree + (degree + 1) * (along - ey * degree));
    };
    for (Offset l = y.first_node; l <= y.last_node; ++l) {
      for (Offset k = x.first_node; k <= x.last_node; ++k) {
        double sum = 0;
        for (Offset ey = y.first_element; ey <= y.last_element; ++ey) {
          if (l < ey * degree || l > (ey + 1) * degree) continue;
          for (Offset ex = x.first_element; ex <= x.last_element; ++ex) {
            if (k < ex * degree || k > (ex + 1) * degree) continue;
            sum += local.entry(local.slot_of(ex, ey), node(i, j, ex, ey), node(k, l, ex, ey));
          }
        }
        emit((l - 1) * mesh.width() + k - 1, sum);
      }
    }
  };
  const auto length = [&](Offset unknown) {
    const NodeReach x = reach_of(unknown % mesh.width() + 1, mesh.nx, degree);
    const NodeReach y = reach_of(unknown / mesh.width() + 1, mesh.ny, degree);
    return (x.last_node - x.first_node + 1) * (y.last_node - y.first_node + 1);
  };
  return build_rows<double, Unknown>(order, order, length, row);
}

template class LocalMatrices<double>;
template class LocalMatrices<float>;

}  // namespace strata::fem
