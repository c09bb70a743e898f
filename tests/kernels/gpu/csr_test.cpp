// CSR on an emulated GPU: any number of threads per row, parts of equal size for rows of any
// lengths, streams of every shape, and Reguly's kernel with any parameters.
#include "strata/kernels/gpu/csr.hpp"

#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/csr_parts.hpp"
#include "strata/kernels/gpu/csr_reguly.hpp"
#include "strata/kernels/gpu/csr_split.hpp"
#include "strata/kernels/gpu/csr_stream.hpp"
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

// Who ends the rows that are cut into pieces.
enum class LongRows { last_piece, second_launch };

template <class T>
gpu::CsrPartsView<T> parts_view(const gpu::CsrView<T>& csr, const gpu::CsrParts& split,
                                std::vector<T>& partials, std::vector<std::uint32_t>& counters,
                                LongRows ends) {
  gpu::CsrPartsView<T> view{csr, split.parts.data(), split.long_rows.data(), partials.data()};
  if (ends == LongRows::last_piece) {
    view.pieces = split.pieces.data();
    view.counters = counters.data();
  }
  return view;
}

// launch(view) adds up the pieces, in scratch that is poisoned.
template <int warp_size, Value V, class T, class Launch>
void launch_with_long_rows(const gpu::CsrView<T>& csr, const gpu::CsrParts& split, LongRows ends,
                           const gpu::StepArguments<T>& arguments, RowRange<Index32> rows,
                           const Launch& launch) {
  std::vector<T> partials(static_cast<std::size_t>(split.partials()) * arguments.count,
                          gpu::device_value(test::not_a_number<V>()));
  std::vector<std::uint32_t> counters(split.long_rows.size());
  const auto view = parts_view(csr, split, partials, counters, ends);
  launch(view);
  if (ends == LongRows::second_launch) {
    test::launch_somehow<warp_size>(0, [&](auto& thread) {
      gpu::csr_long_rows_step(thread, view, arguments, split.long_rows_of(rows));
    });
  }
  EXPECT_EQ(counters, std::vector<std::uint32_t>(counters.size())) << "counters stay 0";
}

template <int warp_size, Value V>
auto in_parts(const Csr<V, Index32>& matrix) {
  using T = gpu::DeviceValue<V>;
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, values = test::device_copy(matrix.values()),
       split = gpu::split_csr(matrix.row_offsets(), warp_size)](const auto& arguments, auto rows,
                                                                auto vectors) {
        const auto launch = [&](const gpu::CsrPartsView<T>& view) {
          test::launch_somehow<warp_size>(
              sizeof(T) * gpu::products_of_part(warp_size), [&](auto& thread) {
                gpu::csr_parts_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(
                    thread, view, arguments, split.parts_of(rows), rows);
              });
        };
        launch_with_long_rows<warp_size, V>(view_of(matrix, values), split, LongRows::second_launch,
                                            arguments, rows, launch);
      });
}

// A grid of one to four blocks of `threads`, and an order that differ from launch to launch.
template <int warp_size, class Body>
void launch_blocks(int threads, std::size_t shared_bytes, const Body& body) {
  static std::uint64_t launches = 0;
  ++launches;
  const auto order = launches % 5 == 0 ? emulator::Order::uneven : emulator::Order::round_robin;
  emulator::launch<warp_size>(static_cast<int>(launches % 4) + 1, threads, shared_bytes,
                              {order, launches}, body);
}

template <int warp_size, class Shape, Value V>
auto as_stream(const Csr<V, Index32>& matrix, gpu::StreamGather gather,
               LongRows ends = LongRows::last_piece) {
  using T = gpu::DeviceValue<V>;
  const auto split = gpu::split_csr_stream(
      matrix.row_offsets(), {Shape::threads, Shape::entries_per_thread}, gather, warp_size);
  return test::emulated<V>(matrix.rows(), matrix.cols(),
                           [matrix, ends, values = test::device_copy(matrix.values()), split,
                            row_ends = gpu::stream_row_ends(matrix.row_offsets(), split)](
                               const auto& arguments, auto rows, auto) {
                             const auto launch = [&](const gpu::CsrPartsView<T>& view) {
                               launch_blocks<warp_size>(
                                   Shape::threads, gpu::stream_shared_bytes<T>(Shape::entries),
                                   [&](auto& thread) {
                                     gpu::csr_stream_step<Shape, gpu::FromMemory>(
                                         thread, gpu::CsrStreamView<T>{view, row_ends.data()},
                                         arguments, split.parts_of(rows), rows);
                                   });
                             };
                             launch_with_long_rows<warp_size, V>(view_of(matrix, values), split,
                                                                 ends, arguments, rows, launch);
                           });
}

