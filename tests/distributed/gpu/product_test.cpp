// Products on several ranks whose parts are on a GPU, against those on processors.

#include "strata/distributed/gpu/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "strata/gen/generate.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"

namespace strata::distributed {
namespace {

using strata::gpu::Stream;

template <class V>
class DistributedGpuProduct : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(DistributedGpuProduct, Values);

TYPED_TEST(DistributedGpuProduct, IsThatOfProcessors) {
  using V = TypeParam;
  const Communicator ranks(MPI_COMM_WORLD);
  Stream stream;
  const double tolerance = sizeof(std::real(V{})) == 4 ? 1e-4 : 1e-12;
  std::vector<gpu::Staging> ways{gpu::Staging::automatic, gpu::Staging::host};
  if (gpu::mpi_takes_device_memory()) ways.push_back(gpu::Staging::none);
  for (const char* spec : {"stencil5:1x1", "stencil5:2x1", "stencil27:12x13x14", "arrow:300",
                           "mesh:2000,dim=3,nnzr=9", "rmat:9,edges=4"}) {
    SCOPED_TRACE(spec);
    const auto whole = generate<V, std::int32_t>(spec);
    const Partition parts = uneven(whole.rows(), ranks.size());
    const auto matrix = cut(ranks, whole, parts, parts);
    for (const Layout layout : {Layout::rows, Layout::columns, Layout::grid}) {
      for (const int vectors : {1, 3}) {
        const DistributedOptions options{
            .layout = layout,
            .product = {.vectors = vectors, .memory = TuningMemory::ignore, .autotune = false}};
        const auto x = own_part(
            ranks, test::random_vector<V>(static_cast<std::size_t>(whole.rows()) * vectors, 1),
            parts, vectors);
        const auto y = own_part(
            ranks, test::random_vector<V>(static_cast<std::size_t>(whole.rows()) * vectors, 2),
            parts, vectors);
        const DistributedProduct<V> expected(ranks, matrix, options);
        auto expected_work = expected.make_workspace();
        for (const gpu::Staging staging : ways) {
          const gpu::DistributedProduct<V> product(ranks, matrix, options, stream, staging);
          auto workspace = product.make_workspace(stream);
          const auto device_x = strata::gpu::to_device(std::span<const V>(x), stream);
          for (const V beta : {V(0), V(2)}) {
            auto device_y = strata::gpu::to_device(std::span<const V>(y), stream);
            auto expected_y = y;
            expected.apply(V(-3), x, beta, expected_y, expected_work);
            const Traffic before = ranks.traffic();
            product.apply(V(-3), device_x.span(), beta, device_y.span(), workspace, stream);
            const Traffic sent = ranks.traffic() - before;
            const RankShare& own = product.shares()[static_cast<std::size_t>(ranks.rank())];
            EXPECT_EQ(sent.messages, own.messages);
            EXPECT_EQ(sent.bytes, own.bytes);
            const auto found = strata::gpu::to_host(device_y.span(), stream);
            ASSERT_EQ(std::ssize(found), std::ssize(expected_y));
            for (std::size_t i = 0; i < expected_y.size(); ++i) {
              EXPECT_LE(std::abs(found[i] - expected_y[i]),
                        tolerance * (1 + std::abs(expected_y[i])))
                  << i;
            }
            // The same bits again.
            auto again = strata::gpu::to_device(std::span<const V>(y), stream);
            product.apply(V(-3), device_x.span(), beta, again.span(), workspace, stream);
            const auto second = strata::gpu::to_host(again.span(), stream);
            EXPECT_TRUE(std::equal(found.begin(), found.end(), second.begin()));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata::distributed
