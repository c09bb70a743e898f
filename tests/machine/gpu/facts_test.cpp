// Facts of GPUs need no GPU: what they say, and that files keep them.

#include "strata/machine/gpu/facts.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/error.hpp"
#include "strata/machine/fit.hpp"
#include "strata/machine/gpu/stored_facts.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

TEST(GpuFacts, BandwidthIsInterpolatedInTheLogarithmOfTheWorkingSet) {
  const gpu::GpuFacts facts = imaginary_gpu();
  EXPECT_EQ(facts.read_bandwidth(1000), 8000 * kGiga);
  EXPECT_EQ(facts.read_bandwidth(40 * kMega), 8000 * kGiga);
  EXPECT_NEAR(facts.read_bandwidth(56568542), 6000 * kGiga, kGiga);
  EXPECT_EQ(facts.read_bandwidth(100000 * kMega), 4000 * kGiga);
}

TEST(GpuFacts, TheCacheEndsWhereItsPlateauEnds) {
  gpu::GpuFacts facts = imaginary_gpu();
  EXPECT_EQ(facts.memory_bandwidth(), 4000 * kGiga);
  EXPECT_EQ(facts.l2_bandwidth(), 8000 * kGiga);
  EXPECT_EQ(facts.l2_bytes(), 40 * kMega);
  facts.plateaus.erase(facts.plateaus.begin());
  EXPECT_EQ(facts.l2_bandwidth(), 4000 * kGiga);
  EXPECT_EQ(facts.l2_bytes(), 0);
}

TEST(GpuFacts, OfNothingAreZero) {
  const gpu::GpuFacts facts;
  EXPECT_EQ(facts.read_bandwidth(1000), 0);
  EXPECT_EQ(facts.memory_bandwidth(), 0);
  EXPECT_EQ(facts.l2_bytes(), 0);
}

// The shape of an H200's curve: about 8.5 TB/s while the L2 holds the data, 4.5 from memory.
TEST(GpuFacts, PlateausOfAGpuAreItsCacheAndItsMemory) {
  std::vector<BandwidthPoint> curve;
  for (const auto& [megabytes, terabytes] : {std::pair{1, 8.1},
                                             {2, 8.4},
                                             {4, 8.6},
                                             {8, 8.6},
                                             {16, 8.5},
                                             {32, 8.3},
                                             {40, 8.2},
                                             {48, 7.4},
                                             {56, 6.2},
                                             {64, 5.5},
                                             {80, 5.0},
                                             {96, 4.7},
                                             {128, 4.6},
                                             {256, 4.5},
                                             {480, 4.5}}) {
    curve.push_back({270336, megabytes * kMega, 1000 * terabytes * kGiga});
  }
  const std::vector<Plateau> plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 2U);
  EXPECT_NEAR(plateaus[0].bytes_per_second, 8500 * kGiga, 200 * kGiga);
  EXPECT_GE(plateaus[0].bytes, 40 * kMega);
  EXPECT_LE(plateaus[0].bytes, 64 * kMega);
  EXPECT_NEAR(plateaus[1].bytes_per_second, 4600 * kGiga, 200 * kGiga);
}

TEST(GpuFacts, ComeBackFromJsonExactly) {
  const gpu::GpuFacts facts = imaginary_gpu();
  EXPECT_EQ(gpu::facts_from_json(gpu::to_json(facts), "here"), facts);
}

// The facts with one change are refused, naming the source and `part`.
void expect_refused(const std::function<void(json&)>& change, const std::string& part) {
  json document = json::parse(gpu::to_json(imaginary_gpu()));
  change(document);
  try {
    gpu::facts_from_json(document.dump(), "here");
    ADD_FAILURE() << "nothing thrown for " << part;
  } catch (const FileError& error) {
    EXPECT_EQ(error.path(), "here");
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(GpuFacts, EveryKeyIsNeeded) {
  const json document = json::parse(gpu::to_json(imaginary_gpu()));
  for (const auto& [key, value] : document.items()) {
    expect_refused([&, name = key](json& facts) { facts.erase(name); }, "lacks '" + key + "'");
    if (!value.is_object()) continue;
    for (const auto& [inner, ignored] : value.items()) {
      expect_refused([&, outer = key, name = inner](json& facts) { facts[outer].erase(name); },
                     "lacks '" + inner + "'");
    }
  }
}

TEST(GpuFacts, WhatCannotBeIsRefused) {
  expect_refused([](json& facts) { facts["format"] = 999; }, "version 999");
  expect_refused([](json& facts) { facts["device"]["api"] = "opencl"; }, "'api' is 'opencl'");
  expect_refused([](json& facts) { facts["device"]["index"] = -1; }, "'index' is -1");
  expect_refused([](json& facts) { facts["device"]["multiprocessors"] = 0; }, "is 0");
  expect_refused([](json& facts) { facts["device"]["cooperative_launch"] = 1; }, "neither true");
  expect_refused([](json& facts) { facts["read"] = json::array(); }, "'read' is empty");
  expect_refused([](json& facts) { facts["stream"]["read_bytes_per_second"] = 0; }, "is 0");
  expect_refused([](json& facts) { facts["barrier_seconds"] = -1; }, "'barrier_seconds'");
  EXPECT_THROW(gpu::facts_from_json("{", "here"), FileError);
}

TEST(GpuFacts, HaveAFilePerDeviceAndDriver) {
  const gpu::DeviceProperties device = imaginary_gpu().device;
  std::set<std::string> names{gpu::facts_path(device).filename().string()};
  EXPECT_TRUE(names.begin()->starts_with("gpu-")) << *names.begin();
  EXPECT_EQ(gpu::facts_path(device), gpu::facts_path(device));
  for (const auto& change : std::vector<std::function<void(gpu::DeviceProperties&)>>{
           [](auto& other) { other.index = 0; }, [](auto& other) { other.name = "Another"; },
           [](auto& other) { other.driver = "13.2"; }, [](auto& other) { other.runtime = "12.9"; },
           [](auto& other) { other.api = gpu::Api::hip; }}) {
    gpu::DeviceProperties other = device;
    change(other);
    names.insert(gpu::facts_path(other).filename().string());
  }
  EXPECT_EQ(names.size(), 6U);
}

}  // namespace
}  // namespace strata::test
