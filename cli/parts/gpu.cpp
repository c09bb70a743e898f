#include "cli/parts/gpu.hpp"

#include <fmt/format.h>

#include "cli/parts/measuring.hpp"
#include "strata/base/error.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/gpu/device_profile.hpp"
#endif

namespace strata::cli {

bool is_gpu_backend(std::string_view backend) {
  return backend == gpu::name_of(gpu::Api::cuda) || backend == gpu::name_of(gpu::Api::hip);
}

void require_gpu(std::string_view backend) {
  if (const std::string why = why_no_gpu(backend); !why.empty()) throw Unavailable(why);
}

std::string why_no_gpu_vendor() {
#ifdef STRATA_HAS_VENDOR
  return "";
#else
  return "this build was made without the library of a GPU's vendor";
#endif
}

KnownGpu find_gpu(int device, ResultDocument& document, Progress& progress) {
  progress.start("measuring how fast the GPU is");
  KnownGpu known =
      find_gpu(device, false, [&](std::string_view, double share) { progress.callback()(share); });
  describe_gpu(known, document);
  return known;
}

void describe_gpu(const KnownGpu& known, ResultDocument& document) {
  const gpu::GpuProfile& profile = known.profile;
  Json described{{"api", gpu::name_of(profile.device.api)},
                 {"device", profile.device.index},
                 {"name", profile.device.name},
                 {"architecture", profile.device.architecture},
                 {"driver", profile.device.driver},
                 {"runtime", profile.device.runtime},
                 {"memory_read_bytes_per_second", profile.memory_bandwidth()},
                 {"l2_read_bytes_per_second", profile.l2_bandwidth()},
                 {"l2_bytes", profile.l2_bytes()},
                 {"measured_at", profile.measured_at}};
  if (!known.remark.empty()) described["remark"] = known.remark;
  document.describe_machine(Json::object({{"gpu", described}}));
}

std::string gpu_heading_text(const gpu::GpuProfile& profile) {
  return fmt::format("{}, device {}: {} GB/s from memory\n\n", profile.device.name,
                     profile.device.index, giga_text(profile.memory_bandwidth()));
}

#ifdef STRATA_HAS_GPU

std::string why_no_gpu(std::string_view backend) {
  const std::string_view built = gpu::name_of(gpu::api());
  if (!backend.empty() && backend != built) {
    return fmt::format("this build has GPU code for {}, not for {}", built, backend);
  }
  if (gpu::device_count() > 0) return "";
  return fmt::format("no GPU can be used: {}", gpu::why_no_device());
}

KnownGpu find_gpu(int device, bool refresh,
                  const std::function<void(std::string_view, double)>& progress) {
  const auto path = gpu::profile_path(gpu::device_properties(device));
  const gpu::GpuMeasureOptions options{.device = device, .bytes = 0, .progress = progress};
  gpu::CachedGpuProfile known =
      refresh ? gpu::measure_again(path, options) : gpu::load_or_measure(path, options);
  return {.profile = std::move(known.profile),
          .remark = std::move(known.remark),
          .measured = known.measured,
          .path = known.stored ? path.string() : ""};
}

#else

std::string why_no_gpu(std::string_view) {
  return "this build has no GPU code";
}

KnownGpu find_gpu(int, bool, const std::function<void(std::string_view, double)>&) {
  throw Unavailable(why_no_gpu(""));
}

#endif

}  // namespace strata::cli
