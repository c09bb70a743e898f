// Profiles that outlive the process: one JSON file per machine in the user's cache folder.
//
// In a parallel program one process of each machine can find the profile for all of them:
//
//   std::string text;
//   if (rank == 0) text = strata::to_json(strata::cached_machine_profile().profile);
//   broadcast(text);
//   strata::set_machine_profile(strata::profile_from_json(text, "rank 0"));
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "strata/machine/measure.hpp"
#include "strata/machine/profile.hpp"
#include "strata/machine/profile_policy.hpp"

namespace strata {

// The folder of the profile policy, else $STRATA_CACHE_DIR, else $XDG_CACHE_HOME/strata, else
// $HOME/.cache/strata, else .cache/strata in the home folder of the user's account; empty if there
// is none of these, and then nothing is stored.
std::filesystem::path cache_folder();

// Where the profile of this machine belongs, measured with up to `threads` threads (0: as many as
// run at once). The name depends on host, processor, caches and threads, so that machines that
// share a folder keep out of each other's way. Empty if there is no folder.
std::filesystem::path profile_path(int threads = 0);

std::string to_json(const MachineProfile& profile);
// Throws FileError naming `source` if the text is anything but what to_json writes: no JSON, of
// another version, incomplete, or with impossible numbers.
MachineProfile profile_from_json(std::string_view text, const std::string& source);

// None if there is no such file. Throws FileError as profile_from_json does.
std::optional<MachineProfile> load_profile(const std::filesystem::path& path);
// Makes the folder and replaces the file whole. Throws FileError.
void save_profile(const MachineProfile& profile, const std::filesystem::path& path);

struct CachedProfile {
  MachineProfile profile;
  std::string remark = {};  // what was wrong with the stored profile or with storing it, or that
                            // the figures are defaults
  bool measured = false;    // just now, rather than loaded
  bool stored = false;      // so that the next process finds it
};

// The stored profile; if there is none, or a useless one, measures and stores; as far as the policy
// allows, else a default_profile(). One with another fingerprint than the machine has now is
// useless. A folder that cannot be read or written, or that is not the user's own, costs time, not
// results.
CachedProfile load_or_measure(const std::filesystem::path& path, const MeasureOptions& options,
                              const ProfilePolicy& policy = profile_policy());
// Measures, whatever is stored already and whatever the policy says, and stores unless
// doubts_about() what was measured says why not.
CachedProfile measure_again(const std::filesystem::path& path, const MeasureOptions& options);

// The profile that plans use: the one that was supplied, else found once per process and policy,
// within about 1.5 seconds if it has to be measured. The reference stays good until the process
// ends. May be called from any thread.
const CachedProfile& cached_machine_profile();

// Supplies the profile that plans use from now on: no other is searched for. None: goes back to
// finding one. Throws InvalidArgument unless the profile is one that could have been measured:
// bandwidths for at least one number of threads, in order, and possible numbers.
void set_machine_profile(const std::optional<MachineProfile>& profile);

}  // namespace strata
