// Plain products in many formats, by our kernels and by other libraries, timed in turn in one
// process and checked.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis.hpp"
#include "cli/parts/measuring.hpp"

namespace strata::cli {

// What the bandwidths of a device let expect, in flops per second.
struct ProductPrediction {
  double flops_per_second = 0;  // all bytes at the bandwidth of where they are
  double with_latency = 0;      // from memory, with the overhead of a kernel (thesis 4.12)
  std::string bound;            // "dram", or "cache" if all of it stays there
};

// One line of the benchmark.
struct ProductRun {
  std::string backend;   // "cpu", "reference", "vendor", "cuda" or "hip"
  FormatSummary format;  // of a peer the format that it is given, and its name
  std::vector<NamedNumber> kernel_parameters = {};  // what a kernel chose for the matrix
  std::string variant;                              // of a peer the library
  std::optional<int> device = {};                   // the GPU; none on the processor
  int threads = 1;                                  // of the processor
  double setup_seconds = 0;                         // conversion from CSR, and the way to the GPU
  Offset format_bytes = 0;
  Measurement measurement;
  double memory_bandwidth = 0;                 // bytes per second that the device reads
  std::optional<ProductPrediction> predicted;  // on GPUs
  double speed_up = 0;                         // over the device's fastest peer; 0 where none ran
};

// A line and how to compute it.
struct ProductContender {
  ProductRun run;
  std::function<void()> multiply;  // none if the format refused
};

// Those that did not refuse, and their products, which stop when the user interrupts.
std::vector<ProductContender*> running_of(std::vector<ProductContender>& contenders);
std::vector<std::function<void()>> products_of(std::span<ProductContender* const> running);
// After timing: gives each its speed-up over the fastest peer among them, which is known already
// unless `fastest_peer` is 0. Returns that peer's seconds.
double set_speed_ups(std::span<ProductContender* const> running, double fastest_peer);

struct ProductSettings {
  std::vector<FormatSummary> formats;  // for cpu those with fast kernels, for reference all
  bool cpu = true;
  bool reference = false;
  bool vendor = true;
};

// `done` gets the lines of kernels and peers together, and those of the slow reference kernels one
// by one. Formats that refuse the matrix come without a timing, with their refusal.
void run_product_bench(const AnyMatrix& matrix, const ProductSettings& settings,
                       const MeasuringOptions& measuring, Progress& progress,
                       const std::function<void(const ProductRun&)>& done);

}  // namespace strata::cli
