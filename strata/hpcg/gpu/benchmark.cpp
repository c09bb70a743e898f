#include "strata/hpcg/gpu/benchmark.hpp"

#include <utility>

#include "strata/device/graph.hpp"
#include "strata/device/timing.hpp"
#include "strata/hpcg/gpu/device_multigrid.hpp"
#include "strata/hpcg/internal/phases.hpp"
#include "strata/hpcg/model.hpp"
#include "strata/plans/gpu/product_plan.hpp"
#include "strata/solvers/gpu/device_space.hpp"

namespace strata::gpu {

using hpcg::Level;
using hpcg::Matrix;
using hpcg::Part;

namespace {

// A warp has 32 rows of a slice.
constexpr Offset kSliceHeight = 32;

class DeviceBackend {
 public:
  using Space = DeviceSpace<double>;
  using Operator = solvers::Operator<Space>;

  DeviceBackend(std::span<const Level> levels, const hpcg::Options& options,
                const GpuProfile& profile, Stream& stream)
      : profile_(profile),
        stream_(stream),
        plan_(plan_product(levels[0].matrix,
                           {.vector_order = VectorOrder::plan,
                            .format = Format::packed_sell,
                            .values = options.values,
                            .gpu_profile = &profile},
                           stream)),
        workspace_(plan_.make_workspace(stream)),
        host_(levels, plan_.order(), {.values = options.values, .slice_height = kSliceHeight}),
        multigrid_(host_, plan_.order(), stream),
        space_(plan_.x_rows(), stream),
        entries_(levels[0].matrix.nnz()) {}

  Space& space() { return space_; }
  int threads() const { return 0; }
  std::string product_text() const { return format_text(plan_.choice()); }

  Operator product() {
    return [this](DeviceSpan<const double> x, DeviceSpan<double> y) {
      plan_.apply(x, y, workspace_, stream_);
    };
  }
  Operator preconditioner() {
    return [this](DeviceSpan<const double> r, DeviceSpan<double> z) {
      multigrid_.apply(r, z, stream_);
    };
  }
  DeviceVector<double> ordered(std::span<const double> of_rows) {
    auto vector = space_.make_vector();
    const DeviceArray<double> given = to_device(of_rows, stream_);
    plan_.to_plan_order(given.span(), vector.span(), stream_);
    stream_.synchronize();
    return vector;
  }
  void replace_finest(const Matrix& matrix) {
    plan_.update_values(matrix, stream_);
    host_.replace_finest(matrix);
    multigrid_.replace_finest(host_, stream_);
  }

  void start_timing() {}
  // By themselves, as graphs. What sets take beside products and cycles is vectors.
  std::vector<Part> parts(const hpcg::detail::TimedSets& timed) {
    std::vector<Part> parts = parts_of(
        {.rows = plan_.x_rows(), .entries = entries_, .matrix_bytes = plan_.choice().format_bytes},
        host_);
    double bytes = 0;
    for (const Part& part : parts) bytes += part.bytes;
    const double bandwidth = profile_.read_bandwidth(static_cast<Offset>(bytes));
    auto r = space_.make_vector(), z = space_.make_vector();
    const auto seconds = [&](const std::function<void()>& work) {
      const Graph graph = Graph::capture(stream_, work);
      return time_runs([&] { graph.launch(stream_); },
                       {.min_seconds = 0.05, .min_repetitions = kDeviceRepetitions},
                       device_stopwatch(stream_))
          .median;
    };
    for (Part& part : parts) {
      part.predicted_seconds = part.bytes / bandwidth + part.launches * profile_.graph_node_seconds;
    }
    parts[0].measured_seconds = seconds([&] { product()(std::as_const(r), z); });
    std::size_t part = 2;
    for (int level = 0; level < multigrid_.levels(); ++level) {
      parts.at(part++).measured_seconds = seconds([&] { multigrid_.smooth_only(level, stream_); });
      if (level > 0 && level + 1 == multigrid_.levels()) continue;
      parts.at(part++).measured_seconds =
          seconds([&] { multigrid_.transfer_only(level, std::as_const(r), z, stream_); });
    }
    const double cycle = seconds([&] { preconditioner()(std::as_const(r), z); });
    parts[1].measured_seconds = std::max(
        0.0, timed.seconds / timed.sets / timed.iterations - cycle - parts[0].measured_seconds);
    return parts;
  }

 private:
  const GpuProfile& profile_;
  Stream& stream_;
  ProductPlan<double> plan_;
  ProductPlan<double>::Workspace workspace_;
  hpcg::Multigrid host_;
  DeviceMultigrid multigrid_;
  Space space_;
  Offset entries_ = 0;
};

}  // namespace

hpcg::Result run_hpcg(const hpcg::Options& options, const GpuProfile& profile, Stream& stream) {
  return hpcg::detail::Benchmark<DeviceBackend>(options,
                                                [&](std::span<const Level> levels) {
                                                  return std::make_unique<DeviceBackend>(
                                                      levels, options, profile, stream);
                                                })
      .run();
}

}  // namespace strata::gpu
