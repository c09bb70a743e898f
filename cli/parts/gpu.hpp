// GPUs as the command sees them, whether or not this build has code for them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/parts/document.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/machine/gpu/profile.hpp"

namespace strata::cli {

// Whether GPUs have a backend of that name: "cuda" and "hip", built or not.
bool is_gpu_backend(std::string_view backend);

// Why nothing can run on the GPUs of this backend: another build is needed, or another machine.
// Empty if they can be used. An empty name stands for the backend that this build has.
std::string why_no_gpu(std::string_view backend);
// Throws Unavailable for that reason.
void require_gpu(std::string_view backend);

// Why the library of the GPU's vendor cannot be compared with: it is not in this build. Empty if it
// is.
std::string why_no_gpu_vendor();

// What `strata machine` shows of a GPU.
struct KnownGpu {
  gpu::GpuProfile profile;
  std::string remark;
  bool measured = false;
  std::string path;  // of the file where the profile is stored; empty if it is not
};
// Throws Unavailable if there is no device of that number. `progress` as when measuring a machine.
KnownGpu find_gpu(int device, bool refresh,
                  const std::function<void(std::string_view, double)>& progress);

// The profile of a GPU, measured now if none is cached, as find_machine finds the processor's. Adds
// to the document what benchmarks compare with.
KnownGpu find_gpu(int device, ResultDocument& document, Progress& progress);
// Adds the GPU to the machine of the document.
void describe_gpu(const KnownGpu& known, ResultDocument& document);

// The line above a table: the GPU and its memory.
std::string gpu_heading_text(const gpu::GpuProfile& profile);

}  // namespace strata::cli
