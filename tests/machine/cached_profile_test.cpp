#include "strata/machine/cached_profile.hpp"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/processors.hpp"
#include "strata/machine/default_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class StoredProfile : public testing::Test {
 protected:
  StoredProfile() {
    std::string name = (fs::temp_directory_path() / "strata-profile-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~StoredProfile() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name) const { return folder_ / name; }
  void write(const fs::path& path, const std::string& text) const { std::ofstream(path) << text; }

  // Loading a file with this text throws a FileError that names the file and contains `part`.
  void expect_refused(const std::string& text, const std::string& part) {
    SCOPED_TRACE(part);
    write(file("profile.json"), text);
    try {
      load_profile(file("profile.json"));
      ADD_FAILURE() << "nothing thrown";
    } catch (const FileError& error) {
      EXPECT_EQ(error.path(), file("profile.json").string());
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  // A folder below a plain file: nobody can make or write it, not even root.
  fs::path impossible_path() {
    write(file("plain"), "");
    return file("plain") / "folder" / "profile.json";
  }

 private:
  fs::path folder_;
};

// A profile with one change, as text.
std::string changed(const std::function<void(json&)>& change) {
  json document = json::parse(to_json(imaginary_machine()));
  change(document);
  return document.dump();
}

// A busy machine is good enough here.
const MeasureOptions kQuick{
    .seconds = 0.02, .threads = 1, .largest_bytes = 1 << 20, .largest_spread = 1e9};

TEST_F(StoredProfile, ComeBackExactly) {
  const MachineProfile profile = imaginary_machine();
  save_profile(profile, file("new/folder/profile.json"));
  EXPECT_EQ(load_profile(file("new/folder/profile.json")), profile);
  EXPECT_EQ(fs::status(file("new/folder")).permissions(), fs::perms::owner_all);
}

TEST_F(StoredProfile, MeasuredOnesToo) {
  const MachineProfile profile = measure_machine(kQuick);
  save_profile(profile, file("profile.json"));
  EXPECT_EQ(load_profile(file("profile.json")), profile);
}

TEST_F(StoredProfile, SamplesOfTheFitComeBackAndMayBeMissing) {
  MachineProfile profile = imaginary_machine();
  profile.hockney.samples = {{1000, 2.05e-6}, {64 * kMega, 1.0 / 300}};
  json document = json::parse(to_json(profile));
  EXPECT_EQ(document["hockney"]["samples"].size(), 2U);
  EXPECT_EQ(document["hockney"]["samples"][1], json({{"bytes", 64000000}, {"seconds", 1.0 / 300}}));
  EXPECT_EQ(profile_from_json(document.dump(), "here"), profile);
  EXPECT_FALSE(measure_machine(kQuick).hockney.samples.empty());
  // As they were stored before samples were kept.
  document["hockney"].erase("samples");
  EXPECT_EQ(profile_from_json(document.dump(), "here"), imaginary_machine());
  const auto with_samples = [](const json& samples) {
    return changed([&](json& stored) { stored["hockney"]["samples"] = samples; });
  };
  expect_refused(with_samples(7), "'samples' is not a list");
  expect_refused(with_samples(json::array({{{"bytes", 5}}})), "lacks 'seconds'");
  expect_refused(with_samples(json::array({{{"bytes", 5}, {"seconds", 0}}})), "'seconds' is 0");
}

TEST_F(StoredProfile, NoFileIsNoError) {
  EXPECT_EQ(load_profile(file("missing.json")), std::nullopt);
  EXPECT_EQ(load_profile(file("no/folder/missing.json")), std::nullopt);
}

TEST_F(StoredProfile, WhatIsNotTheirJsonIsRefused) {
  const std::string whole = to_json(imaginary_machine());
  expect_refused("", "is not JSON");
  expect_refused("hello", "is not JSON");
  expect_refused(whole.substr(0, whole.size() / 2), "is not JSON");
  expect_refused(std::string(100000, '['), "is not JSON");
  expect_refused("[]", "'format'");
  expect_refused("{}", "lacks 'format'");
  fs::remove(file("profile.json"));
  fs::create_directory(file("profile.json"));
  EXPECT_THROW(load_profile(file("profile.json")), FileError);
}

TEST_F(StoredProfile, AnotherVersionIsRefused) {
  expect_refused(changed([](json& profile) { profile["format"] = 999; }), "version 999");
  expect_refused(changed([](json& profile) { profile["format"] = "new"; }), "'format'");
}

TEST_F(StoredProfile, EveryKeyIsNeeded) {
  const json document = json::parse(to_json(imaginary_machine()));
  for (const auto& [key, value] : document.items()) {
    const std::string name = key;
    expect_refused(changed([&](json& profile) { profile.erase(name); }), "lacks '" + name + "'");
  }
  expect_refused(changed([](json& profile) { profile["stream"].erase("triad_bytes_per_second"); }),
                 "lacks 'triad_bytes_per_second'");
  expect_refused(changed([](json& profile) { profile["read"][3].erase("bytes"); }),
                 "lacks 'bytes'");
  for (const auto& [key, value] : document["fingerprint"].items()) {
    const std::string name = key;
    expect_refused(changed([&](json& profile) { profile["fingerprint"].erase(name); }),
                   "lacks '" + name + "'");
  }
}

TEST_F(StoredProfile, NumbersThatCannotBeAreRefused) {
  expect_refused(changed([](json& profile) { profile["cores"] = 0; }), "'cores' is 0");
  expect_refused(changed([](json& profile) { profile["cores"] = 2.5; }),
                 "'cores' is not a whole number");
  expect_refused(changed([](json& profile) { profile["cores"] = 1e300; }), "'cores'");
  expect_refused(changed([](json& profile) { profile["handoff_seconds"] = -1; }),
                 "'handoff_seconds'");
  expect_refused(changed([](json& profile) { profile["flops_per_second"] = -1; }),
                 "'flops_per_second'");
  // NaN becomes null in JSON.
  expect_refused(changed([](json& profile) { profile["fork_join_seconds"] = std::nan(""); }),
                 "'fork_join_seconds' is not a number");
  expect_refused(changed([](json& profile) { profile["hockney"]["bytes_per_second"] = 0; }),
                 "'bytes_per_second' is 0");
  expect_refused(changed([](json& profile) { profile["read"][0]["bytes"] = -5; }), "'bytes' is -5");
  expect_refused(
      changed([](json& profile) { profile["read"][0]["bytes"] = 18446744073709551615U; }),
      "'bytes' is 18446744073709551615");
  expect_refused(changed([](json& profile) { profile["plateaus"] = json::array(); }), "is empty");
  expect_refused(changed([](json& profile) { profile["plateaus"] = 7; }), "is not a list");
  expect_refused(changed([](json& profile) { profile["read"][0] = "fast"; }), "'threads'");
  expect_refused(changed([](json& profile) { std::swap(profile["read"][0], profile["read"][1]); }),
                 "not in order");
  expect_refused(changed([](json& profile) { profile["processor"] = 6502; }), "is not a text");
}

TEST_F(StoredProfile, SavingWhereNothingCanBeWrittenIsAnError) {
  EXPECT_THROW(save_profile(imaginary_machine(), impossible_path()), FileError);
}

TEST_F(StoredProfile, AreMeasuredOnceAndThenLoaded) {
  const CachedProfile first = load_or_measure(file("profile.json"), kQuick);
  EXPECT_TRUE(first.measured);
  EXPECT_TRUE(first.stored);
  EXPECT_EQ(first.remark, "");
  const CachedProfile second = load_or_measure(file("profile.json"), kQuick);
  EXPECT_FALSE(second.measured);
  EXPECT_TRUE(second.stored);
  EXPECT_EQ(second.remark, "");
  EXPECT_EQ(second.profile, first.profile);
}

TEST_F(StoredProfile, AreMeasuredAnewWhenAskedFor) {
  save_profile(imaginary_machine(), file("profile.json"));
  const CachedProfile known = measure_again(file("profile.json"), kQuick);
  EXPECT_TRUE(known.measured);
  EXPECT_EQ(load_profile(file("profile.json")), known.profile);
}

TEST_F(StoredProfile, ACorruptFileIsReplacedAndRemarkedOn) {
  write(file("profile.json"), "{\"format\": 1");
  const CachedProfile known = load_or_measure(file("profile.json"), kQuick);
  EXPECT_TRUE(known.measured);
  EXPECT_NE(known.remark.find("is not JSON"), std::string::npos) << known.remark;
  EXPECT_EQ(load_profile(file("profile.json")), known.profile);
}

TEST_F(StoredProfile, OfAnotherVersionAreMeasuredAgain) {
  write(file("profile.json"), changed([](json& profile) { profile["format"] = 1; }));
  const CachedProfile known = load_or_measure(file("profile.json"), kQuick);
  EXPECT_TRUE(known.measured);
  EXPECT_TRUE(known.stored);
  EXPECT_NE(known.remark.find("version 1"), std::string::npos) << known.remark;
  EXPECT_EQ(load_profile(file("profile.json")), known.profile);
}

TEST_F(StoredProfile, ExpireWithWhatTheyDependOn) {
  const auto expect_expired = [&](const std::function<void(MachineFingerprint&)>& change,
                                  const std::string& words) {
    SCOPED_TRACE(words);
    MachineProfile profile = imaginary_machine();
    change(profile.fingerprint);
    save_profile(profile, file("profile.json"));
    const CachedProfile known = load_or_measure(file("profile.json"), kQuick);
    EXPECT_TRUE(known.measured);
    EXPECT_NE(known.remark.find(words), std::string::npos) << known.remark;
    EXPECT_EQ(load_profile(file("profile.json")), known.profile);
  };
  expect_expired([](auto& stored) { stored.host = "elsewhere"; }, "host elsewhere, now ");
  expect_expired([](auto& stored) { stored.kernel = "2.4.0"; }, "kernel 2.4.0, now ");
  expect_expired([](auto& stored) { stored.memory_bytes = 640000; }, "bytes of memory 640000, now");
  expect_expired([](auto& stored) { stored.processors = 4711; }, "processors 4711, now ");
  expect_expired([](auto& stored) { stored.limits.processors = 0.25; }, "limit of processors 0.25");
  expect_expired([](auto& stored) { stored.limits.memory_bytes = 12345; }, "memory in bytes 12345");
}

TEST_F(StoredProfile, OfAnUnreliableMeasurementAreUsedAndNotStored) {
  MeasureOptions options = kQuick;
  options.largest_spread = 0;  // every machine is too busy
  const CachedProfile known = load_or_measure(file("profile.json"), options);
  EXPECT_TRUE(known.measured);
  EXPECT_FALSE(known.stored);
  EXPECT_NE(known.remark.find("not stored: the machine was busy"), std::string::npos)
      << known.remark;
  EXPECT_GT(known.profile.memory_bandwidth(1), 0);
  EXPECT_FALSE(fs::exists(file("profile.json")));
  options = kQuick;
  options.threads = usable_processors() + 1;
  EXPECT_NE(measure_again(file("profile.json"), options).remark.find("threads share"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(file("profile.json")));
}

TEST_F(StoredProfile, AreKeptOnlyWhereNobodyElseCanWrite) {
  const auto expect_not_kept = [&](const fs::path& folder, const std::string& words) {
    SCOPED_TRACE(words);
    save_profile(imaginary_machine(), folder / "profile.json");
    const CachedProfile known = load_or_measure(folder / "profile.json", kQuick);
    EXPECT_TRUE(known.measured);
    EXPECT_FALSE(known.stored);
    EXPECT_EQ(known.remark, "not stored: " + folder.string() + ": " + words);
    EXPECT_EQ(load_profile(folder / "profile.json"), imaginary_machine());
  };
  fs::create_directory(file("shared"));
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(file("shared"), fs::perms::owner_all | others);
    expect_not_kept(file("shared"), "can be written by others");
  }
  fs::create_directory(file("own"));
  fs::create_directory_symlink(file("own"), file("link"));
  expect_not_kept(file("link"), "is a link, behind which profiles are not stored");
}

TEST_F(StoredProfile, AFolderOfAnotherUserIsNotTrusted) {
  // The root folder is always there; unless it is ours, it is somebody else's.
  const std::string why = detail::why_not_private("/");
  EXPECT_EQ(why, geteuid() == 0 ? "" : "belongs to another user");
  if (geteuid() != 0) return;
  fs::create_directory(file("theirs"));
  ASSERT_EQ(chown(file("theirs").c_str(), 65534, 65534), 0);
  EXPECT_EQ(detail::why_not_private(file("theirs")), "belongs to another user");
}

TEST_F(StoredProfile, WithoutAFolderAreUsedAndNotStored) {
  const CachedProfile known = load_or_measure("", kQuick);
  EXPECT_TRUE(known.measured);
  EXPECT_FALSE(known.stored);
  EXPECT_NE(known.remark.find("not stored: neither"), std::string::npos) << known.remark;
}

TEST_F(StoredProfile, AFolderThatCannotBeWrittenIsRemarkedOn) {
  const CachedProfile known = load_or_measure(impossible_path(), kQuick);
  EXPECT_TRUE(known.measured);
  EXPECT_NE(known.remark.find("not stored"), std::string::npos) << known.remark;
  EXPECT_GT(known.profile.memory_bandwidth(1), 0);
}

TEST_F(StoredProfile, TheFolderIsTheOneThatTheEnvironmentNames) {
  setenv("STRATA_CACHE_DIR", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/c", 1);
  EXPECT_EQ(cache_folder(), "/a");
  unsetenv("STRATA_CACHE_DIR");
  EXPECT_EQ(cache_folder(), "/b/strata");
  setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(cache_folder(), "/c/.cache/strata");
  // The account's own folder, or none; never one that others can make first.
  unsetenv("HOME");
  const passwd* account = getpwuid(geteuid());
  EXPECT_EQ(cache_folder(),
            account == nullptr ? fs::path() : fs::path(account->pw_dir) / ".cache" / "strata");
}

TEST_F(StoredProfile, TheNameDependsOnTheThreads) {
  const std::string name = profile_path(3).filename().string();
  EXPECT_TRUE(name.starts_with("machine-") && name.ends_with(".json")) << name;
  EXPECT_EQ(name.size(), std::string("machine-0123456789abcdef.json").size());
  EXPECT_EQ(name, profile_path(3).filename().string());
  EXPECT_NE(name, profile_path(4).filename().string());
}

TEST_F(StoredProfile, TheKnownMachineStaysTheSame) {
  setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1);
  save_profile(imaginary_machine(), profile_path());
  const CachedProfile& known = cached_machine_profile();
  EXPECT_EQ(known.profile, imaginary_machine());
  fs::remove_all(file("cache"));
  EXPECT_EQ(&cached_machine_profile(), &known);
  EXPECT_EQ(known.remark, "");
}

// The policy of the process, put back afterwards, with a folder of its own.
class PolicyOfProfiles : public StoredProfile {
 protected:
  PolicyOfProfiles() {
    unsetenv("STRATA_PROFILE");
    setenv("STRATA_CACHE_DIR", cache().c_str(), 1);
  }
  ~PolicyOfProfiles() override {
    unsetenv("STRATA_PROFILE");
    set_machine_profile(std::nullopt);
    set_profile_policy({});
  }

  fs::path cache() const { return file("cache"); }

  // Counts the progress reports of a measurement: 0 if there is none.
  ProfilePolicy counting(ProfilePolicy policy) {
    policy.progress = [this](std::string_view, double) { ++told_; };
    return policy;
  }
  MeasureOptions quick_counting() {
    MeasureOptions options = kQuick;
    options.progress = [this](std::string_view, double) { ++told_; };
    return options;
  }

  int told_ = 0;
};

void expect_defaults(const CachedProfile& known) {
  EXPECT_EQ(known.profile, default_profile());
  EXPECT_FALSE(known.measured);
  EXPECT_FALSE(known.stored);
  EXPECT_NE(known.remark.find("default figures"), std::string::npos) << known.remark;
}

TEST_F(PolicyOfProfiles, ThatForbidsMeasuringGivesDefaultsAndWritesNothing) {
  set_profile_policy(counting({.measure = false}));
  expect_defaults(cached_machine_profile());
  EXPECT_EQ(told_, 0);
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(PolicyOfProfiles, ThatForbidsMeasuringUsesWhatIsStored) {
  save_profile(imaginary_machine(), profile_path());
  set_profile_policy(counting({.measure = false, .write = false}));
  EXPECT_EQ(cached_machine_profile().profile, imaginary_machine());
  EXPECT_EQ(cached_machine_profile().remark, "");
  EXPECT_EQ(told_, 0);
}

TEST_F(PolicyOfProfiles, ThatForbidsMeasuringSaysWhatIsWrongWithWhatIsStored) {
  fs::create_directory(cache());
  fs::permissions(cache(), fs::perms::owner_all);
  write(profile_path(), "hello");
  set_profile_policy(counting({.measure = false}));
  const CachedProfile& known = cached_machine_profile();
  expect_defaults(known);
  EXPECT_NE(known.remark.find("is not JSON"), std::string::npos) << known.remark;
  EXPECT_EQ(told_, 0);
}

TEST_F(PolicyOfProfiles, ThatForbidsReadingUsesNothingStored) {
  save_profile(imaginary_machine(), profile_path());
  set_profile_policy(counting({.read = false, .measure = false}));
  expect_defaults(cached_machine_profile());
  EXPECT_EQ(told_, 0);
  const CachedProfile measured =
      load_or_measure(profile_path(), quick_counting(), {.read = false, .write = false});
  EXPECT_TRUE(measured.measured);
  EXPECT_GT(told_, 0);
  EXPECT_EQ(load_profile(profile_path()), imaginary_machine());
}

TEST_F(PolicyOfProfiles, ThatForbidsWritingMeasuresAndLeavesNoTrace) {
  const fs::path path = cache() / "profile.json";
  const CachedProfile known = load_or_measure(path, quick_counting(), {.write = false});
  EXPECT_TRUE(known.measured);
  EXPECT_FALSE(known.stored);
  EXPECT_EQ(known.remark, "");
  EXPECT_GT(told_, 0);
  EXPECT_FALSE(fs::exists(cache()));
  // It is the policy that made the difference.
  EXPECT_TRUE(load_or_measure(path, quick_counting(), {}).stored);
}

TEST_F(PolicyOfProfiles, MeasurementsTellTheProgramWhichMayGiveUp) {
  set_profile_policy(
      {.progress = [](std::string_view, double) { throw std::runtime_error("no"); }});
  EXPECT_THROW(cached_machine_profile(), std::runtime_error);
  EXPECT_FALSE(fs::exists(cache()));
  set_profile_policy({.measure = false});
  expect_defaults(cached_machine_profile());
}

TEST_F(PolicyOfProfiles, NamesTheFolder) {
  save_profile(imaginary_machine(), file("theirs") / profile_path().filename());
  set_profile_policy({.measure = false, .write = false, .folder = file("theirs")});
  EXPECT_EQ(cache_folder(), file("theirs"));
  EXPECT_EQ(cached_machine_profile().profile, imaginary_machine());
  set_profile_policy({.measure = false});
  EXPECT_EQ(cache_folder(), cache());
}

TEST_F(PolicyOfProfiles, ComesFromTheEnvironmentWhereTheProgramSetsNone) {
  const auto words = [](const char* word) {
    setenv("STRATA_PROFILE", word, 1);
    const ProfilePolicy policy = policy_from_environment();
    return std::tuple(policy.read, policy.measure, policy.write, policy.folder.empty());
  };
  EXPECT_EQ(words(""), std::tuple(true, true, true, true));
  EXPECT_EQ(words("on"), std::tuple(true, true, true, true));
  EXPECT_EQ(words("read"), std::tuple(true, false, false, true));
  EXPECT_EQ(words("off"), std::tuple(false, false, false, true));
  try {
    words("of");
    FAIL() << "'of' is no policy";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "the environment variable STRATA_PROFILE is 'of', not on, read or off");
  }
  // A policy that the program has set is the one that holds.
  set_profile_policy({.write = false});
  EXPECT_TRUE(profile_policy().measure);
  EXPECT_FALSE(profile_policy().write);
}

TEST_F(PolicyOfProfiles, ASuppliedProfileIsUsedAndNothingElseIsLookedFor) {
  MachineProfile supplied = imaginary_machine();
  supplied.fingerprint.host = "elsewhere";  // whose it is does not matter
  set_profile_policy(
      {.progress = [](std::string_view, double) { throw std::runtime_error("no"); }});
  set_machine_profile(supplied);
  const CachedProfile& known = cached_machine_profile();
  EXPECT_EQ(known.profile, supplied);
  EXPECT_EQ(known.remark, "");
  EXPECT_FALSE(known.measured);
  EXPECT_FALSE(fs::exists(cache()));
  // Neither a policy nor another profile takes it away from whoever holds it.
  set_profile_policy({.measure = false});
  EXPECT_EQ(&cached_machine_profile(), &known);
  set_machine_profile(imaginary_machine());
  EXPECT_EQ(cached_machine_profile().profile, imaginary_machine());
  set_machine_profile(std::nullopt);
  expect_defaults(cached_machine_profile());
  EXPECT_EQ(known.profile, supplied);
}

TEST_F(PolicyOfProfiles, ASuppliedProfileThatCannotBeIsRefused) {
  const auto expect_refused = [](const std::function<void(MachineProfile&)>& change,
                                 const std::string& part) {
    MachineProfile profile = imaginary_machine();
    change(profile);
    try {
      set_machine_profile(profile);
      ADD_FAILURE() << "nothing thrown, expected: " << part;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("the supplied profile: " + part), std::string::npos)
          << error.what();
    }
  };
  expect_refused([](auto& profile) { profile = {}; }, "'memory_bytes'");
  expect_refused([](auto& profile) { profile.read.clear(); }, "'read' is empty");
  expect_refused([](auto& profile) { profile.hockney.bytes_per_second = std::nan(""); },
                 "'bytes_per_second' is not a number");
  expect_refused([](auto& profile) { std::swap(profile.plateaus[0], profile.plateaus[1]); },
                 "'plateaus' is not in order");
}

TEST_F(PolicyOfProfiles, MayBeSetAndAskedForByManyThreads) {
  set_profile_policy({.measure = false});
  const MachineProfile defaults = default_profile();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        if (thread == 0) set_profile_policy({.measure = false});
        if (thread == 1) {
          set_machine_profile(i % 2 == 0 ? std::optional(imaginary_machine()) : std::nullopt);
        }
        const MachineProfile& known = cached_machine_profile().profile;
        if (known != defaults && known != imaginary_machine()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace strata::test
