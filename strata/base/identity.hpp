// Identity: distinguishes objects for as long as the process runs, moved or not. A workspace
// carries the identity of its plan, so that a plan can refuse those of others.
#pragma once

#include <atomic>
#include <cstdint>

namespace strata {

class Identity {
 public:
  // Of no object.
  Identity() = default;

  // One that no other has had.
  static Identity fresh() {
    static std::atomic<std::uint64_t> given{0};
    Identity identity;
    identity.number_ = given.fetch_add(1, std::memory_order_relaxed) + 1;
    return identity;
  }

  bool operator==(const Identity&) const = default;

 private:
  std::uint64_t number_ = 0;
};

}  // namespace strata
