// Facts that outlive the process: one JSON file per machine in the user's cache folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "strata/machine/measure.hpp"
#include "strata/machine/profile.hpp"

namespace strata {

// $STRATA_CACHE_DIR, else $XDG_CACHE_HOME/strata, else $HOME/.cache/strata, else .cache/strata in
// the home folder of the user's account; empty if there is none of these, and then nothing is
// stored.
std::filesystem::path cache_folder();

// Where the facts of this machine belong, measured with up to `threads` threads (0: as many as run
// at once). The name depends on host, processor, caches and threads, so that machines that share a
// folder keep out of each other's way. Empty if there is no folder.
std::filesystem::path profile_path(int threads = 0);

std::string to_json(const MachineProfile& profile);
// Throws FileError naming `source` if the text is anything but what to_json writes: no JSON, of
// another version, incomplete, or with numbers that cannot be.
MachineProfile profile_from_json(std::string_view text, const std::string& source);

// None if there is no such file. Throws FileError as facts_from_json does.
std::optional<MachineProfile> load_profile(const std::filesystem::path& path);
// Makes the folder and replaces the file whole. Throws FileError.
void save_profile(const MachineProfile& profile, const std::filesystem::path& path);

struct CachedProfile {
  MachineProfile profile;
  std::string remark = {};  // what was wrong with the stored facts or with storing them
  bool measured = false;    // just now, rather than loaded
  bool stored = false;      // so that the next process finds them
};

// The stored facts; if there are none, or useless ones, measures and stores. Facts with another
// fingerprint than the machine has now are useless. A folder that cannot be read or written, or
// that is not the user's own, costs time, not results.
CachedProfile load_or_measure(const std::filesystem::path& path, const MeasureOptions& options);
// Measures, whatever is stored already, and stores unless doubts_about() what was measured says why
// not.
CachedProfile measure_again(const std::filesystem::path& path, const MeasureOptions& options);

// The facts that plans use: found once per process, within about 1.5 seconds if they have to be
// measured.
const CachedProfile& cached_machine_profile();

}  // namespace strata
