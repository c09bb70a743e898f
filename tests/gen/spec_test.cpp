#include "strata/gen/spec.hpp"

#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::expect_error;

TEST(Spec, TakesApartNameArgumentAndKeys) {
  Spec spec("mesh:600000,dim=3,seed=7,aspect=1x2x8");
  EXPECT_EQ(spec.name(), "mesh");
  EXPECT_EQ(spec.size(), 600000);
  EXPECT_EQ(spec.integer("dim", 2, 3), 3);
  EXPECT_EQ(spec.integer_or("dof", 5, 1, 9), 5);
  EXPECT_EQ(spec.real_or("seed", 1), 7.0);
  EXPECT_EQ(spec.proportions<3>("aspect"), (std::array<Offset, 3>{1, 2, 8}));
  EXPECT_EQ(spec.proportions<2>("absent"), (std::array<Offset, 2>{1, 1}));
  EXPECT_NO_THROW(spec.refuse_unread_keys());
}

TEST(Spec, PathsMayContainCommasColonsAndEqualsSigns) {
  Spec spec("extrude:/a,b/c:d=1,2.mtx,layers=3");
  EXPECT_EQ(spec.argument(), "/a,b/c:d=1,2.mtx");
  EXPECT_EQ(spec.integer("layers", 1, 9), 3);
  EXPECT_EQ(Spec("blocks:a,.mtx").argument(), "a,.mtx");
}

TEST(Spec, ReadsSizesOfTheRightNumberOfDimensions) {
  EXPECT_EQ(Spec("a:4x5x6").sizes<3>(), (std::array<Offset, 3>{4, 5, 6}));
  for (const char* text : {"a:4x5", "a:4x5x6x7", "a:4"}) {
    EXPECT_THROW(Spec(text).sizes<3>(), InvalidArgument) << text;
  }
  for (const char* text : {"a:4x", "a:x4", "a:4x0", "a:-1x4", "a:4x5.0", "a:4 x5", "a:4x5,6",
                           "a:+4x5", "a:4X5", "a:0x10x4"}) {
    EXPECT_THROW(Spec(text).sizes<2>(), InvalidArgument) << text;
  }
  EXPECT_THROW(Spec("a:4x99999999999999999999").sizes<2>(), OverflowError);
}

TEST(Spec, RefusesWhatIsNotASpecification) {
  for (const char* text : {"", "a", "a:", "a:,k=1", "a:1,k=1,", "a:1,k=1,k=2", "a:1,k=1,l"}) {
    EXPECT_THROW(Spec{text}, InvalidArgument) << text;
  }
}

TEST(Spec, ReadsANumberOrTheWordThatStandsForOne) {
  Spec spec("a:1,k=random,l=12,m=0,n=rand");
  EXPECT_EQ(spec.integer_or_word("k", "random", 77, 1), 77);
  EXPECT_EQ(spec.integer_or_word("l", "random", 77, 1), 12);
  EXPECT_EQ(spec.integer_or_word("absent", "random", 77, 1), std::nullopt);
  expect_error<InvalidArgument>([&] { spec.integer_or_word("m", "random", 77, 1); },
                                "m is 0, but starts at 1");
  expect_error<InvalidArgument>([&] { spec.integer_or_word("n", "random", 77, 1); },
                                "n is 'rand', which is neither 'random' nor an integer");
  EXPECT_NO_THROW(spec.refuse_unread_keys());
}

TEST(Spec, SaysWhichPartIsWrong) {
  Spec spec("a:10,k=5,l=x,m=1e400,n=,o=99999999999999999999");
  expect_error<InvalidArgument>([&] { spec.integer("k", 1, 4); }, "k is 5, but lies in 1 … 4");
  expect_error<InvalidArgument>([&] { spec.integer("l", 1, 4); },
                                "l is 'x', which is not an integer");
  expect_error<InvalidArgument>([&] { spec.integer("z", 1, 4); }, "the key 'z' is missing");
  expect_error<InvalidArgument>([&] { spec.real_or("m", 1); },
                                "m is '1e400', which is not a finite number from 0 on");
  expect_error<InvalidArgument>([&] { spec.integer_or("n", 1, 1, 4); },
                                "n is '', which is not an integer");
  expect_error<InvalidArgument>([&] { spec.refuse_unread_keys(); }, "'a' has no key 'o'");
  expect_error<OverflowError>([&] { spec.integer("o", 1, 4); },
                              "o is 99999999999999999999, which does not fit in a 64-bit integer");
  expect_error<InvalidArgument>([&] { spec.sizes<2>(); },
                                "the size is '10', which has 1 of 2 dimensions");
}

}  // namespace
}  // namespace strata
