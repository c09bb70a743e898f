// Plain products in many formats, by our kernels and by other libraries, timed in turn in one
// process and checked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/analysis.hpp"
#include "cli/measuring.hpp"

namespace strata::cli {

// One line of the benchmark.
struct ProductRun {
  std::string backend;  // "cpu", "reference" or "vendor"
  FormatFacts format;   // of a peer the name and label only
  std::string variant;  // of a peer the library
  int threads = 1;
  double setup_seconds = 0;  // conversion from CSR
  Offset format_bytes = 0;
  Measurement measurement;
  double speed_up = 0;  // over the fastest peer; 0 where none ran
};

struct ProductSettings {
  std::vector<FormatFacts> formats;  // for cpu those with fast kernels, for reference all
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
