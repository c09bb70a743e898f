// strata machine.

#include <cmath>
#include <cstdlib>
#include <utility>

#include "strata/base/processors.hpp"
#include "strata/machine/cached_profile.hpp"
#include "tests/cli/command.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Machine : public CommandTest {
 protected:
  Machine() { setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1); }
  ~Machine() override { unsetenv("STRATA_CACHE_DIR"); }

  void store_imaginary_profile() { save_profile(imaginary_machine(), profile_path()); }
  // In a folder that nobody else can write, whatever the user's mask is.
  void store_text(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(file("cache"));
    std::filesystem::permissions(file("cache"), std::filesystem::perms::owner_all);
    write_file(path, text);
  }
  // The words for it, on however busy a machine.
  static Words measure_quickly(Words more) {
    Words words{"machine", "--threads", "1", "--seconds", "0.05", "--largest-spread", "1000000"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  using Variables = std::vector<std::pair<const char*, const char*>>;
  Outcome run_in_environment(const Variables& variables, const Words& words) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    const Outcome outcome = run(words);
    for (const auto& [name, value] : variables) unsetenv(name);
    return outcome;
  }
  json result_of(const Words& words) {
    const json document = json_of(words);
    EXPECT_EQ(document["results"].size(), 1U);
    return document["results"][0];
  }
};

TEST_F(Machine, MeasuresOnceAndRemembers) {
  const json first = result_of(measure_quickly({}));
  EXPECT_EQ(first["kernel"], "machine");
  EXPECT_EQ(first["threads"], 1);
  EXPECT_EQ(first["measured_now"], true);
  EXPECT_FALSE(first.contains("remark"));
  const std::string path = first["stored_in"];
  EXPECT_EQ(path, profile_path(1).string());
  const std::string stored = contents_of(path);

  json second = result_of({"machine", "--threads", "1"});
  EXPECT_EQ(second["measured_now"], false);
  EXPECT_EQ(contents_of(path), stored);
  second["measured_now"] = true;
  EXPECT_EQ(second, first);
}

TEST_F(Machine, ShowsWhatIsStored) {
  store_imaginary_profile();
  const Outcome outcome = run({"machine"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part : {"Imaginary 4000, 4 threads", "2026-01-02T03:04:05Z", "L2", "16.0 MB",
                           "1 thread ", "4 threads", "300", "triad", "fork/join", "1.25 µs",
                           "100 ns", "2.00 µs + Q / 20.0 GB/s", "off by 3 %", "machine-"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Machine, JsonHoldsTheProfile) {
  store_imaginary_profile();
  const json result = result_of({"machine"});
  const json profile = json::parse(to_json(imaginary_machine()));
  for (const auto& [key, value] : profile.items()) EXPECT_EQ(result[key], value) << key;
  EXPECT_EQ(result["cache_bytes"], 16 * kMega);
  EXPECT_EQ(result["private_cache_bytes"], 4 * kMega);
}

TEST_F(Machine, TheFitHasTheReadsThatItWasMadeOf) {
  const json fit = result_of(measure_quickly({"--refresh"}))["hockney"];
  ASSERT_GE(fit["samples"].size(), 2U);
  double squares = 0;
  for (const json& read : fit["samples"]) {
    const double fitted = fit["overhead_seconds"].get<double>() +
                          read["bytes"].get<double>() / fit["bytes_per_second"].get<double>();
    squares += std::pow(fitted / read["seconds"].get<double>() - 1, 2);
  }
  EXPECT_NEAR(fit["relative_error"],
              std::sqrt(squares / static_cast<double>(fit["samples"].size())), 1e-6);
}

TEST_F(Machine, RefreshReplacesEvenACorruptFile) {
  const std::string path = profile_path(1).string();
  store_text(path, "{");
  const json result = result_of(measure_quickly({"--refresh"}));
  EXPECT_FALSE(result.contains("remark"));
  EXPECT_EQ(result["measured_at"], load_profile(path)->measured_at);
}

TEST_F(Machine, ACorruptFileCostsARemark) {
  const std::string path = profile_path(1).string();
  store_text(path, "{");
  const json result = result_of(measure_quickly({}));
  EXPECT_NE(result["remark"].get<std::string>().find("is not JSON"), std::string::npos);
  EXPECT_NO_THROW(load_profile(path));
}

TEST_F(Machine, AFolderThatCannotBeWrittenCostsARemark) {
  write_file(file("cache"), "a plain file");
  const Outcome outcome = run(measure_quickly({}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("remark     not stored: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("triad"), std::string::npos);
  EXPECT_NE(outcome.out.find("stored in  nowhere"), std::string::npos) << outcome.out;
}

TEST_F(Machine, ABusyMachineIsShownAndNotStored) {
  const json result =
      result_of({"machine", "--threads", "1", "--seconds", "0.05", "--largest-spread", "0"});
  EXPECT_GT(result["spread"], 0.9);
  EXPECT_NE(result["remark"].get<std::string>().find("busy"), std::string::npos);
  EXPECT_FALSE(result.contains("stored_in"));
  EXPECT_FALSE(std::filesystem::exists(profile_path(1)));
}

// Threads that OpenMP binds see one processor each; the process has all of them.
TEST_F(Machine, BoundThreadsDoNotHideTheOtherProcessors) {
  store_imaginary_profile();
  for (const char* bind : {"true", "close", "spread"}) {
    for (const char* places : {"threads", "cores"}) {
      const Variables variables{{"OMP_PROC_BIND", bind}, {"OMP_PLACES", places}};
      const Outcome outcome = run_in_environment(variables, {"machine"});
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_NE(outcome.out.find("Imaginary 4000, 4 threads"), std::string::npos)
          << bind << ' ' << places << "\n"
          << outcome.out;
      const json document = json::parse(
          run_in_environment(variables, {"machine", "--json", "-"}).out, nullptr, false);
      EXPECT_EQ(document["machine"]["threads"], usable_processors());
    }
  }
}

TEST_F(Machine, ProfileOfBoundThreadsAreNotStored) {
  if (usable_processors() == 1) GTEST_SKIP() << "one processor: bound or not is the same";
  const Outcome outcome = run_in_environment({{"OMP_PROC_BIND", "true"}, {"OMP_PLACES", "threads"}},
                                             measure_quickly({}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("not stored: threads are bound"), std::string::npos) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(profile_path(1)));
}

// Whatever this build is, one of the two backends is not in it.
TEST_F(Machine, AGpuThatIsNotAvailableIsStatus4) {
  int unavailable = 0;
  for (const char* backend : {"cuda", "hip"}) {
    const Outcome outcome = run({"machine", "--backend", backend});
    if (outcome.status == 0) continue;
    expect_one_line_error(outcome, 4, "GPU");
    EXPECT_EQ(outcome.out, "");
    ++unavailable;
  }
  EXPECT_GE(unavailable, 1);
}

TEST_F(Machine, AllIsAtLeastTheProcessor) {
  store_imaginary_profile();
  const Outcome outcome = run({"machine", "--backend", "all"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Imaginary 4000, 4 threads"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace strata::test
