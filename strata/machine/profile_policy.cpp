#include "strata/machine/profile_policy.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "strata/base/error.hpp"
#include "strata/machine/internal/profile_keeper.hpp"

namespace strata {

namespace {

struct PolicySet {
  std::mutex mutex;
  std::optional<ProfilePolicy> policy;
  std::uint64_t number = 0;
};

PolicySet& policy_set() {
  static PolicySet set;
  return set;
}

}  // namespace

ProfilePolicy policy_from_environment() {
  const char* value = std::getenv("STRATA_PROFILE");
  const std::string_view word = value == nullptr ? "" : value;
  if (word.empty() || word == "on") return {};
  if (word == "read") return {.measure = false, .write = false};
  if (word == "off") return {.read = false, .measure = false, .write = false};
  throw InvalidArgument(
      fmt::format("the environment variable STRATA_PROFILE is '{}', not on, read or off", word));
}

void set_profile_policy(ProfilePolicy policy) {
  PolicySet& set = policy_set();
  const std::lock_guard lock(set.mutex);
  set.policy = std::move(policy);
  ++set.number;
}

ProfilePolicy profile_policy() {
  return detail::policy_in_force().policy;
}

detail::PolicyInForce detail::policy_in_force() {
  PolicySet& set = policy_set();
  const std::lock_guard lock(set.mutex);
  return {.policy = set.policy ? *set.policy : policy_from_environment(), .number = set.number};
}

std::filesystem::path detail::folder_of_policy() {
  PolicySet& set = policy_set();
  const std::lock_guard lock(set.mutex);
  return set.policy ? set.policy->folder : std::filesystem::path();
}

}  // namespace strata
