#include "strata/gen/generate.hpp"

#include <array>
#include <set>

#include "strata/base/parallel.hpp"
#include "strata/gen/blocks.hpp"
#include "strata/gen/extrude.hpp"
#include "strata/order/permutation.hpp"
#include "tests/gen/gen_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::checksum;
using test::expect_error;
using test::make;
using test::Matrix;
using test::Sample;

// Large enough for several threads.
constexpr std::uint64_t kExtrudedSample = 0x438253b7653e6605ULL;
constexpr std::uint64_t kBlocksSample = 0x06c21960814931c2ULL;
constexpr std::array kSamples{
    Sample{"stencil5:70x70", 0x62a667931591a8fcULL},
    Sample{"stencil7:17x18x19", 0x76236c079594714bULL},
    Sample{"stencil9:70x70,shuffle=1", 0xaa35a6dab3272115ULL},
    Sample{"stencil27:17x18x19", 0x1bd08d6772d5da31ULL},
    Sample{"stencil27:9x10x11,dof=3", 0xed4bbd1cc85e0867ULL},
    Sample{"band:5000,width=7", 0x3028af8c386fc2c5ULL},
    Sample{"hpcg:18x18x18", 0x4805f6d32a4e5fceULL},
    Sample{"fem:70x70,degree=1", 0x767323c1e039b28fULL},
    Sample{"fem:40x30,degree=2", 0x8944fdde73b49d30ULL},
    Sample{"fem:30x20,degree=3", 0x8be66655e036bb20ULL},
    Sample{"fem:20x20,degree=4", 0xa58f98ba934b07acULL},
    Sample{"graphene:70x80", 0x9583635069c6dfb7ULL},
    Sample{"topi:11x12x13", 0xfc870e5b82b0b9a8ULL},
    Sample{"anderson:17x18x19", 0x51ff50f6e7d84f4aULL},
    Sample{"random:5000,nnzr=6,seed=42", 0xba114f4de653a0acULL},
    Sample{"random:70,nnzr=60", 0x4ffbcbf90a7614d1ULL},
    Sample{"rmat:13,edges=8", 0x15f7d03d0f5c3139ULL},
    Sample{"arrow:5000", 0xa3029d36e1b925beULL},
    Sample{"mesh:5000,dim=2,nnzr=7", 0xb58a384bca9615c9ULL},
    Sample{"mesh:5000,dim=3,nnzr=15", 0xcfdc4564ff3a57b4ULL},
    Sample{"mesh:2000,dim=3,nnzr=27,dof=3,aspect=1x1x8", 0x916b107aafda36c6ULL},
};

TEST(Generate, MatricesAreTheSameOnEveryMachineAndForEveryNumberOfThreads) {
  test::expect_checksums(kSamples);
  for (const int threads : {1, 2, 5}) {
    const ThreadCountScope scope(threads);
    const Matrix base = make("random:2000,nnzr=5");
    EXPECT_EQ(checksum(extruded(base, 3)), kExtrudedSample) << threads << " threads";
    EXPECT_EQ(checksum(with_dense_blocks(base, 2, 1)), kBlocksSample) << threads << " threads";
  }
}

TEST(Generate, EveryGeneratorThatNeedsNoFileIsSampled) {
  std::set<std::string> sampled{"extrude", "blocks"};
  for (const auto& [spec, expected] : kSamples) {
    const std::string_view text = spec;
    sampled.emplace(text.substr(0, text.find(':')));
  }
  std::set<std::string> known;
  for (const GeneratorHelp& help : generator_help()) known.insert(help.name);
  EXPECT_EQ(sampled, known);
}

template <class T>
class GenerateTyped : public testing::Test {};
TYPED_TEST_SUITE(GenerateTyped, test::AllTypes);

TYPED_TEST(GenerateTyped, OtherTypesHoldTheSameNumbers) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [spec, expected] : kSamples) {
    EXPECT_EQ((generate<V, I>(spec)), (converted<V, I>(make(spec)))) << spec;
  }
}

