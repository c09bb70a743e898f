#include "strata/hpcg/benchmark.hpp"

#include <algorithm>

#include "strata/hpcg/internal/phases.hpp"
#include "strata/hpcg/multigrid.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/plans/product_plan.hpp"

namespace strata::hpcg {

namespace {

class ProcessorBackend {
 public:
  using Space = solvers::ProcessorSpace<double>;
  using Operator = solvers::Operator<Space>;

  ProcessorBackend(std::span<const Level> levels, const Options& options)
      : profile_(options.profile != nullptr ? *options.profile : cached_machine_profile().profile),
        plan_(plan_product(levels[0].matrix, {.vector_order = VectorOrder::plan,
                                              .format = Format::packed_sell,
                                              .values = options.values,
                                              .profile = options.profile})),
        workspace_(plan_.make_workspace()),
        multigrid_(levels, plan_.order(), {.values = options.values}),
        space_(plan_.x_rows(), plan_.threads()),
        entries_(levels[0].matrix.nnz()) {}

  Space& space() { return space_; }
  int threads() const { return plan_.threads(); }
  std::string product_text() const { return format_text(plan_.choice()); }

  Operator product() {
    return solvers::timed<Space>(
        [this](std::span<const double> x, std::span<double> y) { plan_.apply(x, y, workspace_); },
        product_seconds_);
  }
  Operator preconditioner() {
    return solvers::timed<Space>(
        [this](std::span<const double> r, std::span<double> z) { multigrid_.apply(r, z); },
        preconditioner_seconds_);
  }
  Array<double> ordered(std::span<const double> of_rows) const {
    auto vector = space_.make_vector();
    plan_.to_plan_order(of_rows, vector);
    return vector;
  }
  void replace_finest(const Matrix& matrix) {
    plan_.update_values(matrix);
    multigrid_.replace_finest(matrix);
  }

  void start_timing() {
    product_seconds_ = preconditioner_seconds_ = 0;
    multigrid_.take_times();
  }
  std::vector<Part> parts(const detail::TimedSets& timed) {
    std::vector<Part> parts = parts_of(
        {.rows = plan_.x_rows(), .entries = entries_, .matrix_bytes = plan_.choice().format_bytes},
        multigrid_);
    predict(parts, profile_, threads());
    // A set has two products and one preconditioner beside those of its iterations.
    const double per_iteration = 1.0 / timed.sets / timed.iterations;
    const double product_share = 1.0 / timed.sets / (timed.iterations + 2);
    const double cycle_share = 1.0 / timed.sets / (timed.iterations + 1);
    parts[0].measured_seconds = product_seconds_ * product_share;
    parts[1].measured_seconds =
        (timed.seconds - product_seconds_ - preconditioner_seconds_) * per_iteration;
    std::size_t part = 2;
    for (const LevelTimes& level : multigrid_.take_times()) {
      parts.at(part++).measured_seconds = level.smoothing * cycle_share;
      if (level.transfer > 0) parts.at(part++).measured_seconds = level.transfer * cycle_share;
    }
    return parts;
  }

 private:
  const MachineProfile& profile_;
  ProductPlan<double, Row> plan_;
  ProductPlan<double, Row>::Workspace workspace_;
  Multigrid multigrid_;
  Space space_;
  Offset entries_ = 0;
  double product_seconds_ = 0;
  double preconditioner_seconds_ = 0;
};

}  // namespace

Flops flops_of(int iterations, Offset rows, const std::vector<Offset>& entries) {
  const auto k = static_cast<double>(iterations);
  const auto n = static_cast<double>(rows);
  Flops flops{.dots = (3 * k + 1) * 2 * n,
              .updates = (3 * k + 1) * 2 * n,
              .products = (k + 1) * 2 * static_cast<double>(entries.front()),
              .multigrid = k * 4 * static_cast<double>(entries.back())};
  // Two symmetric sweeps of 4 flops an entry and the residual.
  for (std::size_t level = 0; level + 1 < entries.size(); ++level) {
    flops.multigrid += k * (4 + 4 + 2) * static_cast<double>(entries[level]);
  }
  return flops;
}

bool Result::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& each) { return each.passed; });
}
double Result::predicted_seconds() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.predicted_seconds;
  return sum;
}
double Result::measured_seconds() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.measured_seconds;
  return sum;
}

Result run(const Options& options) {
  return detail::Benchmark<ProcessorBackend>(options,
                                             [&](std::span<const Level> levels) {
                                               return std::make_unique<ProcessorBackend>(levels,
                                                                                         options);
                                             })
      .run();
}

}  // namespace strata::hpcg