template <int warp_size, Value V>
auto by_reguly(const Csr<V, Index32>& matrix, const gpu::RegulyParameters& parameters) {
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, parameters, values = test::device_copy(matrix.values())](const auto& arguments,
                                                                        auto rows, auto) {
        gpu::with_power_of_two<1, gpu::kMostCoop>(parameters.coop, [&](auto coop) {
          launch_blocks<warp_size>(parameters.block_size, 0, [&](auto& thread) {
            gpu::csr_reguly_step<gpu::FromMemory, coop()>(thread, view_of(matrix, values),
                                                          arguments, rows, parameters.repeat);
          });
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
  const auto csr = test::uneven_rows<V>(warp * gpu::kEntriesPerThread * gpu::kWholeRow * 5 / 2);
  for (std::size_t number = 0; number < 7; ++number) {
    test::expect_gpu_steps(csr, 1, number, in_parts<warp>(csr));
  }
  test::expect_step(csr, {}, 1, csr.all_rows(), with_threads_per_row<warp, 16>(csr));
}

// Small blocks, so that the awkward matrices have several parts and rows that are longer than one.
template <int warp_size>
using SmallStream = gpu::StreamConstants<warp_size * 2, 2, 3>;

TYPED_TEST(GpuCsr, StreamsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  using enum gpu::StreamGather;
  for (const gpu::StreamGather gather : {automatic, by_rows, by_entries}) {
    SCOPED_TRACE(static_cast<int>(gather));
    test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
      return as_stream<warp, SmallStream<warp>>(csr, gather);
    });
  }
}

TYPED_TEST(GpuCsr, StreamsOfEveryShapeAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(5000);
  const auto expect = [&]<std::size_t number>(std::integral_constant<std::size_t, number>) {
    constexpr gpu::StreamShape shape = gpu::kStreamShapes[number];
    SCOPED_TRACE(testing::Message() << shape.threads << " x " << shape.entries_per_thread);
    using Shape = gpu::StreamConstants<shape.threads, shape.entries_per_thread>;
    test::expect_gpu_steps(csr, 1, number, as_stream<warp, Shape>(csr, {}));
  };
  [&]<std::size_t... number>(std::index_sequence<number...>) {
    (expect(std::integral_constant<std::size_t, number>()), ...);
  }(std::make_index_sequence<gpu::kStreamShapes.size()>());
}

TYPED_TEST(GpuCsr, StreamsOfRowsOfAnyLengthAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  using Shape = SmallStream<warp>;
  const auto csr = test::uneven_rows<V>(Shape::entries * gpu::kWholeRow * 5 / 2);
  for (std::size_t number = 0; number < 7; ++number) {
    test::expect_gpu_steps(csr, 1, number, as_stream<warp, Shape>(csr, {}));
  }
}

TYPED_TEST(GpuCsr, RegulysKernelAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  for (const auto& parameters :
       gpu::RegulySweep{.coop = {1, 4, 32}, .repeat = {1, 3}, .block_size = {warp, 3 * warp}}.list(
           {warp, sizeof(V)})) {
    SCOPED_TRACE(testing::Message()
                 << "coop " << parameters.coop << ", repeat " << parameters.repeat);
    test::expect_gpu_steps_on_all<V>(
        1, [&](const Csr<V, Index32>& csr) { return by_reguly<warp>(csr, parameters); });
  }
}

