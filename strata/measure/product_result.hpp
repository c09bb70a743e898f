// What the product benchmark finds out about one way to compute y = Ax, and the JSON of it that
// docs/cli.md describes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/formats/any_matrix.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/formats/slice_encodings.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/json.hpp"
#include "strata/model/bound.hpp"
#include "strata/model/product_model.hpp"

namespace strata {

// What the bandwidths of a device let expect, in flops per second.
struct ProductPrediction {
  double flops_per_second = 0;  // all bytes at the bandwidth of where they are
  double with_latency = 0;      // from memory, with the overhead of a kernel (thesis 4.12)
  Bound bound = Bound::memory;  // or the cache, if all of it stays there
};

struct ProductResult {
  std::string backend = "cpu";  // or "reference", "cuda", "hip"; "vendor" for other libraries
  FormatSpec format = {};
  std::string label = {};                           // as tables name it; of a peer its name
  std::vector<NamedNumber> kernel_parameters = {};  // what a kernel chose for the matrix
  Precision precision = Precision::double_real;
  int threads = 1;                 // of the processor
  std::optional<int> device = {};  // the GPU; none on the processor
  double setup_seconds = 0;        // conversion from CSR, and the way to the GPU
  Offset format_bytes = 0;
  std::optional<SliceEncodings> encodings = {};  // of packed SELL
  Offset minimum_bytes = 0;                      // every value as it is, x and y once
  Measurement measurement = {};
  double memory_bandwidth = 0;                       // bytes per second that the device reads
  std::optional<ProductPrediction> prediction = {};  // on GPUs
  std::optional<Roofline> roofline = {};             // none of a matrix without entries
  // α of Hager and Wellein: that of the matrix where it was predicted, and what the time says,
  // unless caches hold the product.
  std::optional<double> predicted_alpha = {};
  std::optional<double> inferred_alpha = {};
  double speed_up = 0;             // over the device's fastest peer; 0 where none ran
  bool compared_with_csr = false;  // CSR ran in the same contest: `break_even` means something
  // Products until the set-up has paid off against it; none if it never does.
  std::optional<Offset> break_even = {};
  std::string refusal = {};  // why it was not timed

  bool of_peer() const { return backend == "vendor"; }
  // Of what the roofline allows; 0 without one.
  double roofline_share() const {
    return roofline ? measurement.flops_per_second() / roofline->flops_per_second : 0;
  }
};

// The "kernel" is "spmv".
Json json_of(const ProductResult& result);

// {"index": {"dia": 0.9, "delta8": 0.1}, "value": {"constant": 1}}: shares of slices.
Json encodings_json(const SliceEncodings& encodings);

// {"slice_height": 32, …}
Json parameters_json(const std::vector<NamedNumber>& parameters);

}  // namespace strata
