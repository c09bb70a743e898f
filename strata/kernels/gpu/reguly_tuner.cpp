#include "strata/kernels/gpu/reguly_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/error.hpp"

namespace strata::gpu {

namespace {

std::vector<int> with_value(std::vector<int> values, int value) {
  values.push_back(value);
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  return values;
}

int place_of(const std::vector<int>& values, int value) {
  return static_cast<int>(std::ranges::find(values, value) - values.begin());
}

std::string text_of(const RegulyParameters& parameters) {
  return fmt::format("coop {}, repeat {}, blocks of {} threads", parameters.coop, parameters.repeat,
                     parameters.block_size);
}

}  // namespace

RegulyTuner::RegulyTuner(Offset rows, Offset nnz, const RegulyTunerOptions& options)
    : target_(options.target),
      gain_(options.gain),
      best_(reguly_rule(rows, nnz, options.target.warp)),
      next_(best_) {
  RegulySweep among = options.among;
  among.coop = with_value(among.coop, best_.coop);
  among.repeat = with_value(among.repeat, best_.repeat);
  among.block_size = with_value(among.block_size, best_.block_size);
  // Doubling coop matters; repeat and the block's size change little from one value to the next.
  axes_ = {Axis{among.repeat, 2, -1, place_of(among.repeat, best_.repeat)},
           Axis{among.coop, 1, +1, place_of(among.coop, best_.coop)},
           Axis{among.block_size, 2, +1, place_of(among.block_size, best_.block_size)}};
  tried_ = places();
}

void RegulyTuner::record(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) {
    throw InvalidArgument(fmt::format("a product took {} seconds", seconds));
  }
  RegulyTrial* trial = find(next_);
  if (trial == nullptr) trial = &trials_.emplace_back(RegulyTrial{next_, 0, seconds});
  ++trial->calls;
  trial->seconds = std::min(trial->seconds, seconds);
  if (!settled_) judge();
}

void RegulyTuner::judge() {
  if (const RegulyTrial* tried = find(at(tried_)); tried->parameters != best_) {
    const RegulyTrial* best = find(best_);
    const bool faster = tried->seconds < (1 - gain_) * best->seconds;
    // The first product of all ran into cold caches: it is repeated before something is faster.
    if (faster && trials_.size() == 2 && best->calls == 1) {
      next_ = best_;
      return;
    }
    if (faster) {
      take(tried_);
    } else {
      move_ = (move_ + 1) % kMoves;
    }
  }
  look_on();
}

void RegulyTuner::look_on() {
  for (;;) {
    for (int looked = 0; looked < kMoves; ++looked, move_ = (move_ + 1) % kMoves) {
      tried_ = places_after(move_);
      next_ = at(tried_);
      if (find(next_) == nullptr && is_valid(next_, target_)) return;
    }
    if (std::ranges::all_of(axes_, [](const Axis& axis) { return axis.step == 1; })) break;
    for (Axis& axis : axes_) axis.step = 1;
  }
  settled_ = true;
  next_ = best_;
}

std::string RegulyTuner::explain() const {
  if (trials_.empty()) return fmt::format("no product yet; the fixed rule: {}\n", text_of(best_));
  std::string text;
  for (const RegulyTrial& trial : trials_) {
    text += fmt::format("{}: {:.3e} s, {} call{}{}\n", text_of(trial.parameters), trial.seconds,
                        trial.calls, trial.calls == 1 ? "" : "s",
                        trial.parameters == best_ ? ", the best" : "");
  }
  return text + (settled_ ? "nothing near the best is faster\n" : "still looking\n");
}

RegulyParameters RegulyTuner::at(const std::array<int, 3>& places) const {
  const auto value = [&](int axis) { return axes_[axis].values[places[axis]]; };
  return {.coop = value(1), .repeat = value(0), .block_size = value(2)};
}

std::array<int, 3> RegulyTuner::places() const {
  return {axes_[0].place, axes_[1].place, axes_[2].place};
}

std::array<int, 3> RegulyTuner::places_after(int move) const {
  std::array<int, 3> there = places();
  const Axis& axis = axes_[move / 2];
  const int last = static_cast<int>(axis.values.size()) - 1;
  const int wanted = axis.place + axis.step * (move % 2 == 0 ? axis.first : -axis.first);
  there[move / 2] = std::clamp(wanted, 0, last);
  return there;
}

RegulyTrial* RegulyTuner::find(const RegulyParameters& parameters) {
  const auto found = std::ranges::find(trials_, parameters, &RegulyTrial::parameters);
  return found == trials_.end() ? nullptr : &*found;
}

void RegulyTuner::take(const std::array<int, 3>& places) {
  for (int axis = 0; axis < 3; ++axis) axes_[axis].place = places[axis];
  best_ = at(places);
}

}  // namespace strata::gpu
