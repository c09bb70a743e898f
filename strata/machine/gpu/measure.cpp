#include "strata/machine/gpu/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numbers>

#include "strata/base/checked.hpp"
#include "strata/device/array.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/memory.hpp"
#include "strata/device/timing.hpp"
#include "strata/machine/fit.hpp"
#include "strata/machine/gpu/internal/kernels.hpp"
#include "strata/machine/system.hpp"

namespace strata::gpu {

namespace {

using detail::kTileBytes;
using Run = std::function<void()>;

constexpr Offset kKiB = 1 << 10;
constexpr Offset kMiB = 1 << 20;
constexpr Offset kArrays = 3;  // of BabelStream

// With this factor a round through the kernels leaves the numbers as they were: 2f + f² = 1.
constexpr double kFactor = std::numbers::sqrt2 - 1;

Offset whole_tiles(Offset bytes) {
  return std::max<Offset>(bytes / kTileBytes, 1) * kTileBytes;
}

// Memory for three arrays of eight times the L2 each, in whole tiles.
Offset bytes_to_use(const DeviceProperties& device, Offset asked_for) {
  Offset array = std::clamp(8 * device.l2_bytes, 64 * kMiB, 1024 * kMiB);
  array = std::min(array, available_device_memory() / 2 / kArrays);
  if (asked_for > 0) array = asked_for / kArrays;
  return kArrays * whole_tiles(std::max(array, kMiB));
}

// From 1 MiB to the largest, with more points around the end of the L2.
std::vector<Offset> working_sets(Offset l2_bytes, Offset largest) {
  std::vector<Offset> sizes;
  for (Offset bytes = kMiB; bytes < largest; bytes *= 2) sizes.push_back(bytes);
  for (const Offset eighths : {4, 5, 6, 7, 8, 10, 12, 16, 24, 32}) {
    sizes.push_back(l2_bytes / 8 * eighths);
  }
  std::erase_if(sizes, [&](Offset bytes) { return bytes < kTileBytes || bytes >= largest; });
  for (Offset& bytes : sizes) bytes = whole_tiles(bytes);
  sizes.push_back(largest);
  std::ranges::sort(sizes);
  const auto [first, last] =
      std::ranges::unique(sizes, [](Offset a, Offset b) { return 16 * b < 17 * a; });
  sizes.erase(first, last);
  sizes.back() = largest;
  return sizes;
}

class Meter {
 public:
  explicit Meter(const GpuMeasureOptions& options)
      : device_(device_properties(options.device)),
        threads_(detail::reading_threads()),
        data_(bytes_to_use(device_, options.bytes) / Offset{sizeof(double)}),
        sink_(1),
        flags_(detail::kFlags),
        stopwatch_(device_stopwatch(stream_)) {
    detail::fill_with_numbers(data_.span(), stream_);
    fill_zero(sink_.span(), stream_);
    warm_up();
  }

  const DeviceProperties& device() const { return device_; }
  // Of the working sets: up to eight times the L2.
  Offset largest_working_set() const { return data_.bytes() / kArrays; }

  BandwidthPoint read(Offset working_set) {
    const auto data = part(0, working_set);
    // About a millisecond: what comes before and after the reading does not show.
    const Offset at_least =
        std::max(8 * working_set, static_cast<Offset>(1e-3 * rough_bytes_per_second_));
    Offset bytes = 0;
    const double seconds = median([&] {
      bytes = detail::read_again_and_again(data, threads_, at_least, sink_.span(), stream_);
    });
    return {.threads = narrow<int>(threads_, "threads of a kernel"),
            .bytes = working_set,
            .bytes_per_second = static_cast<double>(bytes) / seconds};
  }

  BabelStreamRates stream() {
    const Offset bytes = data_.bytes() / kArrays;
    const auto a = part(0, bytes), b = part(bytes, bytes), c = part(2 * bytes, bytes);
    DeviceArray<double> partial(4 * device_.multiprocessors);
    const std::vector<Run> runs{[&] { detail::babel_copy(a, c, stream_); },
                                [&] { detail::babel_mul(kFactor, c, b, stream_); },
                                [&] { detail::babel_add(a, b, c, stream_); },
                                [&] { detail::babel_triad(kFactor, b, c, a, stream_); },
                                [&] { detail::babel_dot(a, b, partial.span(), stream_); },
                                [&] { detail::read_once(c, sink_.span(), stream_); }};
    const auto timings = time_interleaved(runs, kTiming, stopwatch_);
    const auto rate = [&](std::size_t kernel, Offset arrays) {
      return static_cast<double>(arrays * bytes) / timings[kernel].median;
    };
    return {.copy = rate(0, 2),
            .mul = rate(1, 2),
            .add = rate(2, 3),
            .triad = rate(3, 3),
            .dot = rate(4, 2),
            .read = rate(5, 1),
            .array_bytes = bytes};
  }

  double launch() {
    return median([&] { detail::do_nothing(stream_); });
  }

