// What a caller can ask of a plan. The same options serve processors and GPUs; a field that only
// one of them heeds says so.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "strata/base/processors.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/format.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile.hpp"
#include "strata/plans/basis.hpp"

namespace strata {

enum class PowerStrategy {
  automatic,  // the fastest by the model, autotuned
  spmv,       // power by power: plain products
  levels,     // groups of levels sized for the cache, in RACE's order
  wavefront,  // small steps with slack between the powers, and bands where levels are too large
  graph,      // levels whose kernels are recorded once and launched together; on GPUs alone
};

constexpr std::string_view name_of(PowerStrategy strategy) {
  switch (strategy) {
    case PowerStrategy::automatic: return "auto";
    case PowerStrategy::spmv: return "spmv";
    case PowerStrategy::levels: return "levels";
    case PowerStrategy::wavefront: return "wavefront";
    case PowerStrategy::graph: return "graph";
  }
  return {};
}

// In which order vectors are given and returned.
enum class VectorOrder {
  caller,  // row i of the matrix is element i; plans that reorder copy vectors in and out
  plan,    // as the plan works: no copies, but vectors may have padded rows, which are zero
};

// The share of a cache that windows fill unless the options say otherwise. On processors it leaves
// room for vectors and for what caches lose by not being fully associative, as RACE's safety factor
// does. On GPUs groups of levels may fill the whole L2 cache, as in Panzlaff's thesis. Small
// kernels do not fill a GPU, though, and larger ones may win although their window no longer fits:
// where levels are asked for and autotuned, these shares are timed, too.
inline constexpr double kProcessorCacheShare = 0.7;
inline constexpr double kGpuCacheShare = 1.0;
inline constexpr double kLargerGpuCacheShares[] = {2.0, 4.0};

// The most powers per sweep that a plan chooses by itself, see PowerOptions::products.
inline constexpr int kLargestChosenPower = 12;

struct PowerOptions {
  int power = 4;  // p: y_1 … y_p
  // More than 0: p is chosen, up to kLargestChosenPower, and `power` is not heeded. So many
  // products follow one another in all, as in time steppers and polynomial filters, p of them per
  // application and sweep. The plan finds the p that makes them fastest, set-up apart: by the model
  // for every p, by a short timing for the best ones. PlanRecord::by_power tells what it found.
  Offset products = 0;
  Basis basis = Basis::monomial();  // which vectors these are
  int vectors = 1;                  // right-hand sides, interleaved, 1 … 8
  VectorOrder vector_order = VectorOrder::caller;
  PowerStrategy strategy = PowerStrategy::automatic;
  Format format = Format::automatic;  // csr, sell, packed_sell; on GPUs also ell
  Offset slice_height = 0;            // C of the sliced formats; 0: chosen
  // How far packed SELL encodes values; none: chosen. Encoded values take fewer bytes, but new ones
  // are encoded again by update_values: matrices whose values change often keep
  // StoredValues::full, which products can read as soon as they are written.
  std::optional<StoredValues> values = {};
  int block = 0;  // powers per sweep, p = 8 with 4 is 4 + 4; 0: chosen

  // Windows, the matrix data between the first and the last power, are planned to fit in
  // cache_share × cache_bytes. The cache is that of all threads together on a processor and the L2
  // of a GPU; 0: as measured. The share is a safety factor and taken as it is given; 0:
  // kProcessorCacheShare or kGpuCacheShare or, for the strategies levels and graph with autotune on
  // a GPU, the fastest of that and kLargerGpuCacheShares.
  Offset cache_bytes = 0;
  double cache_share = 0;

  // Time kernels and, for a few products, the favourites, and keep the fastest. Without, nothing is
  // timed and the profile alone decides.
  bool autotune = true;

  // On processors. The most threads that planning and the plan use, whatever the process uses
  // besides; 0: thread_count() when it is planned.
  int threads = 0;
  std::vector<int> affinity = {};  // thread t runs on processor affinity[t]; none: anywhere
  const MachineProfile* profile = nullptr;  // to predict with; none: that of this machine
  // That the threads can have at once, for wavefront sweeps need one each; usable = 0: what this
  // process has.
  ProcessorBudget processors = {};

  // On GPUs.
  const gpu::GpuProfile* gpu_profile = nullptr;  // to predict with; none: of the current device
};

// What autotuned product plans have to do with the tuning store (tuning_store.hpp): whether choices
// outlive the process.
enum class TuningMemory {
  ignore,    // candidates are timed whatever the store knows
  recall,    // the fastest of an earlier search is taken without timing, if the store knows it
  remember,  // the same; what is found by timing is stored
};

// y = αAx + βy
struct ProductOptions {
  int vectors = 1;  // right-hand sides, interleaved, 1 … 8
  VectorOrder vector_order = VectorOrder::caller;
  // Any format that has kernels on the device, with its usual parameters, of which the fastest is
  // taken.
  Format format = Format::automatic;
  // This format with these parameters and this kernel, instead of `format`.
  std::optional<ProductSpec> product = {};
  bool transposed = false;                     // y = αAᵀx + βy
  TuningMemory memory = TuningMemory::recall;  // whether earlier choices count
  Offset slice_height = 0;                     // as for powers
  std::optional<StoredValues> values = {};     // as for powers
  // As for powers. Products in all formats are ranked, on processors on a sample of rows and on
  // GPUs by their bytes, and what may win is timed; without, packed SELL and CSR alone are
  // considered, by their bytes.
  bool autotune = true;
  int threads = 0;                               // as for powers
  std::vector<int> affinity = {};                // as for powers
  const MachineProfile* profile = nullptr;       // as for powers
  const gpu::GpuProfile* gpu_profile = nullptr;  // as for powers
};

}  // namespace strata
