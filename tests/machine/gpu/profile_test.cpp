// Profiles of GPUs need no GPU: what they contain, and that files keep them.

#include "strata/machine/gpu/profile.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/error.hpp"
#include "strata/machine/fit.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

TEST(GpuProfile, BandwidthIsInterpolatedInTheLogarithmOfTheWorkingSet) {
  const gpu::GpuProfile profile = imaginary_gpu();
  EXPECT_EQ(profile.read_bandwidth(1000), 8000 * kGiga);
  EXPECT_EQ(profile.read_bandwidth(40 * kMega), 8000 * kGiga);
  EXPECT_NEAR(profile.read_bandwidth(56568542), 6000 * kGiga, kGiga);
  EXPECT_EQ(profile.read_bandwidth(100000 * kMega), 4000 * kGiga);
}

TEST(GpuProfile, TheCacheEndsWhereItsPlateauEnds) {
  gpu::GpuProfile profile = imaginary_gpu();
  EXPECT_EQ(profile.memory_bandwidth(), 4000 * kGiga);
  EXPECT_EQ(profile.l2_bandwidth(), 8000 * kGiga);
  EXPECT_EQ(profile.l2_bytes(), 40 * kMega);
  profile.plateaus.erase(profile.plateaus.begin());
  EXPECT_EQ(profile.l2_bandwidth(), 4000 * kGiga);
  EXPECT_EQ(profile.l2_bytes(), 0);
}

TEST(GpuProfile, OfNothingAreZero) {
  const gpu::GpuProfile profile;
  EXPECT_EQ(profile.read_bandwidth(1000), 0);
  EXPECT_EQ(profile.memory_bandwidth(), 0);
  EXPECT_EQ(profile.l2_bytes(), 0);
}

// An H200's curve. It has no steps: the smallest sets are near, and the largest still partly in L2.
TEST(GpuProfile, PlateausOfAGpuAreItsCacheAndItsMemory) {
  std::vector<BandwidthPoint> curve;
  for (const auto& [megabytes, gigabytes] : {std::pair{1, 12982},
                                             {4, 9616},
                                             {16, 9206},
                                             {32, 9011},
                                             {48, 8779},
                                             {56, 8342},
                                             {64, 7713},
                                             {80, 6752},
                                             {128, 5516},
                                             {256, 4871},
                                             {480, 4709}}) {
    curve.push_back({270336, megabytes * kMega, gigabytes * kGiga});
  }
  const std::vector<Plateau> plateaus = gpu::plateaus_of(curve, 60 * kMega, 4544 * kGiga);
  ASSERT_EQ(plateaus.size(), 2U);
  EXPECT_NEAR(plateaus[0].bytes_per_second, 9050 * kGiga, 50 * kGiga);
  EXPECT_EQ(plateaus[0].bytes, 56 * kMega);
  EXPECT_EQ(plateaus[1].bytes_per_second, 4544 * kGiga);
}

TEST(GpuProfile, SetsThatDoNotLeaveTheCacheShowNone) {
  const std::vector<BandwidthPoint> curve{{64, 1 * kMega, 100 * kGiga},
                                          {64, 9 * kMega, 99 * kGiga}};
  gpu::GpuProfile profile = imaginary_gpu();
  profile.read = curve;
  profile.plateaus = gpu::plateaus_of(curve, 60 * kMega, 50 * kGiga);
  ASSERT_EQ(profile.plateaus.size(), 1U);
  EXPECT_EQ(profile.memory_bandwidth(), 50 * kGiga);
  EXPECT_EQ(gpu::profile_from_json(gpu::to_json(profile), "here"), profile);
}

TEST(GpuProfile, ACacheThatReadsNoFasterThanMemoryIsNone) {
  const std::vector<BandwidthPoint> curve{{64, 1 * kMega, 100 * kGiga},
                                          {64, 9 * kMega, 90 * kGiga}};
  const std::vector<Plateau> plateaus = gpu::plateaus_of(curve, 2 * kMega, 110 * kGiga);
  ASSERT_EQ(plateaus.size(), 1U);
  EXPECT_EQ(plateaus[0].bytes_per_second, 110 * kGiga);
  EXPECT_TRUE(gpu::plateaus_of({}, 2 * kMega, 110 * kGiga).empty());
}

TEST(GpuProfile, ComeBackFromJsonExactly) {
  const gpu::GpuProfile profile = imaginary_gpu();
  EXPECT_EQ(gpu::profile_from_json(gpu::to_json(profile), "here"), profile);
}

// A profile with one change is refused, naming the source and `part`.
void expect_refused(const std::function<void(json&)>& change, const std::string& part) {
  json document = json::parse(gpu::to_json(imaginary_gpu()));
  change(document);
  try {
    gpu::profile_from_json(document.dump(), "here");
    ADD_FAILURE() << "nothing thrown for " << part;
  } catch (const FileError& error) {
    EXPECT_EQ(error.path(), "here");
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(GpuProfile, EveryKeyIsNeeded) {
  const json document = json::parse(gpu::to_json(imaginary_gpu()));
  for (const auto& [key, value] : document.items()) {
    expect_refused([&, name = key](json& profile) { profile.erase(name); }, "lacks '" + key + "'");
    if (!value.is_object()) continue;
    for (const auto& [inner, ignored] : value.items()) {
      expect_refused([&, outer = key, name = inner](json& profile) { profile[outer].erase(name); },
                     "lacks '" + inner + "'");
    }
  }
}

TEST(GpuProfile, WhatCannotBeIsRefused) {
  expect_refused([](json& profile) { profile["format"] = 999; }, "version 999");
  expect_refused([](json& profile) { profile["device"]["api"] = "opencl"; }, "'api' is 'opencl'");
  expect_refused([](json& profile) { profile["device"]["index"] = -1; }, "'index' is -1");
  expect_refused([](json& profile) { profile["device"]["multiprocessors"] = 0; }, "is 0");
  expect_refused([](json& profile) { profile["device"]["cooperative_launch"] = 1; },
                 "neither true");
  expect_refused([](json& profile) { profile["read"] = json::array(); }, "'read' is empty");
  expect_refused([](json& profile) { profile["stream"]["read_bytes_per_second"] = 0; }, "is 0");
  expect_refused([](json& profile) { profile["barrier_seconds"] = -1; }, "'barrier_seconds'");
  EXPECT_THROW(gpu::profile_from_json("{", "here"), FileError);
}

TEST(GpuProfile, HaveAFilePerDeviceAndDriver) {
  const gpu::DeviceProperties device = imaginary_gpu().device;
  std::set<std::string> names{gpu::profile_path(device).filename().string()};
  EXPECT_TRUE(names.begin()->starts_with("gpu-")) << *names.begin();
  EXPECT_EQ(gpu::profile_path(device), gpu::profile_path(device));
  for (const auto& change : std::vector<std::function<void(gpu::DeviceProperties&)>>{
           [](auto& other) { other.index = 0; }, [](auto& other) { other.name = "Another"; },
           [](auto& other) { other.driver = "13.2"; }, [](auto& other) { other.runtime = "12.9"; },
           [](auto& other) { other.api = gpu::Api::hip; }}) {
    gpu::DeviceProperties other = device;
    change(other);
    names.insert(gpu::profile_path(other).filename().string());
  }
  EXPECT_EQ(names.size(), 6U);
}

}  // namespace
}  // namespace strata::test
