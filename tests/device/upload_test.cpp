#include "strata/device/upload.hpp"

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "strata/base/error.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class Uploads : public GpuTest {
 protected:
  // Pieces of these many numbers each, which are their places among all.
  static void require_numbers(const std::vector<Offset>& sizes) {
    std::vector<Offset> first(sizes.size() + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), first.begin() + 1);
    gpu::Stream stream;
    gpu::DeviceArray<std::byte> array(first.back() * Offset{sizeof(Offset)});
    gpu::upload_pieces(
        {.count = std::ssize(sizes),
         .begin_of = [&](Offset piece) { return first[piece] * Offset{sizeof(Offset)}; },
         .write =
             [&](Offset begin, Offset end, std::byte* to) {
               std::iota(reinterpret_cast<Offset*>(to),
                         reinterpret_cast<Offset*>(to) + (first[end] - first[begin]), first[begin]);
             }},
        array.span(), stream);
    std::vector<Offset> expected(static_cast<std::size_t>(first.back()));
    std::iota(expected.begin(), expected.end(), 0);
    const auto received = gpu::to_host(array.span(), stream);
    ASSERT_EQ(received.size(), expected.size() * sizeof(Offset));
    EXPECT_EQ(std::memcmp(received.data(), expected.data(), received.size()), 0);
  }
};

TEST_F(Uploads, ManyElementsArriveAsTheyAre) {
  gpu::Stream stream;
  for (const int count : {1 << 17, (1 << 18) + 1, 5'000'001}) {
    std::vector<double> sent(static_cast<std::size_t>(count));
    std::iota(sent.begin(), sent.end(), 0.5);
    const auto array = gpu::to_device(std::span<const double>(sent), stream);
    EXPECT_TRUE(std::ranges::equal(gpu::to_host(array.span(), stream), sent)) << count;
  }
}

TEST_F(Uploads, PiecesOfAnySizesArriveInTheirPlaces) {
  require_numbers({});
  require_numbers({0});
  require_numbers({1});
  require_numbers({3, 0, 0, 5, 1});
  std::vector<Offset> sizes;
  for (Offset piece = 0; piece < 3000; ++piece) sizes.push_back(piece * 7919 % 2500);
  require_numbers(sizes);
  require_numbers(std::vector<Offset>(40, gpu::kMostPieceBytes / Offset{sizeof(Offset)}));
}

TEST_F(Uploads, FailuresOfWritingReachTheCallerAndLeaveTheNextUploadAlone) {
  constexpr Offset kPiece = Offset{64} << 10;
  constexpr Offset kPieces = 400;
  gpu::Stream stream;
  gpu::DeviceArray<std::byte> array(kPieces * kPiece);
  const auto write = [](Offset first, Offset end, std::byte* to) {
    if (end > 300) throw std::runtime_error("no more");
    std::memset(to, 1, static_cast<std::size_t>((end - first) * kPiece));
  };
  EXPECT_THROW(gpu::upload_pieces({.count = kPieces,
                                   .begin_of = [](Offset piece) { return piece * kPiece; },
                                   .write = write},
                                  array.span(), stream),
               std::runtime_error);
  require_numbers(std::vector<Offset>(500, 10'000));
}

TEST_F(Uploads, PiecesThatDoNotFitAreRefused) {
  gpu::Stream stream;
  const auto write = [](Offset, Offset, std::byte*) {};
  gpu::DeviceArray<std::byte> array(10);
  EXPECT_THROW(gpu::upload_pieces(
                   {.count = 3, .begin_of = [](Offset piece) { return piece * 3; }, .write = write},
                   array.span(), stream),
               InvalidArgument);
  gpu::DeviceArray<std::byte> large(Offset{64} << 20);
  EXPECT_THROW(
      gpu::upload_pieces({.count = 1,
                          .begin_of = [](Offset piece) { return piece * (Offset{64} << 20); },
                          .write = write},
                         large.span(), stream),
      InvalidArgument);
}

}  // namespace
}  // namespace strata::test
