// What `strata model` says of one product besides its balance: the levels of memory under a
// roofline, the traffic of CSR as Reguly counts it, what a GPU's warps make of the rows, and how
// processors scale. Each is text for people and a result for the document.
#pragma once

#include <string>
#include <vector>

#include "strata/formats/any_matrix.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile.hpp"
#include "strata/measure/json.hpp"
#include "strata/measure/product_device.hpp"
#include "strata/model/warp_model.hpp"

namespace strata::cli {

// Bytes of a value and of an index.
ElementSizes sizes_of(const ProductWork& work);

// α on a device. The matrix has entries.
AlphaPrediction alpha_of(const AnyMatrix& matrix, const ProductDevice& device);

// The format that the models are shown for.
struct ModelledFormat {
  std::string label;
  FormatSpec format;
  Offset bytes = 0;
};

// ---- The roofline, level by level

std::string levels_text(const ProductDevice& device, const ProductWork& work,
                        const ModelledFormat& best);
std::vector<Json> levels_json(const std::string& backend, const ProductDevice& device,
                              const ProductWork& work, const ModelledFormat& best);

// ---- Bytes of a CSR product by what a cache is assumed to do

struct RegulyTraffic {
  Offset block_rows = 0;  // that share what they load of x
  Offset line_bytes = 0;
  double effective = 0;
  double worst = 0;
  double minimum = 0;
  double caching = 0;
  double seconds = 0;  // of a product, as predicted
};
RegulyTraffic reguly_traffic(const AnyMatrix& matrix, Offset block_rows, Offset line_bytes,
                             double seconds);
std::string text_of(const RegulyTraffic& traffic, const ProductWork& work);
Json json_of(const RegulyTraffic& traffic, const std::string& backend);

// ---- Warps

// Reguly's kernel with the parameters of his rule on the GPU, and what Table 2 lists for it.
struct WarpModel {
  CoopKernel kernel;
  Multiprocessor multiprocessor;
  Divergence divergence;
  double hit_rate = 0;
};
// By his rule.
CoopKernel reguly_kernel(const ProductWork& work, int warp);
// First-level caches are not reported: on NVIDIA's GPUs they share their memory with shared memory,
// of which the kernel uses none; AMD's are counted as 16 KiB.
WarpModel warp_model(const AnyMatrix& matrix, const gpu::GpuProfile& profile);
std::string text_of(const WarpModel& model);
Json json_of(const WarpModel& model, const std::string& backend);

// ---- Threads

struct PredictedScaling {
  std::vector<ScalingPoint> bytes;  // per second from memory
  std::vector<ScalingPoint> flops;  // by the roofline
  std::vector<std::string> limits;
};
PredictedScaling predicted_scaling(const MachineProfile& profile, const ProductWork& work,
                                   const ModelledFormat& best);
std::string text_of(const PredictedScaling& scaling, const ModelledFormat& best);
Json json_of(const PredictedScaling& scaling, const std::string& backend,
             const ModelledFormat& best);

}  // namespace strata::cli