TEST(Generate, ShuffleReordersRowsAndColumnsAlike) {
  const Matrix matrix = make("stencil5:20x20");
  const Matrix shuffled = make("stencil5:20x20,shuffle=1,seed=3");
  EXPECT_EQ(shuffled, reordered(matrix, Permutation<std::int32_t>::random(400, 3)));
  EXPECT_NE(shuffled, make("stencil5:20x20,shuffle=1"));
  EXPECT_EQ(matrix, make("stencil5:20x20,shuffle=0"));
}

TEST(Generate, KnowsItsSpecifications) {
  EXPECT_TRUE(is_generator_spec("stencil5:3x3"));
  EXPECT_TRUE(is_generator_spec("extrude:a.mtx"));
  EXPECT_FALSE(is_generator_spec("stencil5"));
  EXPECT_FALSE(is_generator_spec("stencil5/3x3:4"));
  EXPECT_FALSE(is_generator_spec("matrix.mtx"));
  EXPECT_FALSE(is_generator_spec("C:stencil5:3x3"));
  EXPECT_FALSE(is_generator_spec(""));
  for (const GeneratorHelp& help : generator_help()) {
    EXPECT_TRUE(is_generator_spec(help.usage)) << help.usage;
    EXPECT_FALSE(help.summary.empty());
  }
}

TEST(Generate, ErrorsNameTheSpecificationAndThePart) {
  expect_error<InvalidArgument>([] { make("stencil6:3x3"); },
                                "stencil6:3x3: there is no generator 'stencil6'");
  expect_error<InvalidArgument>([] { make("stencil5:"); },
                                "stencil5:: there is nothing behind the ':'");
  expect_error<InvalidArgument>([] { make("stencil5:3x3,size=4"); },
                                "stencil5:3x3,size=4: 'stencil5' has no key 'size'");
  expect_error<InvalidArgument>([] { make("stencil5:3x3,dof=2,dof=3"); },
                                "stencil5:3x3,dof=2,dof=3: the key 'dof' is given twice");
  expect_error<InvalidArgument>([] { make("stencil5:3x3,dof=0"); },
                                "stencil5:3x3,dof=0: dof is 0, but starts at 1");
  expect_error<InvalidArgument>([] { make("stencil5:3x3x3"); },
                                "stencil5:3x3x3: the size is '3x3x3', which has 3 of 2 dimensions");
  expect_error<InvalidArgument>([] { make("band:10,width=4"); },
                                "band:10,width=4: width is 4, but must be odd");
  expect_error<InvalidArgument>([] { make("arrow:5,shuffle=2"); },
                                "arrow:5,shuffle=2: shuffle is 2, but lies in 0 … 1");
  expect_error<InvalidArgument>([] { make("arrow:5 "); },
                                "arrow:5 : the size is '5 ', which is not an integer");
  expect_error<InvalidArgument>([] { make("arrow:0"); }, "arrow:0: the size is 0, but starts at 1");
}

TEST(Generate, SizesThatDoNotFitAreErrorsBeforeAnythingIsAllocated) {
  expect_error<OverflowError>([] { make("stencil7:100000x100000x100000"); },
                              "stencil7:100000x100000x100000: the number of rows is "
                              "1000000000000000, which does not fit in a 32-bit integer");
  for (const char* spec :
       {"stencil7:4000000000x4000000000x4000000000", "stencil27:2000000000x1000000000x4",
        "stencil5:1000000x1000000,dof=9000000000000000000", "fem:9000000000000000000x3,degree=4",
        "band:9000000000000000000,width=3", "topi:3000000000x1000000000x1",
        "random:4000000000,nnzr=4000000000", "arrow:9000000000000000000", "arrow:1e3",
        "mesh:9000000000000000000,dim=2,nnzr=7"}) {
    EXPECT_THROW((generate<double, std::int64_t>(spec)), Error) << spec;
  }
}

TEST(Generate, MissingFilesAreNamed) {
  EXPECT_THROW(make("extrude:no/such/file.mtx,layers=2"), FileError);
  EXPECT_THROW(make("blocks:no/such/file.mtx,dof=2"), FileError);
  EXPECT_THROW(make("extrude:no/such/file.mtx"), InvalidArgument);
  EXPECT_THROW(make("blocks:no/such/file.mtx,dof=0"), InvalidArgument);
}

}  // namespace
}  // namespace strata
