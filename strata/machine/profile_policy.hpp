// What the library may do to find out how fast the machine is. Plans need a profile and get one by
// themselves: a stored one, else one that is measured for a second or two and then stored in the
// user's cache folder. Where every process of a parallel program would do so, or where nothing may
// be written, the program says what is allowed:
//
//   strata::set_profile_policy({.measure = false, .write = false});  // stored profiles alone
//
// or supplies a profile (cached_profile.hpp). One that cannot change the program sets the
// environment variable STRATA_PROFILE:
//
//   on     the same as not set: read, measure, write
//   read   stored profiles are used; nothing is measured or written
//   off    nothing is read, measured or written
//
// Without a profile that is stored or supplied, and without measuring, plans use default figures
// (default_profile.hpp), and explain() remarks on it. Whether a plan times its candidates is
// another matter: that is an option of the plan.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace strata {

struct ProfilePolicy {
  bool read = true;     // use a profile that is stored
  bool measure = true;  // measure where none is stored that can be used
  bool write = true;    // store what was measured
  // Of stored profiles; empty: the one that the environment names, see cache_folder().
  std::filesystem::path folder = {};
  // Called with what is measured next and the share of the work that is done, in the thread that
  // asks for a profile. May throw to give up. Must not ask for a profile itself.
  std::function<void(std::string_view what, double share_done)> progress = {};
};

// What STRATA_PROFILE says. Throws InvalidArgument if that is none of the words above.
ProfilePolicy policy_from_environment();

// For processors and GPUs, for the whole process, from any thread. It holds from the next time that
// a profile is asked for: those that were found before are searched for again.
void set_profile_policy(ProfilePolicy policy);

// The policy that was set, else policy_from_environment().
ProfilePolicy profile_policy();

}  // namespace strata
