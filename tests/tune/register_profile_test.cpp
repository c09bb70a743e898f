#include "strata/tune/register_profile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/tune/fill_estimate.hpp"
#include "tests/tune/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

constexpr Offset kOrder = 240;
constexpr double kFlops = 2.0 * kOrder * kOrder;
const RegisterOptions kOptions{.threads = 1, .order = kOrder};

// A machine whose speed grows with the rows of a block, in units of 1 GF/s.
double imaginary_seconds(BlockSize block) {
  return kFlops / (1e9 * (block.rows + 0.125 * block.cols));
}

// Counts how often it is made.
struct Timers {
  int made = 0;
  std::function<BlockTimer()> make() {
    return [this] {
      ++made;
      return BlockTimer(imaginary_seconds);
    };
  }
};

TEST(RegisterProfile, IsFlopsOverSecondsOfEveryShape) {
  const RegisterProfile profile = measure_register_profile(kOptions, imaginary_seconds);
  for (const BlockSize block : all_block_sizes()) {
    EXPECT_NEAR(profile.flops_per_second.at(block), 1e9 * (block.rows + 0.125 * block.cols), 1);
  }
  EXPECT_EQ(profile.order, kOrder);
  EXPECT_EQ(profile.threads, 1);
  EXPECT_DOUBLE_EQ(profile.spread, 1);
}

TEST(RegisterProfile, TakesTheFasterOfTwoRounds) {
  int asked = 0;
  const auto timer = [&](BlockSize block) {
    return imaginary_seconds(block) * (asked++ < 36 ? 3.0 : 1.0);
  };
  const RegisterProfile profile = measure_register_profile(kOptions, timer);
  EXPECT_NEAR(profile.flops_per_second.at({8, 8}), 9e9, 1);
  EXPECT_DOUBLE_EQ(profile.spread, 3);
}

TEST(RegisterProfile, RefusesWhatMakesNoSense) {
  const auto expect_refused = [](const RegisterOptions& options, const BlockTimer& timer) {
    EXPECT_THROW(measure_register_profile(options, timer), InvalidArgument);
  };
  expect_refused({.order = 100}, imaginary_seconds);  // blocks of 8 do not divide it
  expect_refused({.order = -24}, imaginary_seconds);
  expect_refused({.index_bits = 16}, imaginary_seconds);
  expect_refused({.threads = -1}, imaginary_seconds);
  expect_refused({.seconds = 0}, imaginary_seconds);
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    expect_refused(kOptions, [=](BlockSize) { return seconds; });
  }
}

TEST(RegisterProfile, ComesBackFromItsJson) {
  const RegisterProfile profile = measure_register_profile(kOptions, imaginary_seconds);
  EXPECT_EQ(register_profile_from_json(to_json(profile), "text"), profile);
}

TEST(RegisterProfile, RefusesJsonThatIsNotItsOwn) {
  const std::string good = to_json(measure_register_profile(kOptions, imaginary_seconds));
  const auto expect_refused = [&](const std::function<void(json&)>& change) {
    json document = json::parse(good);
    change(document);
    EXPECT_THROW(register_profile_from_json(document.dump(), "text"), FileError) << document;
  };
  EXPECT_THROW(register_profile_from_json("", "text"), FileError);
  EXPECT_THROW(register_profile_from_json(good.substr(0, good.size() / 2), "text"), FileError);
  expect_refused([](json& document) { document["format"] = 99; });
  expect_refused([](json& document) { document.erase("fingerprint"); });
  expect_refused([](json& document) { document["precision"] = "quadruple"; });
  expect_refused([](json& document) { document["blocks"].erase(7); });
  expect_refused([](json& document) { document["blocks"][3]["block_rows"] = 5; });
  expect_refused([](json& document) { document["blocks"][3]["flops_per_second"] = 0; });
  expect_refused([](json& document) { document["blocks"][3]["flops_per_second"] = nullptr; });
  expect_refused([](json& document) { document["blocks"] = 1; });
}

using StoredRegisters = FolderTest;

TEST_F(StoredRegisters, AreMeasuredOnce) {
  Timers timers;
  const auto path = file("new/registers.json");
  const auto first = load_or_measure_registers(path, kOptions, timers.make(), {});
  EXPECT_TRUE(first.measured);
  const auto second = load_or_measure_registers(path, kOptions, timers.make(), {});
  EXPECT_EQ(timers.made, first.stored ? 1 : 2) << first.remark;
  if (first.stored) {
    EXPECT_FALSE(second.measured);
    EXPECT_EQ(second.profile, first.profile);
  }
}

