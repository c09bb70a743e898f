#include "strata/tune/tuning_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/machine/gpu/support.hpp"
#include "tests/machine/support.hpp"
#include "tests/tune/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

TuningKey key_of(const std::string& spec, int threads = 2) {
  return {.matrix = fingerprint_of(generate<double, std::int32_t>(spec).pattern()),
          .machine = machine_key(imaginary_machine()),
          .precision = Precision::single_real,
          .threads = threads};
}

const TuningKey kKey = key_of("stencil5:5x5");
const TunedChoice kChoice{.format = parse_format_spec("sell:slice_height=8,sort_window=64"),
                          .kernel = "sell-32",
                          .parameters = {{"coop", 4}, {"repeat", 0}},
                          .seconds = 1.25e-3,
                          .flops_per_second = 3.5e9,
                          .tuned_at = "2026-01-02T03:04:05Z",
                          .candidates = 12};

class TuningStoreFile : public FolderTest {
 protected:
  std::filesystem::path path() const { return file("cache/tuning.json"); }
  TuningStore store(std::size_t capacity = 10) const { return TuningStore(path(), {}, capacity); }
};

TEST_F(TuningStoreFile, ReturnsWhatItWasGiven) {
  EXPECT_EQ(store().find(kKey), std::nullopt);
  EXPECT_EQ(store().remember(kKey, kChoice), "");
  EXPECT_EQ(store().find(kKey), kChoice);
  EXPECT_EQ(store().size(), 1U);
}

TEST_F(TuningStoreFile, TellsKeysApart) {
  store().remember(kKey, kChoice);
  TuningKey key = kKey;
  key.threads = 3;
  EXPECT_EQ(store().find(key), std::nullopt);
  key = kKey;
  key.vectors = 2;
  EXPECT_EQ(store().find(key), std::nullopt);
  key = kKey;
  key.precision = Precision::double_real;
  EXPECT_EQ(store().find(key), std::nullopt);
  key = kKey;
  key.machine = "another";
  EXPECT_EQ(store().find(key), std::nullopt);
  key = kKey;
  key.matrix.sums[1] += 1;
  EXPECT_EQ(store().find(key), std::nullopt);
  key = kKey;
  key.encoded_eighths = 3;
  EXPECT_EQ(store().find(key), std::nullopt);
}

TEST_F(TuningStoreFile, KeepsTheLastChoiceOfAKey) {
  TunedChoice better = kChoice;
  better.seconds = 1e-3;
  store().remember(kKey, kChoice);
  store().remember(kKey, better);
  EXPECT_EQ(store().find(kKey), better);
  EXPECT_EQ(store().size(), 1U);
}

TEST_F(TuningStoreFile, LetsTheOldestGo) {
  for (int threads = 1; threads <= 4; ++threads) {
    store(3).remember(key_of("stencil5:5x5", threads), kChoice);
  }
  EXPECT_EQ(store(3).size(), 3U);
  EXPECT_EQ(store(3).find(key_of("stencil5:5x5", 1)), std::nullopt);
  EXPECT_EQ(store(3).find(key_of("stencil5:5x5", 4)), kChoice);
  // What is remembered again is young again.
  store(3).remember(key_of("stencil5:5x5", 2), kChoice);
  store(3).remember(key_of("stencil5:5x5", 5), kChoice);
  EXPECT_EQ(store(3).find(key_of("stencil5:5x5", 3)), std::nullopt);
  EXPECT_EQ(store(3).find(key_of("stencil5:5x5", 2)), kChoice);
}

TEST_F(TuningStoreFile, ReplacesAFileThatIsNoneOfItsOwn) {
  for (const std::string text : {"", "not JSON", "[1, 2]", "{\"format\": 99, \"choices\": []}",
                                 "{\"format\": 1}", "{\"format\": 1, \"choices\": 7}"}) {
    std::filesystem::create_directories(path().parent_path());
    std::filesystem::permissions(path().parent_path(), std::filesystem::perms::owner_all);
    write(path(), text);
    EXPECT_EQ(store().find(kKey), std::nullopt) << text;
    EXPECT_EQ(store().remember(kKey, kChoice), "") << text;
    EXPECT_EQ(store().find(kKey), kChoice) << text;
  }
}

TEST_F(TuningStoreFile, SaysWhatItCannotRead) {
  EXPECT_EQ(store().look_up(kKey).problem, "");  // no file yet
  store().remember(kKey, kChoice);
  EXPECT_EQ(store().look_up(kKey).problem, "");
  EXPECT_EQ(store().look_up(kKey).choice, kChoice);
  json document = json::parse(contents_of(path()));
  document["choices"].push_back(17);
  write(path(), document.dump());
  EXPECT_EQ(store().look_up(kKey).choice, kChoice);
  EXPECT_NE(store().look_up(kKey).problem.find("1 of 2 entries cannot be read"), std::string::npos);
  write(path(), "nonsense");
  EXPECT_EQ(store().look_up(kKey).choice, std::nullopt);
  EXPECT_NE(store().look_up(kKey).problem, "");
}

TEST_F(TuningStoreFile, DropsSingleEntriesThatItCannotRead) {
  for (int threads = 1; threads <= 7; ++threads) {
    store().remember(key_of("stencil5:5x5", threads), kChoice);
  }
  json document = json::parse(contents_of(path()));
  json& choices = document["choices"];
  choices[0] = 17;
  choices[1]["format"] = "sell:nonsense=3";
  choices[2]["seconds"] = -1;
  choices[3].erase("kernel");
  choices[4]["matrix"]["sum"] = "xyz";
  choices[5]["precision"] = "quadruple";
  write(path(), document.dump());
  EXPECT_EQ(store().size(), 1U);
  EXPECT_EQ(store().find(key_of("stencil5:5x5", 7)), kChoice);
  store().remember(kKey, kChoice);
  EXPECT_EQ(json::parse(contents_of(path()))["choices"].size(), 2U);
}

