#include "strata/device/timing.hpp"

#include <memory>

#include "strata/device/event.hpp"

namespace strata::gpu {

namespace {

// Made once: making events takes longer than some samples.
struct Interval {
  Event begin;
  Event end;
};

}  // namespace

Stopwatch device_stopwatch(Stream& stream) {
  const auto seconds_of = [&stream, interval = std::make_shared<Interval>()](
                              const std::function<void()>& run, int times) {
    // Earlier work must not delay the first run.
    stream.synchronize();
    interval->begin.record(stream);
    for (int i = 0; i < times; ++i) run();
    interval->end.record(stream);
    return seconds_between(interval->begin, interval->end);
  };
  // Events resolve half microseconds, but the device waits some more for the first run to arrive.
  return {.seconds_of = seconds_of, .shortest_sample = 400e-6};
}

}  // namespace strata::gpu