TEST_F(StoredRegisters, AreMeasuredAgainWhenTheFileIsUseless) {
  const auto path = file("registers.json");
  const std::string good = to_json(measure_register_profile(kOptions, imaginary_seconds));
  json other_machine = json::parse(good);
  other_machine["fingerprint"]["kernel"] = "another";
  json other_threads = json::parse(good);
  other_threads["threads"] = 7;
  for (const std::string& text :
       {std::string("not JSON"), std::string("[]"), other_machine.dump(), other_threads.dump()}) {
    write(path, text);
    Timers timers;
    const auto known = load_or_measure_registers(path, kOptions, timers.make(), {});
    EXPECT_TRUE(known.measured) << text;
    EXPECT_EQ(timers.made, 1);
    EXPECT_NE(known.remark.find("measured again"), std::string::npos) << known.remark;
  }
}

TEST_F(StoredRegisters, OfABusyMachineAreNotKept) {
  int asked = 0;
  const auto timer = [&](BlockSize block) {
    return imaginary_seconds(block) * (asked++ < 36 ? 3.0 : 1.0);
  };
  const auto known = load_or_measure_registers(file("registers.json"), kOptions,
                                               [&] { return BlockTimer(timer); }, {});
  EXPECT_FALSE(known.stored);
  EXPECT_NE(known.remark.find("busy"), std::string::npos) << known.remark;
  EXPECT_FALSE(std::filesystem::exists(file("registers.json")));
}

TEST_F(StoredRegisters, FollowTheProfilePolicy) {
  Timers timers;
  const auto path = file("registers.json");
  const auto forbidden =
      load_or_measure_registers(path, kOptions, timers.make(), {.measure = false, .write = false});
  EXPECT_EQ(timers.made, 0);
  EXPECT_NE(forbidden.remark.find("forbids measuring"), std::string::npos);
  EXPECT_EQ(forbidden.profile.flops_per_second.place_of_largest(), (BlockSize{8, 8}));

  const auto unwritten = load_or_measure_registers(path, kOptions, timers.make(), {.write = false});
  EXPECT_TRUE(unwritten.measured);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(StoredRegisters, SurviveAFolderThatCannotBeWritten) {
  Timers timers;
  const auto known = load_or_measure_registers(impossible_path(), kOptions, timers.make(), {});
  EXPECT_TRUE(known.measured);
  EXPECT_FALSE(known.stored);
  EXPECT_NE(known.remark.find("not stored"), std::string::npos);
}

TEST(RegisterProfile, ADefaultHasTheProportionsOfBytes) {
  const BlockTable table = default_register_profile(kOptions).flops_per_second;
  EXPECT_DOUBLE_EQ(table.at({4, 4}) / table.at({1, 1}), (8.0 + 4) / (8 + 4.0 / 16));
}

TEST(RegisterProfile, IsMeasuredWithTheKernelsOfProcessors) {
  const RegisterOptions options{.threads = 1, .order = 24, .seconds = 1e-3};
  const auto measure = [&] {
    return measure_register_profile(options, dense_block_timer(options));
  };
  if (!has_kernel(Format::bcsr, KernelTarget::processor)) {
    EXPECT_THROW(measure(), Unavailable);
    return;
  }
  const RegisterProfile profile = measure();
  for (const BlockSize block : all_block_sizes()) {
    EXPECT_GT(profile.flops_per_second.at(block), 0);
  }
}

TEST(ChooseBlockSize, IsTheLargestQuotient) {
  // Twice as fast in 2 × 2, four times in 4 × 4, where fill costs all of it.
  const BlockTable speed = table_of([](int r, int c) { return std::sqrt(r * c) * 1e9; });
  const BlockTable fill = table_of([](int r, int c) { return r * c <= 4 ? 1.25 : r * c / 2.0; });
  const BlockChoice choice = choose_block_size(speed, fill);
  // Of the shapes with rc = 4 the first.
  EXPECT_EQ(choice.best, (BlockSize{1, 4}));
  EXPECT_DOUBLE_EQ(choice.expected.at({2, 2}), 2e9 / 1.25);
  EXPECT_DOUBLE_EQ(choice.speed_up(), 2);
}

TEST(ChooseBlockSize, FindsTheUnknownsOfANode) {
  const auto matrix = generate<double, std::int32_t>("mesh:2000,dim=3,nnzr=12,dof=3");
  const BlockTable fill = estimate_fill(matrix.pattern()).fill();
  EXPECT_EQ(fill.at({3, 3}), 1);
  const BlockChoice choice =
      choose_block_size(default_register_profile(kOptions).flops_per_second, fill);
  EXPECT_EQ(choice.best, (BlockSize{3, 3}));
  EXPECT_GT(choice.speed_up(), 1.3);
}

TEST(ChooseBlockSize, RefusesTablesWithHoles) {
  const BlockTable ones = table_of([](int, int) { return 1.0; });
  BlockTable hole = ones;
  hole.at({2, 3}) = 0;
  EXPECT_THROW(choose_block_size(hole, ones), InvalidArgument);
  EXPECT_THROW(choose_block_size(ones, hole), InvalidArgument);
  hole.at({2, 3}) = std::nan("");
  EXPECT_THROW(choose_block_size(ones, hole), InvalidArgument);
}

}  // namespace
}  // namespace strata::test
