// Network: what messages between ranks cost, as a straight line, α + β·bytes, inside a node and
// between nodes, and what a reduction over all ranks costs (Hockney, The communication challenge
// for MPP, Parallel Computing 20, 1994). Data like a machine profile: measured where it can be
// (distributed/network.hpp), stored (machine/cached_network.hpp), or assumed.
#pragma once

#include <span>

#include "strata/base/types.hpp"

namespace strata {

struct MessageCost {
  double latency = 0;           // α in seconds: half of a ping-pong of an empty message
  double seconds_per_byte = 0;  // β

  double seconds(double bytes) const { return latency + seconds_per_byte * bytes; }
  // Of messages of these bytes in all, sent one after another.
  double seconds(double messages, double bytes) const {
    return messages * latency + seconds_per_byte * bytes;
  }
  bool known() const { return latency > 0; }

  bool operator==(const MessageCost&) const = default;
};

struct Network {
  MessageCost in_node = {};        // unknown if no two ranks share a node
  MessageCost between_nodes = {};  // unknown if all ranks share one
  double reduction_seconds = 0;    // of a few numbers over all ranks that measured; 0: unknown
  int ranks = 1;                   // that measured

  // A reduction over other numbers of ranks: its cost grows with the logarithm of their number, as
  // measured or, where that is unknown, by a message of the slower kind for every doubling. 0 for
  // one rank.
  double reduction(int over) const;
  // Messages to other nodes, or inside one where nothing else is known.
  const MessageCost& farthest() const { return between_nodes.known() ? between_nodes : in_node; }

  bool operator==(const Network&) const = default;
};

// A message on its way in one direction.
struct TimedMessage {
  double bytes = 0;
  double seconds = 0;
};

// The line through timed messages: least squares of relative errors, so that short messages, which
// know α, count as much as long ones; samples that are off by more than twice the median error are
// left out once, for a machine that was interrupted is no slow network. Neither number is negative,
// and α is positive. One size gives α alone. Throws InvalidArgument without samples, and for times
// that are not positive.
MessageCost fit_messages(std::span<const TimedMessage> messages);

}  // namespace strata
