// Methods on powers on a GPU: s iterations from one sweep give the solutions of one at a time.

#include "strata/solvers/gpu/device_powers.hpp"

#include <gtest/gtest.h>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "tests/machine/gpu/support.hpp"
#include "tests/solvers/gpu/numbers.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;
using solvers::SolveResult;
using solvers::SolveStatus;

template <class V>
class GpuPowers : public test::GpuTest {};
using Values = testing::Types<double, std::complex<double>, float>;
TYPED_TEST_SUITE(GpuPowers, Values);

TYPED_TEST(GpuPowers, CommunicationAvoidingMethodsSolveSystemsOnTheDevice) {
  using V = TypeParam;
  Stream stream;
  GpuProfile profile = test::imaginary_gpu();
  profile.device = device_properties(current_device());
  const auto matrix = generate<V, I>(
      test::on_gpu_or_emulated("stencil5:60x60,shuffle=1", "stencil5:14x12,shuffle=1"));
  const auto b = test::solver_numbers<V>(matrix.rows(), 5);
  const double tolerance = std::is_same_v<V, float> ? 1e-4 : 1e-9;
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::wavefront}) {
    for (const bool gmres : {false, true}) {
      SCOPED_TRACE(testing::Message() << name_of(strategy) << (gmres ? " gmres" : " cg"));
      PowerOptions plan_options;
      plan_options.power = 4;
      plan_options.strategy = strategy;
      plan_options.autotune = false;
      plan_options.gpu_profile = &profile;
      DevicePowers<V> powers(matrix, plan_options, stream);
      DeviceSpace<V> space(powers.plan().vector_rows(), stream);
      auto ordered_b = space.make_vector(), x = space.make_vector();
      const auto device_b = to_device(std::span<const V>(b), stream);
      powers.plan().to_plan_order(device_b.span(), ordered_b.span(), stream);
      SolveResult result;
      if (gmres) {
        solvers::CaGmresOptions options;
        options.solve.tolerance = tolerance;
        result = solvers::ca_gmres<DeviceSpace<V>>(space, powers, ordered_b, x, options);
      } else {
        solvers::CaCgOptions options;
        options.solve.tolerance = tolerance;
        result =
            solvers::ca_conjugate_gradients<DeviceSpace<V>>(space, powers, ordered_b, x, options);
      }
      EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
      powers.require_ended();
      DeviceArray<V> rows(matrix.rows());
      powers.plan().to_caller_order(std::as_const(x).span(), rows.span(), stream);
      const auto solution = to_host(std::as_const(rows).span(), stream);
      std::vector<V> r = b;
      reference::spmv(matrix, V(-1), std::vector<V>(solution.begin(), solution.end()), V(1), r);
      double left = 0, whole = 0;
      for (std::size_t i = 0; i < r.size(); ++i) {
        left += std::norm(std::complex<double>(r[i]));
        whole += std::norm(std::complex<double>(b[i]));
      }
      EXPECT_LE(std::sqrt(left / whole), 1.5 * tolerance);
    }
  }
}

}  // namespace
}  // namespace strata::gpu
