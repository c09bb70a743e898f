#include "strata/device/device.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/device/internal/availability.hpp"

namespace strata::gpu {

namespace {

// 0 if the runtime does not know: versions are for messages, and must not fail where those are
// made.
int version_from(rt::Status (*ask)(int*)) {
  int version = 0;
  if (ask(&version) == rt::kSuccess) return version;
  // The runtime keeps an error until it is read.
  static_cast<void>(STRATA_RT(GetLastError)());
  return 0;
}

int driver_version() {
  return version_from(STRATA_RT(DriverGetVersion));
}

int runtime_version() {
  return version_from(STRATA_RT(RuntimeGetVersion));
}

struct Found {
  int count = 0;
  std::string why_none;
};

Found ask_for_devices() {
  int count = 0;
  const rt::Status status = STRATA_RT(GetDeviceCount)(&count);
  if (status == rt::kSuccess && count > 0) return {.count = count, .why_none = ""};
  static_cast<void>(STRATA_RT(GetLastError)());
  return {.count = 0,
          .why_none = detail::no_device_text(status, driver_version(), runtime_version())};
}

// The first answer holds: devices neither come nor go while a process runs, but a kernel that has
// failed may keep the runtime from answering.
const Found& find_devices() {
  static const Found found = ask_for_devices();
  return found;
}

void require_device(int index) {
  const Found& found = find_devices();
  detail::require_device(index, found.count, found.why_none);
}

// What the two runtimes have under different names.
void add_limits(const rt::Properties& from, DeviceProperties& to) {
#ifdef STRATA_GPU_HIP
  to.architecture = from.gcnArchName;
  to.shared_bytes_per_block = narrow<Offset>(from.sharedMemPerBlock, "shared memory");
  to.shared_bytes_per_multiprocessor =
      narrow<Offset>(from.maxSharedMemoryPerMultiProcessor, "shared memory");
  to.registers_per_multiprocessor = from.regsPerBlock;
#else
  to.architecture = fmt::format("sm_{}{}", from.major, from.minor);
  to.shared_bytes_per_block = narrow<Offset>(from.sharedMemPerBlockOptin, "shared memory");
  to.shared_bytes_per_multiprocessor =
      narrow<Offset>(from.sharedMemPerMultiprocessor, "shared memory");
  to.registers_per_multiprocessor = from.regsPerMultiprocessor;
#endif
}

}  // namespace

namespace detail {

std::string version_text(int version) {
#ifdef STRATA_GPU_HIP
  return fmt::format("{}.{}.{}", version / 10000000, version / 100000 % 100, version % 100000);
#else
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
#endif
}

std::string no_device_text(rt::Status status, int driver_version, int runtime_version) {
  const std::string_view api_name = api() == Api::hip ? "HIP" : "CUDA";
  if (driver_version == 0) return fmt::format("there is no driver for {}", api_name);
  if (status == STRATA_RT(ErrorInsufficientDriver)) {
    return fmt::format("the driver is too old: it serves {0} up to {1}, this build needs {0} {2}",
                       api_name, version_text(driver_version), version_text(runtime_version));
  }
  if (status == rt::kSuccess || status == STRATA_RT(ErrorNoDevice)) {
    return fmt::format("{} finds no device", api_name);
  }
  return fmt::format("{} ({})", STRATA_RT(GetErrorString)(status), STRATA_RT(GetErrorName)(status));
}

std::string no_gpu_text(const std::string& why_none) {
  return fmt::format("no GPU can be used: {}", why_none);
}

void require_device(int index, int count, const std::string& why_none) {
  if (count == 0) throw Unavailable(no_gpu_text(why_none));
  if (index < 0 || index >= count) {
    throw Unavailable(fmt::format("device {} was asked for; there {} {}, numbered from 0", index,
                                  count == 1 ? "is" : "are", count));
  }
}

}  // namespace detail

Api api() {
#ifdef STRATA_GPU_HIP
  return Api::hip;
#else
  return Api::cuda;
#endif
}

int device_count() {
  return find_devices().count;
}

std::string why_no_device() {
  return find_devices().why_none;
}

namespace {

DeviceProperties ask_properties(int index) {
  rt::Properties reported;
  STRATA_RT_CALL(GetDeviceProperties, &reported, index);
  int clock_kilohertz = 0;
  STRATA_RT_CALL(DeviceGetAttribute, &clock_kilohertz, rt::kClockRate, index);
  DeviceProperties properties{
      .api = api(),
      .index = index,
      .name = reported.name,
      .architecture = "",
      .capability_major = reported.major,
      .capability_minor = reported.minor,
      .multiprocessors = reported.multiProcessorCount,
      .warp = reported.warpSize,
      .memory_bytes = narrow<Offset>(reported.totalGlobalMem, "memory of the device"),
      .l2_bytes = reported.l2CacheSize,
      .threads_per_multiprocessor = reported.maxThreadsPerMultiProcessor,
      .clock_hertz = 1e3 * clock_kilohertz,
      .cooperative_launch = reported.cooperativeLaunch != 0,
      .driver = detail::version_text(driver_version()),
      .runtime = detail::version_text(runtime_version())};
  add_limits(reported, properties);
  return properties;
}

}  // namespace

DeviceProperties device_properties(int index) {
  require_device(index);
  static std::mutex mutex;
  static std::map<int, DeviceProperties> known;
  const std::lock_guard lock(mutex);
  auto found = known.find(index);
  if (found == known.end()) found = known.emplace(index, ask_properties(index)).first;
  return found->second;
}

void use_device(int index) {
  require_device(index);
  STRATA_RT_CALL(SetDevice, index);
}

int current_device() {
  int index = 0;
  STRATA_RT_CALL(GetDevice, &index);
  return index;
}

int multiprocessor_count() {
  int count = 0;
  STRATA_RT_CALL(DeviceGetAttribute, &count, rt::kMultiprocessors, current_device());
  return count;
}

void synchronize_device() {
  STRATA_RT_CALL(DeviceSynchronize);
}

}  // namespace strata::gpu
