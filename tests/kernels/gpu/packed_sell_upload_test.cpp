// Packed SELL that is written on its way to a device has the bits there of one that was stored on
// the host.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

#include "strata/base/parallel.hpp"
#include "strata/device/error.hpp"
#include "strata/device/memory.hpp"
#include "strata/device/upload.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using Index32 = std::int32_t;

template <class T>
Array<T> read(const T* data, Offset size) {
  gpu::Stream stream;
  return gpu::to_host(gpu::DeviceSpan<const T>(data, size), stream);
}

template <class T>
bool same_bits(const T* a, const T* b, Offset size) {
  if ((a == nullptr) != (b == nullptr)) return false;
  if (a == nullptr || size == 0) return true;
  const Array<T> of_a = read(a, size);
  const Array<T> of_b = read(b, size);
  return std::memcmp(of_a.data(), of_b.data(), of_a.size() * sizeof(T)) == 0;
}

template <Value V, Index I>
void expect_same_on_device(const Csr<V, I>& csr, const PackedSellOptions& options) {
  gpu::Stream stream;
  const auto host = PackedSell<V, I>::from_csr(csr, options);
  const gpu::DevicePackedSell<V> stored(host, stream);
  const PackedSellConversion<V, I> conversion(csr, options);
  const gpu::DevicePackedSell<V> written(conversion, stream);
  EXPECT_EQ(written.bytes(), stored.bytes());
  EXPECT_EQ(written.rows(), stored.rows());
  EXPECT_EQ(written.cols(), stored.cols());
  EXPECT_EQ(written.nnz(), stored.nnz());
  EXPECT_EQ(written.slice_height(), stored.slice_height());
  EXPECT_EQ(written.row_alignment(), stored.row_alignment());
  EXPECT_EQ(written.has_full_values(), stored.has_full_values());
  const auto a = written.view();
  const auto b = stored.view();
  EXPECT_EQ(a.run.length, b.run.length);
  EXPECT_TRUE(same_bits(a.data, b.data, std::ssize(host.data())));
  EXPECT_TRUE(same_bits(a.codes, b.codes, std::ssize(host.codes())));
  EXPECT_TRUE(same_bits(a.slices, b.slices, host.slices()));
  EXPECT_TRUE(same_bits(a.presence, b.presence, std::ssize(host.presence().words())));
  EXPECT_TRUE(same_bits(a.row_of_slot, b.row_of_slot, host.sorted() ? host.rows() : 0));
}

constexpr Offset kFull = static_cast<Offset>(StoredValues::full);

template <class Types>
class PackedSellUpload : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PackedSellUpload, Values);

TYPED_TEST(PackedSellUpload, HasTheBitsOfOneThatWasStored) {
  using V = TypeParam;
  for (const auto& [name, entries] : test::awkward_matrices<V, Index32>()) {
    SCOPED_TRACE(name);
    const Csr<V, Index32> csr = entries.to_csr();
    for (const Offset height : {4, 8, 16, 32}) {
      for (const Offset values : {kFull, static_cast<Offset>(StoredValues::all)}) {
        expect_same_on_device<V, Index32>(
            csr, {.slice_height = height, .max_fill = 1e9, .stored_values = values});
      }
      expect_same_on_device<V, Index32>(csr, {.slice_height = height,
                                              .sort_window = 2 * height,
                                              .max_fill = 1e9,
                                              .stored_values = kFull});
    }
  }
}

// Of many buffers, by any number of threads.
TYPED_TEST(PackedSellUpload, OfManyBuffersHasThemToo) {
  using V = TypeParam;
  for (const char* spec :
       {"stencil27:32x24x24,coefficients=random", "stencil7:20x20x20,dof=3,coefficients=random",
        "mesh:12000,dim=3,nnzr=15", "random:12000,nnzr=20"}) {
    SCOPED_TRACE(spec);
    const auto csr = generate<V, Index32>(spec);
    for (const int threads : {1, 2, 9}) {
      const ThreadCountScope scope(threads);
      for (const Offset height : {8, 32}) {
        expect_same_on_device<V, Index32>(csr, {.slice_height = height, .stored_values = kFull});
      }
    }
  }
}

class PackedSellUploads : public test::GpuTest {};

TEST_F(PackedSellUploads, SlicesLargerThanABufferArriveToo) {
  const auto csr = generate<double, Index32>("arrow:20000");
  ASSERT_GT((csr.row_offsets()[1] - csr.row_offsets()[0]) * 32 * Offset{sizeof(double)},
            gpu::kMostPieceBytes);
  expect_same_on_device<double, Index32>(
      csr, {.slice_height = 32, .max_fill = 1e9, .stored_values = kFull});
}

TEST_F(PackedSellUploads, WideIndicesArriveAsNarrowOnes) {
  const auto csr = generate<double, std::int64_t>("stencil7:40x40x40,coefficients=random");
  expect_same_on_device<double, std::int64_t>(csr, {.sort_window = 64, .stored_values = kFull});
}

// What did not fit leaves nothing behind, and the same conversion can be uploaded later.
TEST_F(PackedSellUploads, WhatDoesNotFitIsRefusedAndLeavesNothing) {
  gpu::Stream stream;
  const auto csr = generate<double, Index32>("stencil27:40x40x40,coefficients=random");
  const PackedSellConversion<double, Index32> conversion(csr, {.stored_values = kFull});
  const Offset before = gpu::device_memory_use().bytes;
  gpu::set_device_memory_limit(before + csr.nnz() * 4);
  EXPECT_THROW(gpu::DevicePackedSell<double>(conversion, stream), gpu::DeviceOutOfMemory);
  gpu::set_device_memory_limit(0);
  EXPECT_EQ(gpu::device_memory_use().bytes, before);
  const gpu::DevicePackedSell<double> matrix(conversion, stream);
  EXPECT_EQ(matrix.nnz(), csr.nnz());
}

}  // namespace
}  // namespace strata
