#include "strata/machine/internal/team_costs.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <numbers>
#include <vector>

#include "strata/bench/timing.hpp"
#include "strata/machine/internal/spin.hpp"

namespace strata::detail {

namespace {

// With this factor a round through STREAM's kernels leaves the numbers as they were: 2f + f² = 1.
constexpr double kFactor = std::numbers::sqrt2 - 1;

using Span = std::span<double>;

// In the order of StreamRates. What they return only keeps the dot product alive.
using StreamKernel = double (*)(Span a, Span b, Span c);
constexpr StreamKernel kStreamKernels[] = {
    [](Span a, Span, Span c) { return stream_copy(a, c), 0.0; },
    [](Span, Span b, Span c) { return stream_scale(kFactor, c, b), 0.0; },
    [](Span a, Span b, Span c) { return stream_add(a, b, c), 0.0; },
    [](Span a, Span b, Span c) { return stream_triad(kFactor, b, c, a), 0.0; },
    [](Span a, Span b, Span) { return stream_dot(a, b); }};
constexpr Offset kKernels = std::size(kStreamKernels);

// A thread works through so many elements of its arrays in one sample: few enough that a busy
// machine does not delay all samples, many enough that fork and join do not show.
constexpr Offset kPiece = 1 << 17;

struct alignas(kCacheLine) Kept {
  double sum = 0;
};

}  // namespace

StreamRates measure_stream(TeamMemory& memory, double seconds) {
  const Offset length = std::max<Offset>(memory.length() / (3 * kLanes), 1) * kLanes;
  const Offset piece = std::min(length, kPiece);
  const Offset pieces = length / piece;
  std::vector<Kept> kept(static_cast<std::size_t>(memory.team()));
  std::vector<std::function<void()>> runs;
  for (Offset k = 0; k < kKernels; ++k) {
    // The kernels follow each other at a distance, so that none finds in a cache what the one
    // before has used.
    runs.emplace_back([&, k, next = k * pieces / kKernels]() mutable {
      const Offset begin = next++ % pieces * piece;
      run_on_threads(memory.team(), [&](int thread, int) {
        const auto part = [&](Offset array) {
          return memory.share(thread).subspan(array * length + begin, piece);
        };
        kept[thread].sum += kStreamKernels[k](part(0), part(1), part(2));
      });
    });
  }
  const auto timings = time_interleaved(
      runs, {.min_seconds = seconds / kKernels, .min_repetitions = 10, .max_repetitions = 100000});
  const Offset bytes_per_array = Offset{sizeof(double)} * memory.team();
  const auto rate = [&](std::size_t kernel, int arrays) {
    return static_cast<double>(arrays * bytes_per_array * piece) / timings[kernel].minimum;
  };
  return {.copy = rate(0, 2),
          .scale = rate(1, 2),
          .add = rate(2, 3),
          .triad = rate(3, 3),
          .dot = rate(4, 2),
          .array_bytes = bytes_per_array * length};
}

double measure_flops(int threads, double seconds) {
  constexpr Offset kRounds = 1 << 14;
  std::vector<Kept> kept(static_cast<std::size_t>(threads));
  const auto compute = [&] {
    run_on_threads(threads,
                   [&](int thread, int) { kept[thread].sum += multiply_adds(0.5, 0.5, kRounds); });
  };
  const double flops = 2.0 * kLanes * kRounds * threads;
  return flops / time_runs(compute, {.min_seconds = seconds, .max_repetitions = 100000}).minimum;
}

double measure_fork_join(int threads, double seconds) {
  const auto nothing = [&] { run_on_threads(threads, [](int, int) {}); };
  return time_runs(nothing, {.min_seconds = seconds, .max_repetitions = 100000}).minimum;
}

// Two threads answer each other; half a round trip is one way.
double measure_handoff(int threads) {
  constexpr int kSamples = 100;
  constexpr int kRoundTrips = 100;
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
  run_on_threads(threads, [&](int thread, int team) {
    if (team < 2 || (thread != 0 && thread != team - 1)) return;
    int trip = 0;
    for (int sample = 0; sample < kSamples; ++sample) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kRoundTrips; ++i) thread == 0 ? ask(++trip) : answer(++trip);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (thread == 0) seconds.push_back(elapsed.count() / (2 * kRoundTrips));
    }
  });
  return summarise(seconds).minimum;
}

}  // namespace strata::detail
