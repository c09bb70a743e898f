#include "strata/device/memory.hpp"

#include <algorithm>
#include <mutex>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/device/internal/memory_account.hpp"
#include "strata/device/internal/runtime.hpp"

namespace strata::gpu {

namespace {

// An allocation costs much more than the lock.
struct Account {
  std::mutex mutex;
  Offset used = 0;
  Offset peak = 0;
  Offset limit = 0;
};

Account& account() {
  static Account the_account;
  return the_account;
}

}  // namespace

namespace detail {

bool take_memory(Offset bytes) {
  Account& all = account();
  const std::lock_guard lock(all.mutex);
  if (all.limit > 0 && bytes > all.limit - all.used) return false;
  all.used += bytes;
  all.peak = std::max(all.peak, all.used);
  return true;
}

void give_back_memory(Offset bytes) noexcept {
  Account& all = account();
  const std::lock_guard lock(all.mutex);
  all.used -= bytes;
}

}  // namespace detail

DeviceMemory device_memory() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  STRATA_RT_CALL(MemGetInfo, &free_bytes, &total_bytes);
  return {.free_bytes = narrow<Offset>(free_bytes, "free memory of the device"),
          .total_bytes = narrow<Offset>(total_bytes, "memory of the device")};
}

DeviceMemoryUse device_memory_use() {
  Account& all = account();
  const std::lock_guard lock(all.mutex);
  return {.bytes = all.used, .peak_bytes = all.peak};
}

void reset_device_memory_peak() {
  Account& all = account();
  const std::lock_guard lock(all.mutex);
  all.peak = all.used;
}

void set_device_memory_limit(Offset bytes) {
  if (bytes < 0) throw InvalidArgument("a limit of memory cannot be negative");
  Account& all = account();
  const std::lock_guard lock(all.mutex);
  all.limit = bytes;
}

Offset available_device_memory() {
  const Offset free_bytes = device_memory().free_bytes;
  Account& all = account();
  const std::lock_guard lock(all.mutex);
  if (all.limit == 0) return free_bytes;
  return std::clamp<Offset>(all.limit - all.used, 0, free_bytes);
}

}  // namespace strata::gpu
