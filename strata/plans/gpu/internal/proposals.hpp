// Proposals: what a GPU can run of a matrix, in which order of the rows, and what that should cost.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/levels.hpp"
#include "strata/plans/gpu/internal/level_cut.hpp"
#include "strata/plans/gpu/internal/methods.hpp"
#include "strata/plans/gpu/internal/prediction.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/product_memory.hpp"
#include "strata/plans/internal/product_request.hpp"
#include "strata/plans/internal/storage.hpp"

namespace strata::gpu::detail {

// Strategies with a kernel per group of levels.
constexpr bool is_by_levels(PowerStrategy strategy) {
  return strategy == PowerStrategy::levels || strategy == PowerStrategy::graph;
}

// A candidate with all that its method is made of.
template <Value V>
struct Proposal {
  PowerCandidate candidate;
  std::shared_ptr<const Rows> rows;
  std::variant<std::shared_ptr<StoredForm<V>>, std::shared_ptr<TiledForm<V>>,
               std::shared_ptr<ProductForm<V>>, std::shared_ptr<FlaggedTilesForm<V>>>
      form;
  SweepShape shape = {};                    // of wavefront sweeps
  std::shared_ptr<LevelCut> cut = nullptr;  // of levels
  // Of products: is timed where its bytes would let it win, or there are few.
  bool if_it_may_win = false;
  FlaggedShape flagged = {};  // of sweeps in which values are flags

  bool reordered() const { return !rows->order.is_identity(); }
  // Proposals of one form run on the same matrix on the device.
  const void* form_address() const {
    return std::visit([](const auto& held) -> const void* { return held.get(); }, form);
  }
  Offset device_bytes() const {
    return std::visit([](const auto& held) { return held->device_bytes(); }, form);
  }
};

// Proposals stay where they are while others are added.
template <Value V>
using ProposalList = std::deque<Proposal<V>>;

template <Value V>
class Proposals {
 public:
  // All must outlive the proposals. The profile of `prepared` is known; remarks go to its record.
  // The reach is that of the rows as given.
  Proposals(const Csr<V, std::int32_t>& matrix, const strata::detail::Reach& reach,
            const PowerOptions& options, const strata::detail::ProductRequest& request,
            Prepared<V>& prepared, Stream& stream);

  ProposalList<V>& all() { return all_; }

  void propose_given_order();
  // The caller or the tuning store left nothing to search.
  bool settled() const { return settled_; }
  // What the choice of a product leaves to say and to keep.
  void finish();
  // Whether levels might do better than what was proposed, and whether these might.
  bool worth_searching() const;
  bool promising(const LevelStructure<std::int32_t>& structure) const;
  void propose_levels(const LevelStructure<std::int32_t>& structure);

 private:
  using SharedRows = std::shared_ptr<const Rows>;
  using SharedForm = std::shared_ptr<StoredForm<V>>;
  using SharedConversions = std::shared_ptr<Conversions<V>>;
  using SharedTiles = std::shared_ptr<FlaggedTilesForm<V>>;

  // Of levels.
  struct WindowShape {
    int block = 1;     // powers per sweep
    double share = 1;  // of the L2 cache
  };

  bool chooses() const { return options_.strategy == PowerStrategy::automatic; }
  PatternView<std::int32_t> pattern() const { return matrix_.pattern(); }
  bool blocks() const;
  bool larger_than_cache() const;
  bool may_sweep() const;
  bool must_level() const { return blocks() && is_by_levels(options_.strategy); }

  bool values_repeat() const;  // so that encodings may save bytes

  SharedRows make_rows(const RowOrder& kind, PaddedOrder<std::int32_t> order);
  std::vector<strata::detail::SampledFormat> formats_for(
      const strata::detail::SampledFormat& best, const PaddedOrder<std::int32_t>& order) const;
  SharedForm form_of(const SharedConversions& conversions,
                     const strata::detail::SampledFormat& format) const;
  std::vector<SharedForm> forms_for(
      const SharedConversions& conversions,
      const std::vector<strata::detail::SampledFormat>& formats) const;
  std::vector<int> block_sizes() const;
  std::vector<int> sweep_powers() const;
  std::vector<double> cache_shares() const;
  Offset window_budget(double share) const;
  Offset group_bytes(double share, int block) const;
  double entry_bytes_of(const StoredForm<V>& form) const;
  PowersToPredict powers_in(const Rows& rows) const;

  void propose_plain(const SharedRows& rows, const SharedForm& form, bool if_it_may_win = false);

  bool searches_products() const;
  strata::detail::ProductMemory memory() const;
  bool propose_asked_products();
  bool propose_stored_choice();
  void propose_rows_as_given();
  void propose_more_products();
  void propose_product(const ProductSpec& spec, Offset bytes);
  bool is_proposed(const ProductSpec& spec) const;

  template <class Cut>
  void propose_by_levels(const SharedRows& rows, const SharedForm& form, const Cut& cut);
  Proposal<V> by_cut(PowerStrategy strategy, const WindowShape& window, const SharedRows& rows,
                     const SharedForm& form, const std::shared_ptr<LevelCut>& cut) const;

  Offset height_for(const Csr<V, std::int32_t>& in_order, Offset tile_bytes) const;
  bool has_long_rows(Offset height) const;
  std::vector<SweepShape> shapes_for(int block, Offset height) const;
  std::vector<StoredFormat> sweep_formats(const Csr<V, std::int32_t>& in_order,
                                          const PaddedOrder<std::int32_t>& order) const;
  void propose_sweeps(const SharedRows& rows, const SharedConversions& conversions,
                      Offset farthest);
  void propose_signalled(const SharedRows& rows, const SharedSlices<V>& slices,
                         StoredValues values);
  void propose_signalled(const SharedRows& rows, const std::shared_ptr<TiledForm<V>>& form,
                         const SweepShape& shape, StoredValues values);
  bool propose_flagged(const SharedRows& rows, const Csr<V, std::int32_t>& in_order);
  void propose_flagged(const SharedRows& rows, const SharedTiles& form, const FlaggedShape& shape);

  const Csr<V, std::int32_t>& matrix_;
  const strata::detail::Reach reach_;  // in entries
  const PowerOptions& options_;
  const strata::detail::ProductRequest& request_;
  Prepared<V>& prepared_;
  const DeviceProperties device_;
  Stream& stream_;
  ProposalList<V> all_;
  std::unique_ptr<const Csr<V, std::int32_t>> in_levels_;  // the matrix that cuts refer to
  mutable std::optional<bool> values_repeat_;
  double entry_bytes_ = 0;         // of the rows as given
  SharedRows given_;               // the rows as they are
  SharedConversions conversions_;  // of these
  bool settled_ = false;
  bool no_window_ =
      false;  // smaller than the matrix, whatever the order: powers are plain products
  std::shared_ptr<const void> held_;  // on the device, of what the tuning store has
};

}  // namespace strata::gpu::detail