// Also those of a warp of 32 per row: there is one order of 32 sums.
TYPED_TEST(GpuCsr, RegulysParametersDoNotChangeTheBits) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(3000);
  const auto x = test::random_vector<V>(csr.cols(), 1);
  std::vector<V> expected(csr.rows());
  with_threads_per_row<warp, 32>(csr)({}, {x.data(), nullptr, expected.data(), 1}, csr.all_rows());
  for (const auto& parameters :
       gpu::RegulySweep{.repeat = {1, 5}, .block_size = {64, 192}}.list({warp, sizeof(V)})) {
    std::vector<V> result(csr.rows());
    by_reguly<warp>(csr, parameters)({}, {x.data(), nullptr, result.data(), 1}, csr.all_rows());
    EXPECT_EQ(result, expected) << "coop " << parameters.coop << ", repeat " << parameters.repeat
                                << ", blocks of " << parameters.block_size;
  }
}

template <Value V, class Run>
void expect_same_bits_in_pieces(const Csr<V, Index32>& csr, const Run& run) {
  const auto x = test::random_vector<V>(csr.cols(), 1);
  std::vector<V> whole(csr.rows());
  std::vector<V> pieces(csr.rows());
  run({}, {x.data(), nullptr, whole.data(), 1}, csr.all_rows());
  for (Index32 begin = 0, step = 1; begin < csr.rows(); begin += step, step = step * 3 % 1000) {
    run({}, {x.data(), nullptr, pieces.data(), 1}, {begin, std::min(begin + step, csr.rows())});
  }
  EXPECT_EQ(whole, pieces);
}

// Whoever ends a row: whichever piece comes last, or a launch of its own.
TYPED_TEST(GpuCsr, EveryRunGivesTheSameBits) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * gpu::kEntriesPerThread * gpu::kWholeRow * 5 / 2);
  ASSERT_GT(gpu::split_csr(csr.row_offsets(), warp).partials(), 1);
  constexpr int count = 2;
  const auto x = test::random_vector<V>(static_cast<std::size_t>(csr.cols()) * count, 1);
  const auto result = [&](const auto& run) {
    std::vector<V> out(static_cast<std::size_t>(csr.rows()) * count);
    run({}, {x.data(), nullptr, out.data(), count}, csr.all_rows());
    return out;
  };
  using Shape = SmallStream<warp>;
  const auto in_one_launch = as_stream<warp, Shape>(csr, {}, LongRows::last_piece);
  const std::vector<V> expected = result(as_stream<warp, Shape>(csr, {}, LongRows::second_launch));
  for (int again = 0; again < 5; ++again) EXPECT_EQ(result(in_one_launch), expected);
}

// The order of a row's sum does not depend on the range, the grid or who runs first.
TYPED_TEST(GpuCsr, AnySplitOfTheRowsGivesTheSameBits) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * gpu::kEntriesPerThread * gpu::kWholeRow * 5 / 2);
  expect_same_bits_in_pieces(csr, in_parts<warp>(csr));
  using enum gpu::StreamGather;
  for (const gpu::StreamGather gather : {automatic, by_rows, by_entries}) {
    expect_same_bits_in_pieces(csr, as_stream<warp, SmallStream<warp>>(csr, gather));
  }
  expect_same_bits_in_pieces(csr, by_reguly<warp>(csr, {4, 2, 2 * warp}));
}

// Vectors do not touch each other: each has the bits that it has alone.
TYPED_TEST(GpuCsr, VectorsOfAStreamHaveTheBitsOfOne) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(3000);
  constexpr int count = 3;
  const auto x = test::random_vector<V>(static_cast<std::size_t>(csr.cols()) * count, 1);
  const auto run = as_stream<warp, SmallStream<warp>>(csr, {});
  std::vector<V> together(static_cast<std::size_t>(csr.rows()) * count);
  run({}, {x.data(), nullptr, together.data(), count}, csr.all_rows());
  for (int v = 0; v < count; ++v) {
    std::vector<V> alone_x;
    std::vector<V> expected;
    for (std::size_t i = v; i < x.size(); i += count) alone_x.push_back(x[i]);
    for (std::size_t i = v; i < together.size(); i += count) expected.push_back(together[i]);
    std::vector<V> alone(csr.rows());
    run({}, {alone_x.data(), nullptr, alone.data(), 1}, csr.all_rows());
    EXPECT_EQ(alone, expected) << "vector " << v;
  }
}

}  // namespace
}  // namespace strata
