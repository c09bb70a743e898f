#include "strata/machine/internal/team_costs.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <numbers>
#include <vector>

#include "strata/bench/timing.hpp"
#include "strata/machine/internal/spin.hpp"

namespace strata::detail {

namespace {

// With this factor a round through STREAM's kernels leaves the numbers as they were: 2f + f² = 1.
constexpr double kFactor = std::numbers::sqrt2 - 1;

// A thread's part of the arrays, and where its dot product goes.
struct alignas(kCacheLine) StreamPart {
  std::span<double> a;
  std::span<double> b;
  std::span<double> c;
  double dot = 0;
};

using StreamKernel = void (*)(StreamPart&);

// In the order of StreamRates.
constexpr StreamKernel kStreamKernels[] = {
    [](StreamPart& part) { stream_copy(part.a, part.c); },
    [](StreamPart& part) { stream_scale(kFactor, part.c, part.b); },
    [](StreamPart& part) { stream_add(part.a, part.b, part.c); },
    [](StreamPart& part) { stream_triad(kFactor, part.b, part.c, part.a); },
    [](StreamPart& part) { part.dot = stream_dot(part.a, part.b); }};

}  // namespace

StreamRates measure_stream(TeamMemory& memory, double seconds) {
  const Offset length = std::max<Offset>(memory.length() / (3 * kLanes), 1) * kLanes;
  std::vector<StreamPart> parts(static_cast<std::size_t>(memory.team()));
  for (int thread = 0; thread < memory.team(); ++thread) {
    const std::span<double> share = memory.share(thread);
    parts[thread].a = share.subspan(0, length);
    parts[thread].b = share.subspan(length, length);
    parts[thread].c = share.subspan(2 * length, length);
  }
  std::vector<std::function<void()>> runs;
  for (const StreamKernel kernel : kStreamKernels) {
    runs.emplace_back([&parts, kernel] {
      run_on_threads(static_cast<int>(parts.size()),
                     [&](int thread, int) { kernel(parts[thread]); });
    });
  }
  const auto timings = time_interleaved(
      runs, {.min_seconds = seconds / static_cast<double>(runs.size()), .min_repetitions = 3});
  const Offset bytes = Offset{sizeof(double)} * length * memory.team();
  const auto rate = [&](std::size_t kernel, int arrays) {
    return static_cast<double>(arrays * bytes) / timings[kernel].median;
  };
  return {.copy = rate(0, 2),
          .scale = rate(1, 2),
          .add = rate(2, 3),
          .triad = rate(3, 3),
          .dot = rate(4, 2),
          .array_bytes = bytes};
}

double measure_fork_join(int threads, double seconds) {
  const auto nothing = [&] { run_on_threads(threads, [](int, int) {}); };
  return time_runs(nothing, {.min_seconds = seconds, .max_repetitions = 100000}).median;
}

// Two threads answer each other; half a round trip is one way.
double measure_handoff() {
  constexpr int kSamples = 21;
  constexpr int kRoundTrips = 500;
  alignas(kCacheLine) std::atomic<int> ping{0};
  alignas(kCacheLine) std::atomic<int> pong{0};
  const auto answer = [&](int trip) {
    spin_until([&] { return ping.load(std::memory_order_acquire) == trip; });
    pong.store(trip, std::memory_order_release);
  };
  const auto ask = [&](int trip) {
    ping.store(trip, std::memory_order_release);
    spin_until([&] { return pong.load(std::memory_order_acquire) == trip; });
  };
  std::vector<double> seconds;
  seconds.reserve(kSamples);
  run_on_threads(2, [&](int thread, int team) {
    if (team < 2) return;
    int trip = 0;
    for (int sample = 0; sample < kSamples; ++sample) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kRoundTrips; ++i) thread == 0 ? ask(++trip) : answer(++trip);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (thread == 0) seconds.push_back(elapsed.count() / (2 * kRoundTrips));
    }
  });
  return summarise(seconds).median;
}

}  // namespace strata::detail
