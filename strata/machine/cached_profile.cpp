#include "strata/machine/cached_profile.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "strata/machine/default_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"
#include "strata/machine/internal/profile_keeper.hpp"
#include "strata/machine/system.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;
using detail::ProfileReader;
using Json = detail::ProfileJson;

// Goes up whenever keys of stored profiles, or their meaning, change.
constexpr int kFormat = 4;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Of the user's account; empty if it has none.
std::string home_of_account() {
  std::vector<char> text(16384);
  passwd account{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &account, text.data(), text.size(), &found) != 0) return "";
  return found == nullptr || found->pw_dir == nullptr ? "" : found->pw_dir;
}

CacheLevel cache_from(const ProfileReader& reader) {
  return {.level = reader.small_count("level"),
          .bytes = reader.bytes("bytes"),
          .shared_by = reader.small_count("shared_by")};
}

}  // namespace

fs::path cache_folder() {
  if (fs::path folder = detail::folder_of_policy(); !folder.empty()) return folder;
  if (const std::string folder = environment("STRATA_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) {
    return fs::path(caches) / "strata";
  }
  std::string home = environment("HOME");
  if (home.empty()) home = home_of_account();
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "strata";
}

fs::path profile_path(int threads) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  const MachineProfile profile = reported_profile(threads);
  std::string identity =
      fmt::format("{}|{}|{}", profile.fingerprint.host, profile.processor, profile.cores);
  for (const CacheLevel& cache : profile.caches) {
    identity += fmt::format("|L{} {} {}", cache.level, cache.bytes, cache.shared_by);
  }
  return folder / detail::profile_file_name("machine", identity);
}

std::string to_json(const MachineProfile& profile) {
  Json caches = Json::array();
  for (const CacheLevel& cache : profile.caches) {
    caches.push_back(
        {{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  }
  const StreamRates& stream = profile.stream;
  const Json document{{"format", kFormat},
                      {"processor", profile.processor},
                      {"fingerprint", detail::json_of(profile.fingerprint)},
                      {"cores", profile.cores},
                      {"measured_at", profile.measured_at},
                      {"measuring_seconds", profile.measuring_seconds},
                      {"spread", profile.spread},
                      {"caches", caches},
                      {"plateaus", detail::json_of(profile.plateaus)},
                      {"read", detail::json_of(profile.read)},
                      {"stream",
                       {{"copy_bytes_per_second", stream.copy},
                        {"scale_bytes_per_second", stream.scale},
                        {"add_bytes_per_second", stream.add},
                        {"triad_bytes_per_second", stream.triad},
                        {"dot_bytes_per_second", stream.dot},
                        {"array_bytes", stream.array_bytes}}},
                      {"flops_per_second", profile.flops_per_second},
                      {"fork_join_seconds", profile.fork_join_seconds},
                      {"handoff_seconds", profile.handoff_seconds},
                      {"hockney", detail::json_of(profile.hockney)}};
  return detail::text_of(document);
}

MachineProfile profile_from_json(std::string_view text, const std::string& source) {
  const Json document = detail::parse_profile(text, source, kFormat);
  const ProfileReader reader(document, source);
  MachineProfile profile;
  profile.processor = reader.text("processor");
  profile.fingerprint = detail::fingerprint_from(reader.inside("fingerprint"));
  profile.cores = reader.small_count("cores");
  profile.measured_at = reader.text("measured_at");
  profile.measuring_seconds = reader.number("measuring_seconds");
  profile.spread = reader.number("spread");
  profile.caches = reader.list<CacheLevel>("caches", cache_from);
  profile.plateaus = detail::points_from<Plateau>(reader, "plateaus");
  profile.read = detail::points_from<BandwidthPoint>(reader, "read");
  const ProfileReader stream = reader.inside("stream");
  profile.stream = {.copy = stream.positive("copy_bytes_per_second"),
                    .scale = stream.positive("scale_bytes_per_second"),
                    .add = stream.positive("add_bytes_per_second"),
                    .triad = stream.positive("triad_bytes_per_second"),
                    .dot = stream.positive("dot_bytes_per_second"),
                    .array_bytes = stream.bytes("array_bytes")};
  profile.flops_per_second = reader.number("flops_per_second");
  profile.fork_join_seconds = reader.number("fork_join_seconds");
  profile.handoff_seconds = reader.number("handoff_seconds");
  profile.hockney = detail::hockney_from(reader.inside("hockney"));
  return profile;
}

std::optional<MachineProfile> load_profile(const fs::path& path) {
  const auto text = detail::read_profile_file(path);
  if (!text) return std::nullopt;
  return profile_from_json(*text, path.string());
}

void save_profile(const MachineProfile& profile, const fs::path& path) {
  detail::write_profile_file(path, to_json(profile));
}

namespace {

CachedProfile measured(const fs::path& path, const MeasureOptions& options, bool write) {
  const MeasuringConditions conditions = measuring_conditions(options);
  CachedProfile known{.profile = measure_machine(options), .measured = true};
  if (!write) return known;
  if (const std::string doubts = doubts_about(known.profile, conditions); !doubts.empty()) {
    known.remark = fmt::format("not stored: {}", doubts);
    return known;
  }
  detail::store(known, path, [&](const MachineProfile& profile) { save_profile(profile, path); });
  return known;
}

detail::ProfileKeeper<CachedProfile>& keeper() {
  static detail::ProfileKeeper<CachedProfile> profiles;
  return profiles;
}

constexpr int kThisMachine = 0;

}  // namespace

CachedProfile measure_again(const fs::path& path, const MeasureOptions& options) {
  return measured(path, options, true);
}

CachedProfile load_or_measure(const fs::path& path, const MeasureOptions& options,
                              const ProfilePolicy& policy) {
  const auto load = [&] {
    auto profile = load_profile(path);
    if (profile) {
      const std::string changes = detail::what_changed(profile->fingerprint, machine_fingerprint());
      if (!changes.empty()) throw FileError(path.string(), "is out of date: " + changes);
    }
    return profile;
  };
  return detail::load_or_else<CachedProfile>(
      path, policy, load, [&] { return measured(path, options, policy.write); },
      [&] { return default_profile(options.threads); });
}

const CachedProfile& cached_machine_profile() {
  return keeper().get(kThisMachine, [](const ProfilePolicy& policy) {
    return load_or_measure(profile_path(), {.seconds = 1.5, .progress = policy.progress}, policy);
  });
}

void set_machine_profile(const std::optional<MachineProfile>& profile) {
  if (!profile) return keeper().supply(kThisMachine, std::nullopt);
  detail::require_usable([&] { profile_from_json(to_json(*profile), "the supplied profile"); });
  keeper().supply(kThisMachine, CachedProfile{.profile = *profile});
}

}  // namespace strata
