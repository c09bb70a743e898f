// What a caller can ask of a power plan.
#pragma once

#include <string_view>

#include "strata/base/processors.hpp"
#include "strata/base/types.hpp"
#include "strata/machine/profile.hpp"
#include "strata/plans/basis.hpp"

namespace strata {

enum class PowerStrategy {
  automatic,  // the fastest by the model, confirmed by a short timing
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

enum class PowerFormat {
  automatic,
  csr,
  ell,  // on GPUs alone
  sell,
  packed_sell,
};

constexpr std::string_view name_of(PowerFormat format) {
  switch (format) {
    case PowerFormat::automatic: return "auto";
    case PowerFormat::csr: return "csr";
    case PowerFormat::ell: return "ell";
    case PowerFormat::sell: return "sell";
    case PowerFormat::packed_sell: return "packed-sell";
  }
  return {};
}

// Whether rows come in slices, or may.
constexpr bool is_sliced(PowerFormat format) {
  return format != PowerFormat::csr && format != PowerFormat::ell;
}

// In which order vectors are given and returned.
enum class VectorOrder {
  caller,  // row i of the matrix is element i; plans that reorder copy vectors in and out
  plan,    // as the plan works: no copies, but vectors may have empty positions, which are zero
};

struct PowerOptions {
  int power = 4;                    // p: y_1 … y_p
  Basis basis = Basis::monomial();  // which vectors these are
  int vectors = 1;                  // right-hand sides side by side, 1 … 8
  VectorOrder vector_order = VectorOrder::caller;
  PowerStrategy strategy = PowerStrategy::automatic;
  PowerFormat format = PowerFormat::automatic;
  Offset slice_height = 0;  // C of the sliced formats; 0: chosen
  int block = 0;            // powers per sweep, p = 8 with 4 is 4 + 4; 0: chosen
  Offset cache_bytes = 0;   // the cache that the window should fit, of all threads; 0: chosen
  int threads = 0;          // the most that planning and the plan use, whatever the process uses
                            // besides; 0: thread_count() when it is planned
  bool autotune = true;     // time kernels and, for a few products, the favourites, and keep the
                            // fastest; without, nothing is timed and the facts alone decide
  const MachineProfile* profile = nullptr;  // to predict with; none: those of this machine
  // That the threads can have at once, for waves need one each; usable = 0: what this process has.
  ProcessorBudget processors = {};
};

}  // namespace strata
