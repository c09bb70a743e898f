#include "strata/model/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "strata/base/error.hpp"

namespace strata {

namespace {

// ⌈log₂⌉: rounds of messages until all of so many ranks have heard of each other.
int rounds(int ranks) {
  return std::bit_width(static_cast<unsigned>(std::max(ranks, 1) - 1));
}

// Least squares of (α + β b)/t − 1 with α > 0 and β ≥ 0.
MessageCost least_squares(std::span<const TimedMessage> messages) {
  double ones = 0, linear = 0, square = 0, right = 0, right_linear = 0, shortest = 0;
  for (const TimedMessage& message : messages) {
    const double weight = 1 / message.seconds;
    const double slope = weight * message.bytes;
    ones += weight * weight;
    linear += weight * slope;
    square += slope * slope;
    right += weight;
    right_linear += slope;
    if (shortest == 0 || message.seconds < shortest) shortest = message.seconds;
  }
  const double determinant = ones * square - linear * linear;
  // Without two sizes there is no slope; 1e-12 is far above what rounding leaves of none.
  if (determinant <= 1e-12 * ones * square) return {right / ones, 0};
  const MessageCost fit{(right * square - right_linear * linear) / determinant,
                        (ones * right_linear - linear * right) / determinant};
  if (fit.seconds_per_byte < 0) return {right / ones, 0};
  if (fit.latency > 0) return fit;
  // No message is faster than its bytes and nothing: the shortest time bounds α from above.
  const double slope = right_linear / square;
  return {std::min(shortest, 1e-9), slope};
}

double relative_error(const MessageCost& cost, const TimedMessage& message) {
  return std::abs(cost.seconds(message.bytes) / message.seconds - 1);
}

}  // namespace

double Network::reduction(int over) const {
  if (over <= 1) return 0;
  if (reduction_seconds > 0 && ranks > 1) {
    return reduction_seconds * rounds(over) / rounds(ranks);
  }
  return rounds(over) * farthest().latency;
}

MessageCost fit_messages(std::span<const TimedMessage> messages) {
  if (messages.empty()) throw InvalidArgument("a fit of messages needs one at least");
  for (const TimedMessage& message : messages) {
    if (!(message.seconds > 0) || !(message.bytes >= 0)) {
      throw InvalidArgument("messages take time and have no negative number of bytes");
    }
  }
  const MessageCost first = least_squares(messages);
  std::vector<double> errors;
  for (const TimedMessage& message : messages) errors.push_back(relative_error(first, message));
  const auto middle = errors.begin() + std::ssize(errors) / 2;
  std::ranges::nth_element(errors, middle);
  const double most = std::max(2 * *middle, 1e-9);
  std::vector<TimedMessage> kept;
  for (const TimedMessage& message : messages) {
    if (relative_error(first, message) <= most) kept.push_back(message);
  }
  return least_squares(kept);
}

}  // namespace strata
