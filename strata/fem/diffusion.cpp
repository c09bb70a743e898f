#include "strata/fem/diffusion.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "strata/base/parallel.hpp"
#include "strata/gen/line_elements.hpp"

namespace strata::fem {

namespace {

constexpr double kPi = std::numbers::pi;

// The points of one direction of an element, with the basis there.
struct WeightedBasis {
  double position;
  double weight;
  LineBasis basis;
};

std::array<WeightedBasis, kLinePoints> line_points(int degree) {
  const std::vector<double> nodes = line_nodes(degree);
  std::array<WeightedBasis, kLinePoints> points;
  const auto gauss = gauss_points();
  for (std::size_t p = 0; p < points.size(); ++p) {
    points[p] = {gauss[p].position, gauss[p].weight, line_basis(nodes, gauss[p].position)};
  }
  return points;
}

// Where a position of [−1, 1] of element e of n is in [0, 1].
double place(Offset element, double position, Offset elements) {
  return (static_cast<double>(element) + (position + 1) / 2) / static_cast<double>(elements);
}

}  // namespace

Diffusion manufactured_diffusion() {
  const auto kappa = [](double x, double y) {
    return 2 + std::sin(2 * kPi * x) * std::cos(kPi * y);
  };
  const auto u = [](double x, double y) {
    return std::exp(x) * std::sin(kPi * x) * std::sin(2 * kPi * y);
  };
  const auto f = [=](double x, double y) {
    const double s = std::sin(kPi * x), c = std::cos(kPi * x);
    const double along = std::sin(2 * kPi * y), slope = 2 * kPi * std::cos(2 * kPi * y);
    const double u_x = std::exp(x) * (s + kPi * c) * along;
    const double u_y = std::exp(x) * s * slope;
    const double u_xx = std::exp(x) * (s + 2 * kPi * c - kPi * kPi * s) * along;
    const double u_yy = -4 * kPi * kPi * std::exp(x) * s * along;
    const double kappa_x = 2 * kPi * std::cos(2 * kPi * x) * std::cos(kPi * y);
    const double kappa_y = -kPi * std::sin(2 * kPi * x) * std::sin(kPi * y);
    return -(kappa(x, y) * (u_xx + u_yy) + kappa_x * u_x + kappa_y * u_y);
  };
  return {kappa, f, u};
}

ElementMatrices::ElementMatrices(const QuadMesh& mesh, Field diffusivity)
    : mesh_(mesh), diffusivity_(std::move(diffusivity)) {
  mesh_.require_usable();
  const auto nodes = static_cast<std::size_t>(mesh.degree) + 1;
  for (const auto& [position, weight, basis] : line_points(mesh.degree)) {
    LinePoint point{position, {}, {}};
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t c = 0; c < nodes; ++c) {
        point.values.push_back(weight * (basis.value[a] * basis.value[c]));
        point.slopes.push_back(weight * (basis.slope[a] * basis.slope[c]));
      }
    }
    points_.push_back(std::move(point));
  }
}

// Line by line of points: first the sums along x, for all pairs of nodes, then those along y.
void ElementMatrices::compute(Offset ex, Offset ey, std::span<double> matrix) const {
  const auto n = static_cast<std::size_t>(mesh_.degree) + 1;
  constexpr std::size_t kPairs = kMaxLineNodes * kMaxLineNodes;
  std::fill(matrix.begin(), matrix.end(), 0.0);
  // Of gradients and area a ratio of lengths is left: ∂x∂x has that of y over x.
  const double stretch = static_cast<double>(mesh_.nx) / static_cast<double>(mesh_.ny);
  for (const LinePoint& q : points_) {
    std::array<double, kPairs> values{}, slopes{};
    const double y = place(ey, q.position, mesh_.ny);
    for (const LinePoint& p : points_) {
      const double kappa = diffusivity_(place(ex, p.position, mesh_.nx), y);
      for (std::size_t pair = 0; pair < n * n; ++pair) {
        values[pair] += kappa * p.values[pair];
        slopes[pair] += kappa * p.slopes[pair];
      }
    }
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t a = 0; a < n; ++a) {
        double* const row = matrix.data() + (b * n + a) * n * n;
        for (std::size_t d = 0; d < n; ++d) {
          for (std::size_t c = 0; c < n; ++c) {
            row[d * n + c] += slopes[a * n + c] * q.values[b * n + d] * stretch +
                              values[a * n + c] * q.slopes[b * n + d] / stretch;
          }
        }
      }
    }
  }
}

// Row by row of elements, each of which is added by one thread: those that meet in a line of nodes
// in their order, first the even ones and then the odd ones.
std::vector<double> load_vector(const QuadMesh& mesh, const Field& source) {
  mesh.require_usable();
  std::vector<double> load(mesh.unknowns(), 0.0);
  const auto points = line_points(mesh.degree);
  const double area = 0.25 / static_cast<double>(mesh.nx) / static_cast<double>(mesh.ny);
  const auto add_row = [&](Offset ey) {
    for (Offset ex = 0; ex < mesh.nx; ++ex) {
      for (const WeightedBasis& q : points) {
        for (const WeightedBasis& p : points) {
          const double value =
              area * p.weight * q.weight *
              source(place(ex, p.position, mesh.nx), place(ey, q.position, mesh.ny));
          for (int b = 0; b <= mesh.degree; ++b) {
            for (int a = 0; a <= mesh.degree; ++a) {
              const Offset unknown = mesh.unknown(ex, ey, a, b);
              if (unknown < 0) continue;
              load[unknown] += value * p.basis.value[a] * q.basis.value[b];
            }
          }
        }
      }
    }
  };
  for (const Offset parity : {0, 1}) {
    parallel_dynamic((mesh.ny - parity + 1) / 2, 1, [&](Offset begin, Offset end) {
      for (Offset row = begin; row < end; ++row) add_row(2 * row + parity);
    });
  }
  return load;
}

double l2_error(const QuadMesh& mesh, std::span<const double> values, const Field& solution) {
  const auto points = line_points(mesh.degree);
  std::vector<double> of_row(mesh.ny, 0.0);
  parallel_dynamic(mesh.ny, 1, [&](Offset begin, Offset end) {
    for (Offset ey = begin; ey < end; ++ey) {
      double sum = 0;
      for (Offset ex = 0; ex < mesh.nx; ++ex) {
        for (const WeightedBasis& q : points) {
          for (const WeightedBasis& p : points) {
            double difference =
                -solution(place(ex, p.position, mesh.nx), place(ey, q.position, mesh.ny));
            for (int b = 0; b <= mesh.degree; ++b) {
              for (int a = 0; a <= mesh.degree; ++a) {
                const Offset unknown = mesh.unknown(ex, ey, a, b);
                if (unknown < 0) continue;
                difference += values[unknown] * p.basis.value[a] * q.basis.value[b];
              }
            }
            sum += p.weight * q.weight * difference * difference;
          }
        }
      }
      of_row[ey] = sum;
    }
  });
  double sum = 0;
  for (const double row : of_row) sum += row;
  return std::sqrt(sum * 0.25 / static_cast<double>(mesh.nx) / static_cast<double>(mesh.ny));
}

}  // namespace strata::fem
