// CSR on an emulated GPU: any number of threads per row, and parts of equal size for rows of any
// lengths.
#include "strata/kernels/gpu/csr.hpp"

#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/csr_parts.hpp"
#include "strata/kernels/gpu/csr_split.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuCsr : public testing::Test {};
TYPED_TEST_SUITE(GpuCsr, test::ValuesOnWarps);

template <Value V>
gpu::CsrView<gpu::DeviceValue<V>> view_of(const Csr<V, Index32>& matrix,
                                          const std::vector<gpu::DeviceValue<V>>& values) {
  return {matrix.row_offsets().data(), matrix.columns().data(), values.data(), matrix.rows()};
}

template <int warp_size, int threads, Value V>
auto with_threads_per_row(const Csr<V, Index32>& matrix) {
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, values = test::device_copy(matrix.values())](const auto& arguments, auto rows,
                                                            auto vectors) {
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::csr_step<gpu::FromMemory, threads, vectors, gpu::gathers_ahead(vectors)>(
              thread, view_of(matrix, values), arguments, rows);
        });
      });
}

template <int warp_size, Value V>
auto in_parts(const Csr<V, Index32>& matrix) {
  using T = gpu::DeviceValue<V>;
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, values = test::device_copy(matrix.values()),
       split = gpu::split_csr(matrix.row_offsets(), warp_size)](const auto& arguments, auto rows,
                                                                auto vectors) {
        std::vector<T> partials(static_cast<std::size_t>(split.partials()) * arguments.count);
        const gpu::CsrPartsView<T> view{view_of(matrix, values), split.parts.data(),
                                        split.long_rows.data(), partials.data()};
        test::launch_somehow<warp_size>(
            sizeof(T) * gpu::products_of_part(warp_size), [&](auto& thread) {
              gpu::csr_parts_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(
                  thread, view, arguments, split.parts_of(rows), rows);
            });
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::csr_long_rows_step(thread, view, arguments, split.long_rows_of(rows));
        });
      });
}

// Steps on two streams at once have scratch of their own; the matrix is common.
template <int warp_size>
void expect_steps_apart(const Csr<double, Index32>& matrix) {
  const auto values = test::device_copy(matrix.values());
  const auto split = gpu::split_csr(matrix.row_offsets(), warp_size);
  ASSERT_GT(split.partials(), 0);
  struct Step {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> partials;
    gpu::StepArguments<double> arguments;
    gpu::CsrPartsView<double> view;
  };
  const auto elements = static_cast<std::size_t>(matrix.rows());
  std::vector<Step> steps(2);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    Step& step = steps[s];
    step.x = test::random_vector<double>(elements, s);
    step.y.assign(elements, 0);
    step.partials.resize(static_cast<std::size_t>(split.partials()));
    step.arguments = {step.x.data(), nullptr, step.y.data(), 1, 0, 0, 1};
    step.view = {view_of(matrix, values), split.parts.data(), split.long_rows.data(),
                 step.partials.data()};
  }
  for (Step& step : steps) {
    test::launch_somehow<warp_size>(
        sizeof(double) * gpu::products_of_part(warp_size), [&](auto& thread) {
          gpu::csr_parts_step<gpu::FromMemory, 1, gpu::gathers_ahead(1)>(
              thread, step.view, step.arguments, split.parts_of(matrix.all_rows()),
              matrix.all_rows());
        });
  }
  for (Step& step : steps) {
    test::launch_somehow<warp_size>(0, [&](auto& thread) {
      gpu::csr_long_rows_step(thread, step.view, step.arguments,
                              split.long_rows_of(matrix.all_rows()));
    });
  }
  const auto alone = in_parts<warp_size>(matrix);
  for (const Step& step : steps) {
    std::vector<double> expected(elements);
    alone({}, {step.x.data(), nullptr, expected.data(), 1}, matrix.all_rows());
    EXPECT_EQ(step.y, expected);
  }
}

TEST(GpuCsr, StepsOfTwoStreamsKeepTheirPartialSumsApart) {
  expect_steps_apart<32>(generate<double, Index32>("arrow:9000"));
  expect_steps_apart<64>(generate<double, Index32>("arrow:30000"));
  expect_steps_apart<32>(generate<double, Index32>("rmat:15,edges=32"));
}

template <int warp_size, int threads, Value V>
void expect_threads_work() {
  SCOPED_TRACE(testing::Message() << threads << " threads per row");
  test::expect_gpu_steps_on_all<V>(
      1, [](const Csr<V, Index32>& csr) { return with_threads_per_row<warp_size, threads>(csr); });
}

TYPED_TEST(GpuCsr, FewThreadsPerRowAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  expect_threads_work<TypeParam::warp_size, 1, V>();
  expect_threads_work<TypeParam::warp_size, 2, V>();
  expect_threads_work<TypeParam::warp_size, 4, V>();
}

TYPED_TEST(GpuCsr, ManyThreadsPerRowAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  expect_threads_work<TypeParam::warp_size, 8, V>();
  expect_threads_work<TypeParam::warp_size, 16, V>();
  expect_threads_work<TypeParam::warp_size, 32, V>();
  if constexpr (TypeParam::warp_size == 64) expect_threads_work<64, 64, V>();
}

TYPED_TEST(GpuCsr, PartsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  test::expect_gpu_steps_on_all<V>(
      1, [](const Csr<V, Index32>& csr) { return in_parts<TypeParam::warp_size>(csr); });
}

// Longer than a part, than a warp does at once, and as long as the matrix is wide.
TYPED_TEST(GpuCsr, RowsOfAnyLengthAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * gpu::kEntriesPerThread * gpu::kPiece * 5 / 2);
  for (std::size_t number = 0; number < 7; ++number) {
    test::expect_gpu_steps(csr, 1, number, in_parts<warp>(csr));
  }
  test::expect_step(csr, {}, 1, csr.all_rows(), with_threads_per_row<warp, 16>(csr));
}

// The order of a row's sum does not depend on the range, the grid or who runs first.
TYPED_TEST(GpuCsr, AnySplitOfTheRowsGivesTheSameBits) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * gpu::kEntriesPerThread * gpu::kPiece * 5 / 2);
  const auto x = test::random_vector<V>(csr.cols(), 1);
  const auto run = in_parts<warp>(csr);
  std::vector<V> whole(csr.rows());
  std::vector<V> pieces(csr.rows());
  run({}, {x.data(), nullptr, whole.data(), 1}, csr.all_rows());
  for (Index32 begin = 0, step = 1; begin < csr.rows(); begin += step, step = step * 3 % 1000) {
    run({}, {x.data(), nullptr, pieces.data(), 1}, {begin, std::min(begin + step, csr.rows())});
  }
  EXPECT_EQ(whole, pieces);
}

}  // namespace
}  // namespace strata
