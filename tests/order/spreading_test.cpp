#include "strata/order/spreading.hpp"

#include <gtest/gtest.h>

#include <string>

#include "strata/gen/generate.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;

bool spreads(const std::string& spec) {
  return spreads_fast(generate<double, I>(spec).pattern());
}

TEST(Spreading, IsFastInRandomAndPowerLawGraphs) {
  for (const std::string spec :
       {"random:100000,nnzr=20", "random:200000,nnzr=5", "random:40000,nnzr=100", "rmat:16,edges=8",
        "rmat:17,edges=16", "arrow:100000", "random:200000,nnzr=8", "rmat:18,edges=8"}) {
    EXPECT_TRUE(spreads(spec)) << spec;
  }
}

TEST(Spreading, IsSlowInOneTwoAndThreeDimensions) {
  for (const std::string spec :
       {"stencil5:200x200", "stencil7:33x33x33", "stencil27:33x33x33",
        "stencil27:33x33x33,shuffle=1", "stencil27:20x20x30,dof=3", "fem:60x60,degree=4",
        "graphene:200x200", "band:40000,width=81", "mesh:40000,dim=2,nnzr=7",
        "mesh:40000,dim=3,nnzr=60", "topi:24x24x24", "mesh:140000,dim=3,nnzr=40",
        "band:150000,width=101"}) {
    EXPECT_FALSE(spreads(spec)) << spec;
  }
}

TEST(Spreading, IsNotLookedForInSmallMatrices) {
  EXPECT_FALSE(spreads("random:20000,nnzr=20"));
  EXPECT_FALSE(spreads_fast(Pattern<I>{}.view()));
}

TEST(Spreading, EndsWhereNothingElseIsReached) {
  EXPECT_FALSE(spreads_fast(test::pattern_of<I>(50000, {}).view()));
  EXPECT_FALSE(spreads_fast(test::graph_of<I>(50000, {{1, 2}}).view()));
}

}  // namespace
}  // namespace strata
