// Uploads of much memory. A copy from memory that the system may move goes through buffers of the
// driver, which one thread fills: it takes several times as long as the link to the device needs.
// Here every thread fills a pinned buffer of its own while others are on their way. Threads may as
// well compute what they write, so that it is never in the host's memory as a whole.
#pragma once

#include <cstddef>

#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu {

// The most bytes of a piece.
inline constexpr Offset kMostPieceBytes = Offset{1} << 20;

// Bytes that consist of pieces, which several threads write at a time and in any order.
struct UploadPieces {
  Offset count = 0;
  // Where a piece begins; for `count`, where the last one ends. The first begins at 0.
  FunctionRef<Offset(Offset piece)> begin_of;
  // Writes the pieces [first, end) one after another. Every piece is asked for once.
  FunctionRef<void(Offset first, Offset end, std::byte* to)> write;
};

// Done when it returns. Throws InvalidArgument if there are not as many bytes as there is room for
// or a piece has too many, and what `write` throws. Uploads of several threads wait for each other.
void upload_pieces(const UploadPieces& pieces, DeviceSpan<std::byte> to, Stream& stream);

}  // namespace strata::gpu