  // What further nodes add to a graph; that of launching the graph itself does not count.
  double graph_node() {
    const auto graph_of = [&](int nodes) {
      return Graph::capture(stream_, [&] {
        for (int i = 0; i < nodes; ++i) detail::do_nothing(stream_);
      });
    };
    const Graph few = graph_of(64), many = graph_of(576);
    return slope([&] { few.launch(stream_); }, [&] { many.launch(stream_); }, 512);
  }

  // Further rounds alone count, here and below: not the launch, nor the zeros before it.
  double barrier() {
    if (!device_.cooperative_launch) return 0;
    const auto rounds = [&](int count) {
      return [this, count] {
        fill_zero(flags_.span(), stream_);
        detail::meet(count, flags_.span(), stream_);
      };
    };
    return slope(rounds(100), rounds(600), 500);
  }

  // Half a round trip is one way.
  double handoff() {
    if (!device_.cooperative_launch || device_.multiprocessors < 2) return 0;
    const auto trips = [&](int count) {
      return [this, count] {
        fill_zero(flags_.span(), stream_);
        detail::answer_each_other(count, flags_.span(), stream_);
      };
    };
    return slope(trips(100), trips(600), 2 * 500);
  }

  // Kernels that read Q bytes each, one after the other, and never what is still in a cache.
  std::vector<TimedRead> reads() {
    std::vector<TimedRead> timed;
    Offset next = 0;
    const Offset largest = std::min(256 * kMiB, data_.bytes() / 2);
    for (Offset bytes = 64 * kKiB; bytes <= largest; bytes *= 2) {
      timed.push_back({bytes, median([&] {
                         if (next + bytes > data_.bytes()) next = 0;
                         detail::read_once(part(next, bytes), sink_.span(), stream_);
                         next += bytes;
                       })});
    }
    return timed;
  }

 private:
  static constexpr TimingOptions kTiming{
      .min_seconds = 5e-3, .min_repetitions = 9, .max_repetitions = 200};

  DeviceSpan<double> part(Offset first_byte, Offset bytes) {
    constexpr Offset kElement = sizeof(double);
    return data_.subspan(first_byte / kElement, bytes / kElement);
  }

  double median(const Run& run) { return time_runs(run, kTiming, stopwatch_).median; }

  double slope(const Run& shorter, const Run& longer, int difference) {
    const std::vector<Run> runs{shorter, longer};
    const auto timings = time_interleaved(runs, kTiming, stopwatch_);
    return std::max(0.0, (timings[1].median - timings[0].median) / difference);
  }

  // Clocks rise within a tenth of a second of work. Ends with a rough bandwidth of memory.
  void warm_up() {
    constexpr double kSeconds = 0.1;
    const Offset bytes = largest_working_set();
    const auto begin = std::chrono::steady_clock::now();
    double seconds = 0;
    Offset read = 0;
    do {
      const Run run = [&] {
        read = detail::read_again_and_again(part(0, bytes), threads_, bytes, sink_.span(), stream_);
      };
      seconds = stopwatch_.seconds_of(run, 1);
    } while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(kSeconds));
    rough_bytes_per_second_ = static_cast<double>(read) / seconds;
  }

  DeviceProperties device_;
  Offset threads_;
  Stream stream_;
  DeviceArray<double> data_;
  DeviceArray<unsigned> sink_;
  DeviceArray<unsigned> flags_;
  Stopwatch stopwatch_;
  double rough_bytes_per_second_ = 0;
};

}  // namespace

GpuProfile measure_gpu(const GpuMeasureOptions& options) {
  if (options.bytes < 0) throw InvalidArgument("a measurement on a negative number of bytes");
  use_device(options.device);
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](std::string_view what, double share_done) {
    if (options.progress) options.progress(what, share_done);
  };
  report("filling the memory of the GPU", 0);
  Meter meter(options);
  GpuProfile profile;
  profile.device = meter.device();

  const auto sizes = working_sets(profile.device.l2_bytes, meter.largest_working_set());
  for (const Offset bytes : sizes) {
    const double done =
        static_cast<double>(profile.read.size()) / static_cast<double>(sizes.size());
    report("reading on the GPU", 0.1 + 0.5 * done);
    profile.read.push_back(meter.read(bytes));
  }
  report("BabelStream", 0.6);
  profile.stream = meter.stream();
  profile.plateaus = plateaus_of(profile.read, profile.device.l2_bytes, profile.stream.read);
  report("latency and bandwidth of kernels", 0.7);
  profile.hockney = fit_hockney(meter.reads());
  report("launches, barriers and hand-off", 0.9);
  profile.launch_seconds = meter.launch();
  profile.graph_node_seconds = meter.graph_node();
  profile.barrier_seconds = meter.barrier();
  profile.handoff_seconds = meter.handoff();

  profile.measured_at = utc_now();
  profile.measuring_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return profile;
}

}  // namespace strata::gpu
