// What plans decide between, as data: a way to compute products or powers, what it should cost by
// the model, and what it took where it was timed. Text is made of it by text_of and explain.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format.hpp"
#include "strata/formats/slice_encodings.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/model/bound.hpp"
#include "strata/order/level_groups.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/schedule/window.hpp"

namespace strata {

// How the rows of a matrix are laid out.
struct RowOrder {
  enum class Kind {
    given,   // as in the caller's matrix
    planes,  // the same, cut where the planes of a grid end
    levels,  // level by level
    rcm,     // reverse Cuthill–McKee; of products
  };
  Kind kind = Kind::given;
  InnerOrder inner = InnerOrder::natural;  // inside levels
  bool sorted_by_length = false;           // inside levels, in windows of some slices

  bool moves_rows() const { return kind == Kind::levels || kind == Kind::rcm; }
  bool operator==(const RowOrder&) const = default;
};
// "given", "levels, BFS, sorted by length", "RCM"
std::string text_of(const RowOrder& order);

// Seconds and bytes are per application, all p powers together.
struct PowerCandidate {
  PowerStrategy strategy = PowerStrategy::spmv;
  RowOrder order;
  StoredFormat format;
  // Of plain products in a format or with a kernel that sweeps do not run in. `format` is then
  // without parameters.
  std::optional<ProductSpec> product = {};
  bool flagged = false;  // a sweep on a GPU in which values are their own flags
  WindowPlacement placement = WindowPlacement::none;
  int block = 1;            // powers per sweep
  int bands = 1;            // sweeps that share the levels
  int slack = 0;            // groups of rows between a power and its inputs
  double cache_share = 0;   // of a GPU's L2 that levels were put together for; 0 for all else
  Offset window_bytes = 0;  // what a cache has to hold so that the matrix is read once per sweep
  bool asks_ahead = false;  // for rows that a thread reads next, while it computes powers of others
  Offset format_bytes = 0;  // the matrix in this format
  double memory_bytes = 0;  // predicted traffic
  double predicted_seconds = 0;             // without overlap of memory and cache (thesis 4.8)
  double predicted_overlapped_seconds = 0;  // with perfect overlap: a lower bound
  Bound bound = Bound::memory;              // what takes the most time
  double measured_seconds = 0;              // 0 where it was not timed

  bool plain() const { return strategy == PowerStrategy::spmv; }
  double seconds() const { return measured_seconds > 0 ? measured_seconds : predicted_seconds; }
  ProductSpec spec() const { return product ? *product : ProductSpec{FormatSpec(format)}; }
};
// The format and, where there is a choice, where the window is: "packed-sell C=32, L2"
std::string format_text(const PowerCandidate& candidate);

// The best way to p powers, with its seconds and bytes. On GPUs several sweeps may be the only one,
// or faster than levels (block < p).
struct PowerSpeed {
  int power = 1;
  PowerCandidate way;
};

// How packed SELL stores the values of a plan.
struct ValueStorage {
  Footprint footprint;    // of the matrix
  Offset full_bytes = 0;  // the same, if all values were stored as they are
  SliceEncodings slices = {};
  Offset distinct = 0;      // values, where that is known
  double seconds = 0;       // that the last conversion or update took, as another update will
  double bytes_before = 0;  // per entry, before the last update; 0 without one

  bool encoded() const { return footprint.bytes() < full_bytes; }
};
template <Value V>
ValueStorage value_storage_of(const Footprint& footprint, const SliceEncodings& slices) {
  ValueStorage storage;
  storage.footprint = footprint;
  storage.full_bytes = footprint.index_bytes + bytes_of<V>(footprint.stored_entries);
  storage.slices = slices;
  return storage;
}

// Why a plan runs plain products.
enum class PlainReason {
  none,              // it does not
  asked_for,         //
  one_power,         // leaves nothing to reuse
  few_processors,    // for wavefront sweeps, which need one per thread
  slower_otherwise,  // by the second candidate of another strategy
  few_levels,        // for a window that fits
  fast_expansion,    // of what a row reaches: there can only be few levels
  in_cache,          // where the matrix stays as it is
};

// A part of planning, and how long it took.
struct PlanningPart {
  enum class Kind {
    pattern,     // what can be said about it: how fast rows spread, and how far they reach
    formats,     // that may be of use, by samples of the rows
    tiles,       // that sweeps need, and rows in the form that they are cut from
    levels,      // of the rows
    order,       // of the rows, from levels
    reordering,  // of the matrix
    storing,     // of a matrix in its form, on the device that will use it
    timing,      // of a candidate
  };
  Kind kind = Kind::formats;
  std::string subject = {};  // "packed-sell C=32, rows given"; empty where there is only one
  double seconds = 0;
};
constexpr std::string_view name_of(PlanningPart::Kind kind) {
  switch (kind) {
    case PlanningPart::Kind::pattern: return "pattern";
    case PlanningPart::Kind::formats: return "formats";
    case PlanningPart::Kind::tiles: return "tiles";
    case PlanningPart::Kind::levels: return "levels";
    case PlanningPart::Kind::order: return "order";
    case PlanningPart::Kind::reordering: return "reordering";
    case PlanningPart::Kind::storing: return "storing";
    case PlanningPart::Kind::timing: return "timing";
  }
  return {};
}

// What a plan has decided, and how it came to that.
struct PlanRecord {
  std::vector<PowerCandidate> candidates;  // all that was considered, the choice first
  PlainReason plain_reason = PlainReason::none;
  std::vector<std::string> remarks;  // about the profile, the threads, and what did not fit
  Offset levels = 0;                 // 0 where none were searched for
  bool spreads_fast = false;         // as random graphs do: none were searched for
  Offset largest_level_rows = 0;
  double setup_seconds = 0;
  std::vector<PlanningPart> parts = {};  // of these, the longest first; not all is in a part
  // Of the same powers by plain products in the given order, or in another where those were not
  // considered; of one product in CSR, where that was timed.
  double plain_seconds = 0;
  std::optional<ValueStorage> values = {};  // none in formats that take values as they are
  // Where p was chosen: for how many products; and the best way to every p, by increasing p.
  Offset products = 0;
  std::vector<PowerSpeed> by_power = {};

  const PowerCandidate& choice() const { return candidates.front(); }
  // How new values are stored, which took so many seconds.
  void take_over(std::optional<ValueStorage> updated, double seconds);
  // How many applications it takes until the set-up has paid off against plain_seconds; 0 where it
  // never does.
  double break_even() const;
};

// Why p was chosen, where it was: "p = 4 is the best of 1 … 12 for 100 products, as timed. …"
std::string power_reason(const PlanRecord& record);

}  // namespace strata
