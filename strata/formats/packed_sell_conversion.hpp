// PackedSellConversion: a conversion to packed SELL whose result need not be in the host's memory
// as a whole. First the slices are known, then whoever stores them has any of them written to where
// they are to be, from several threads if he likes.
#pragma once

#include <cstddef>
#include <memory>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/presence.hpp"

namespace strata {

template <Value V, Index I>
class PackedSellConversion {
 public:
  // The matrix must outlive it. Throws what PackedSell::from_csr throws.
  explicit PackedSellConversion(const Csr<V, I>& matrix, const PackedSellOptions& options = {});
  ~PackedSellConversion();
  PackedSellConversion(PackedSellConversion&&) noexcept;
  PackedSellConversion& operator=(PackedSellConversion&&) noexcept;

  const PackedSellSlices<V, I>& slices() const;

  // How many bytes of code blocks, and of value data, belong to the slices before this one; for
  // their number, to all. What several slices share belongs to the first of them.
  Offset codes_before(I slice) const;
  Offset data_before(I slice) const;
  // Writes the code blocks that belong to the slices [begin, end), or their value data and which of
  // their positions are entries.
  void write_codes(I begin, I end, std::byte* to) const;
  void write_data(I begin, I end, std::byte* to, PresenceBits& presence) const;
  // Of all slices, nothing set yet.
  PresenceBits no_presence() const;

  // All of it in the host's memory.
  PackedSell<V, I> stored() const;

 private:
  std::unique_ptr<const PackedSellBuilder<V, I>> builder_;
};

}  // namespace strata
