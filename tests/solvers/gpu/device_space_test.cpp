// Vectors on a GPU against the same programs on processors, whose results are tested by
// themselves.

#include "strata/solvers/gpu/device_space.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "strata/base/error.hpp"
#include "strata/solvers/processor_space.hpp"
#include "tests/solvers/gpu/numbers.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using solvers::Operation;
using solvers::ProcessorSpace;
using solvers::Scalar;
using solvers::VectorProgram;
using solvers::weighted;
using test::solver_numbers;
using test::sum_tolerance;

template <class V>
class OnDevice : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (!this->IsSkipped()) stream_.emplace();
  }

  Stream& stream() { return *stream_; }
  DeviceVector<V> upload(std::span<const V> values) {
    DeviceVector<V> there(std::ssize(values));
    copy(values, there.span(), stream());
    stream().synchronize();
    return there;
  }
  void expect_same(const DeviceVector<V>& found, std::span<const V> expected, double tolerance) {
    const auto here = to_host(found.span(), stream());
    ASSERT_EQ(here.size(), expected.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      ASSERT_LE(std::abs(here[i] - expected[i]), tolerance) << "element " << i;
    }
  }

 private:
  std::optional<Stream> stream_;
};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(OnDevice, Values);

const std::vector<Offset> kSizes{0, 1, 15, 1025, test::on_gpu_or_emulated(3'000'001, 20'001)};

TYPED_TEST(OnDevice, ProgramsDoWhatTheyDoOnProcessors) {
  using V = TypeParam;
  for (const Offset rows : kSizes) {
    SCOPED_TRACE(rows);
    const auto x0 = solver_numbers<V>(rows, 1), y0 = solver_numbers<V>(rows, 2);
    const auto w0 = solver_numbers<V>(rows, 3);
    const auto run = [&](auto& space, auto& x, auto& y, auto& w, auto& fresh) {
      const Scalar a = space.make_scalars(6);
      space.write(a, V(2));
      space.write(a + 4, V(-3));
      VectorProgram<V> program;
      program.set(x, {{x}, {y, a, V(-1)}, weighted<V>(w, y)});  // x = x − 2y + w∘y
      program.set(y, {{x, V(3)}});                              // of the new x
      program.set(fresh, {{y}, {w, a + 4}});
      program.dot(x, y, a + 1);
      program.dot(w, w, a + 2);
      program.dot(fresh, x, a + 5);
      program.compute(a + 3, a + 2, Operation::square_root);
      program.compute(a, a + 1, Operation::add, a + 2);
      program.compute(a + 4, a + 4, Operation::multiply, a + 4);
      space.run(program);
      VectorProgram<V> next;  // with scalars that only the space knows
      next.set(x, {{x, a + 4, V(0.5f)}});
      space.run(next);
      std::vector<V> scalars(6);
      space.read(a, scalars);
      return scalars;
    };
    ProcessorSpace<V> here(rows, 2);
    auto x = x0, y = y0, w = w0, fresh = x0;
    const auto expected = run(here, x, y, w, fresh);
    DeviceSpace<V> there(rows, this->stream());
    auto device_x = this->upload(x0), device_y = this->upload(y0), device_w = this->upload(w0);
    auto device_fresh = there.make_vector();
    const auto found = run(there, device_x, device_y, device_w, device_fresh);
    this->expect_same(device_x, x, sum_tolerance<V>(10));
    this->expect_same(device_y, y, sum_tolerance<V>(10));
    this->expect_same(device_w, w, 0);
    this->expect_same(device_fresh, fresh, sum_tolerance<V>(10));
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_LE(std::abs(found[k] - expected[k]), sum_tolerance<V>(rows) * (1 + std::abs(found[k])))
          << "scalar " << k;
    }
    auto again_x = this->upload(x0), again_y = this->upload(y0);
    DeviceSpace<V> another(rows, this->stream());
    EXPECT_EQ(run(another, again_x, again_y, device_w, device_fresh), found);
  }
}

// More vectors than a kernel has room for.
TYPED_TEST(OnDevice, ProgramsOfManyVectorsAreRunInParts) {
  using V = TypeParam;
  const Offset rows = 777;
  const auto run = [&](auto& space, auto& vectors) {
    const Scalar a = space.make_scalars(7);
    VectorProgram<V> program;
    for (std::size_t k = 0; k < 4; ++k) {
      auto& v = vectors;
      program.set(v[k], {{v[k + 4]}, {v[k + 8], V(2)}, {v[(k + 1) % 4], V(-1)}, {v[12]}});
    }
    for (std::size_t k = 0; k < 6; ++k) {
      program.dot(vectors[k], vectors[12 - k], a + static_cast<int>(k));
    }
    program.compute(a + 6, a, Operation::subtract, a + 5);
    space.run(program);
    std::vector<V> scalars(7);
    space.read(a, scalars);
    return scalars;
  };
  ProcessorSpace<V> here(rows, 1);
  DeviceSpace<V> there(rows, this->stream());
  std::vector<std::vector<V>> vectors;
  std::vector<DeviceVector<V>> device_vectors;
  for (std::uint64_t k = 0; k < 13; ++k) {
    vectors.push_back(solver_numbers<V>(rows, k));
    device_vectors.push_back(this->upload(vectors.back()));
  }
  const auto expected = run(here, vectors);
  const auto found = run(there, device_vectors);
  for (std::size_t k = 0; k < 13; ++k) {
    this->expect_same(device_vectors[k], vectors[k], sum_tolerance<V>(20));
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_LE(std::abs(found[k] - expected[k]), sum_tolerance<V>(10 * rows)) << "scalar " << k;
  }
}

TYPED_TEST(OnDevice, EveryOperationOnScalarsIsThatOfProcessors) {
  using V = TypeParam;
  const auto run = [](auto& space, V left, V right) {
    const Scalar a = space.make_scalars(10);
    space.write(a, left);
    space.write(a + 1, right);
    VectorProgram<V> program;
    int k = 2;
    for (const auto operation :
         {Operation::add, Operation::subtract, Operation::multiply, Operation::divide,
          Operation::divide_positive, Operation::divide_nonzero, Operation::copy,
          Operation::square_root}) {
      program.compute(a + k++, a, operation, a + 1);
    }
    space.run(program);
    std::vector<V> results(10);
    space.read(a, results);
    return results;
  };
  ProcessorSpace<V> here(0);
  DeviceSpace<V> there(0, this->stream());
  std::vector<V> cases{V(2), V(-3), V(0.25f)};
  if constexpr (is_complex<V>) cases.insert(cases.end(), {V(1, 2), V(-1, -3), V(0, -2), V(-4, 0)});
  for (const V left : cases) {
    for (const V right : cases) {
      const auto expected = run(here, left, right), found = run(there, left, right);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        if (std::isnan(std::abs(expected[k]))) {  // the root of a negative number
          EXPECT_TRUE(std::isnan(std::abs(found[k])));
        } else {
          EXPECT_LE(std::abs(found[k] - expected[k]), sum_tolerance<V>(8)) << left << ' ' << right;
        }
      }
    }
  }
  for (const float by : {-1.0F, 0.0F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(run(there, V(4), V(by))[6], V(0)) << "a length that must not be taken";
  }
  EXPECT_EQ(run(there, V(4), V(0))[7], V(0));
}

TYPED_TEST(OnDevice, BlocksMultiplyAsOnProcessors) {
  using V = TypeParam;
  for (const Offset rows : {Offset{0}, Offset{1}, test::on_gpu_or_emulated<Offset>(300'007, 331)}) {
    for (const auto& [m, n] :
         {std::pair{3, 1}, {1, 1}, {30, 1}, {5, 2}, {8, 8}, {33, 9}, {0, 3}, {20, 20}}) {
      for (const bool interleaved : {false, true}) {
        SCOPED_TRACE(testing::Message() << rows << " rows, " << m << " and " << n
                                        << (interleaved ? " interleaved" : ""));
        const auto a = solver_numbers<V>(m * rows, 6);
        auto b = solver_numbers<V>(n * rows, 7);
        const auto by = solver_numbers<V>(n * n, 8);
        const auto device_a = this->upload(a);
        auto device_b = this->upload(b);
        const auto run = [&](auto& space, const auto& left, auto& right) {
          using Space = std::remove_reference_t<decltype(space)>;
          const Scalar first = space.make_scalars(m * n), last = space.make_scalars(n * n);
          const typename Space::ConstBlock of_left(left, m, interleaved);
          const typename Space::Block of_right(right, n, interleaved);
          space.gram(of_left, of_right, first);
          std::vector<V> products(static_cast<std::size_t>(m * n));
          space.read(first, products);
          space.add_product(V(-2), of_left, first, of_right);
          space.write(last, std::span<const V>(by));
          space.transform(of_right, last);
          space.transform(of_right, last, n / 2);
          return products;
        };
        ProcessorSpace<V> here(rows, 2);
        DeviceSpace<V> there(rows, this->stream());
        const auto expected = run(here, a, b);
        const auto found = run(there, device_a, device_b);
        double size = 1;
        for (std::size_t k = 0; k < found.size(); ++k) {
          size = std::max(size, static_cast<double>(std::abs(expected[k])));
          ASSERT_LE(std::abs(found[k] - expected[k]), sum_tolerance<V>(rows)) << "product " << k;
        }
        this->expect_same(device_b, b, size * (m + n) * n * sum_tolerance<V>(rows));
        auto again = this->upload(b);
        DeviceSpace<V> another(rows, this->stream());
        const Scalar twice = another.make_scalars(2 * n * n);
        another.gram({again, n, interleaved}, {again, n, interleaved}, twice);
        another.gram({again, n, interleaved}, {again, n, interleaved}, twice + n * n);
        std::vector<V> both(static_cast<std::size_t>(2 * n * n));
        another.read(twice, both);
        for (int k = 0; k < n * n; ++k) {
          EXPECT_EQ(both[static_cast<std::size_t>(k)], both[static_cast<std::size_t>(k + n * n)]);
        }
      }
    }
  }
}

// More columns than shared memory has room for 32 rows of, and than one launch has tiles for.
TYPED_TEST(OnDevice, WideBlocksMultiplyAsOnProcessors) {
  using V = TypeParam;
  const Offset rows = test::on_gpu_or_emulated<Offset>(3'001, 37);
  for (const auto& [m, n] : {std::pair{3, 200}, {260, 30}, {7, 390}, {2048, 9}}) {
    SCOPED_TRACE(testing::Message() << m << " and " << n);
    const auto a = solver_numbers<V>(m * rows, 6);
    auto b = solver_numbers<V>(n * rows, 7);
    const auto by = solver_numbers<V>(n * (n - 2), 8);
    const auto device_a = this->upload(a);
    auto device_b = this->upload(b);
    const auto run = [&](auto& space, const auto& left, auto& right) {
      const Scalar first = space.make_scalars(m * n), last = space.make_scalars(n * (n - 2));
      space.gram({left, m}, {right, n}, first);
      std::vector<V> products(static_cast<std::size_t>(m * n));
      space.read(first, products);
      space.write(last, std::span<const V>(by));
      space.transform({right, n}, last, 2);
      return products;
    };
    ProcessorSpace<V> here(rows, 2);
    DeviceSpace<V> there(rows, this->stream());
    const auto expected = run(here, a, b);
    const auto found = run(there, device_a, device_b);
    for (std::size_t k = 0; k < found.size(); ++k) {
      ASSERT_LE(std::abs(found[k] - expected[k]), sum_tolerance<V>(rows)) << "product " << k;
    }
    this->expect_same(device_b, b, sum_tolerance<V>(n));
  }
}

class DeviceSpaceUse : public test::GpuTest {};

TEST_F(DeviceSpaceUse, WhatDoesNotExistOrFitIsRefused) {
  Stream stream;
  DeviceSpace<double> space(10, stream);
  EXPECT_THROW(space.read(Scalar{0}), InvalidArgument);
  EXPECT_THROW(DeviceSpace<double>(-1, stream), InvalidArgument);
  const Scalar one = space.make_scalars(1);
  auto x = space.make_vector();
  EXPECT_THROW(space.gram({x, 2}, {x, 1}, one), InvalidArgument);
  EXPECT_THROW(space.gram({x, 1}, {x, 1}, one + 1), InvalidArgument);
  EXPECT_THROW(space.transform({x, -1}, one), InvalidArgument);
  EXPECT_THROW(space.write(one + 1, 1.0), InvalidArgument);
  EXPECT_THROW(space.request(one, 2), InvalidArgument);
  VectorProgram<double> program;
  program.set(x, {{x, one + 1}});
  EXPECT_THROW(space.run(program), InvalidArgument);
  constexpr int kTooMany = DeviceSpace<double>::kMostColumns + 1;
  auto wide = space.make_block(kTooMany);
  const Scalar many = space.make_scalars(kTooMany);
  EXPECT_THROW(space.gram({wide, kTooMany}, {x, 1}, many), InvalidArgument);
  EXPECT_THROW(space.transform({wide, kTooMany}, many, kTooMany - 1), InvalidArgument);
}

TEST_F(DeviceSpaceUse, ScalarsKeepTheirValuesWhenMoreAreMade) {
  Stream stream;
  DeviceSpace<double> space(1, stream);
  const Scalar first = space.make_scalars(100);
  std::vector<double> values(100);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k);
  space.write(first, std::span<const double>(values));
  EXPECT_EQ(space.read(first + 99), 99);
  space.make_scalars(1000);
  std::vector<double> found(101);
  space.read(first, found);
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(found[k], values[k]);
  EXPECT_EQ(found[100], 0);
}

// Requests see scalars as they were when they were made; a routine that is recorded does what it
// did before.
TEST_F(DeviceSpaceUse, RoutinesAreRecordedAndReadingsKeepTheirOrder) {
  Stream stream;
  DeviceSpace<double> space(3000, stream);
  auto x = space.make_vector();
  const Scalar sum = space.make_scalars(2);
  VectorProgram<double> start;
  auto ones = to_device(std::span<const double>(std::vector<double>(3000, 1.0)), stream);
  start.set(x, {{ones}});
  space.run(start);
  DeviceSpace<double>::Routine routine;
  double before = -1;
  std::optional<DeviceSpace<double>::Reading> last;
  for (int k = 1; k <= 12; ++k) {
    space.run(routine, [&] {
      VectorProgram<double> program;
      program.set(x, {{x}, {ones}});
      program.dot(x, ones, sum);
      space.run(program);
    });
    const auto reading = space.request(sum, 1);
    if (last) {
      space.await(*last, {&before, 1});
      EXPECT_EQ(before, 3000.0 * k);
    }
    last = reading;
  }
}

}  // namespace
}  // namespace strata::gpu