TEST_F(TuningStoreFile, IgnoresAFileThatIsFarTooLarge) {
  store().remember(kKey, kChoice);
  json document = json::parse(contents_of(path()));
  document["padding"] = std::string(200000, 'x');
  write(path(), document.dump());
  EXPECT_EQ(store().find(kKey), std::nullopt);
  EXPECT_EQ(store(100).find(kKey), kChoice);
}

TEST_F(TuningStoreFile, FollowsTheProfilePolicy) {
  const TuningStore unwritten(path(), {.write = false});
  EXPECT_NE(unwritten.remember(kKey, kChoice), "");
  EXPECT_FALSE(std::filesystem::exists(path()));
  store().remember(kKey, kChoice);
  EXPECT_EQ(unwritten.find(kKey), kChoice);
  const TuningStore unread(path(), {.read = false});
  EXPECT_EQ(unread.find(kKey), std::nullopt);
  EXPECT_EQ(unread.size(), 0U);
}

TEST_F(TuningStoreFile, SurvivesFoldersThatCannotBeUsed) {
  EXPECT_NE(TuningStore(impossible_path()).remember(kKey, kChoice), "");
  EXPECT_EQ(TuningStore(impossible_path()).find(kKey), std::nullopt);
  EXPECT_NE(TuningStore("").remember(kKey, kChoice), "");
  EXPECT_EQ(TuningStore("").find(kKey), std::nullopt);
  // What others can write is not believed.
  store().remember(kKey, kChoice);
  ASSERT_EQ(chmod(path().parent_path().c_str(), 0777), 0);
  EXPECT_EQ(store().find(kKey), std::nullopt);
  EXPECT_NE(store().remember(kKey, kChoice), "");
}

TEST_F(TuningStoreFile, RefusesChoicesThatCouldNotHaveBeenMeasured) {
  const auto expect_refused = [&](auto&& change) {
    TunedChoice choice = kChoice;
    change(choice);
    EXPECT_THROW(store().remember(kKey, choice), InvalidArgument);
  };
  expect_refused([](TunedChoice& choice) { choice.seconds = 0; });
  expect_refused([](TunedChoice& choice) { choice.seconds = std::nan(""); });
  expect_refused([](TunedChoice& choice) { choice.flops_per_second = -1; });
  expect_refused([](TunedChoice& choice) { choice.candidates = 0; });
  expect_refused([](TunedChoice& choice) { choice.kernel = std::string(100000, 'k'); });
  EXPECT_THROW(store(0), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(TuningStoreFile, SaysWhenSomethingWasTuned) {
  TunedChoice choice = kChoice;
  choice.tuned_at.clear();
  store().remember(kKey, choice);
  EXPECT_EQ(store().find(kKey)->tuned_at.size(), kChoice.tuned_at.size());
}

TEST_F(TuningStoreFile, LosesNothingBetweenThreads) {
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] { store().remember(key_of("stencil5:5x5", t), kChoice); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store().size(), 4U);
}

TEST_F(TuningStoreFile, TakesNoChoiceOfAGpuForOneOfAProcessor) {
  TuningKey on_processor = kKey;
  on_processor.threads = 0;
  TuningKey on_gpu = on_processor;
  on_gpu.machine = machine_key(imaginary_gpu());
  store().remember(on_gpu, kChoice);
  EXPECT_EQ(store().find(on_gpu), kChoice);
  EXPECT_EQ(store().find(on_processor), std::nullopt);
  EXPECT_TRUE(on_gpu.machine.starts_with("gpu-")) << on_gpu.machine;
  EXPECT_TRUE(on_processor.machine.starts_with("machine-")) << on_processor.machine;
}

// What is the fastest for values that compress is not for those that do not.
TEST(EncodedEighths, SayHowFarValuesCanBeEncoded) {
  const auto eighths_of = [](const char* spec) {
    return encoded_eighths(generate<double, std::int32_t>(spec));
  };
  EXPECT_EQ(eighths_of("stencil27:20x20x20"), 0);
  EXPECT_GE(eighths_of("stencil27:20x20x20,coefficients=random"), 7);
  EXPECT_EQ(encoded_eighths(Csr<double, std::int32_t>()), 8);
}

TEST(MachineKey, ChangesWithWhatMakesAProfileUseless) {
  const MachineProfile profile = imaginary_machine();
  MachineProfile measured_again = profile;
  measured_again.measured_at = "2027-01-01T00:00:00Z";
  measured_again.stream.copy *= 1.01;
  EXPECT_EQ(machine_key(profile), machine_key(measured_again));
  MachineProfile other = profile;
  other.fingerprint.kernel = "another";
  EXPECT_NE(machine_key(profile), machine_key(other));
  other = profile;
  other.processor = "another";
  EXPECT_NE(machine_key(profile), machine_key(other));

  gpu::GpuProfile gpu;
  gpu.device.name = "GPU";
  gpu::GpuProfile twin = gpu;
  twin.device.index = 1;
  EXPECT_EQ(machine_key(gpu), machine_key(twin));
  twin.device.driver = "newer";
  EXPECT_NE(machine_key(gpu), machine_key(twin));
}

}  // namespace
}  // namespace strata::test
