// ProfileKeeper: the profiles that a process uses, found once or supplied by the program.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "strata/machine/profile_policy.hpp"

namespace strata::detail {

struct PolicyInForce {
  ProfilePolicy policy;
  std::uint64_t number = 0;  // another one for each policy that was set
};
PolicyInForce policy_in_force();
// Of the policy that was set; empty without one.
std::filesystem::path folder_of_policy();

template <class Known>
class ProfileKeeper {
 public:
  // What was supplied for the device, else what find(policy) found, once per policy. The reference
  // stays good as long as the keeper, whatever is found or supplied later.
  template <class Find>
  const Known& get(int device, Find&& find) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[device];
    if (entry.supplied != nullptr) return *entry.supplied;
    const PolicyInForce now = policy_in_force();
    if (entry.found == nullptr || entry.policy != now.number) {
      entry.found = &kept_.emplace_back(find(now.policy));
      entry.policy = now.number;
    }
    return *entry.found;
  }

  // None: what was supplied before is used no longer.
  void supply(int device, std::optional<Known> known) {
    const std::lock_guard lock(mutex_);
    entries_[device].supplied = known ? &kept_.emplace_back(*std::move(known)) : nullptr;
  }

 private:
  struct Entry {
    const Known* supplied = nullptr;
    const Known* found = nullptr;
    std::uint64_t policy = 0;  // that it was found by
  };

  std::mutex mutex_;
  std::list<Known> kept_;
  std::map<int, Entry> entries_;
};

}  // namespace strata::detail
