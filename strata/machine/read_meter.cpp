#include "strata/machine/internal/read_meter.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "strata/bench/timing.hpp"
#include "strata/machine/internal/spin.hpp"

namespace strata::detail {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Offset kElement = sizeof(double);

// Shorter than the time slices of a busy machine, so that other work does not delay all samples.
constexpr double kSampleSeconds = 0.5e-3;
constexpr double kFewestSamples = 7;
constexpr double kMostSamples = 50;

// The first decile. Other work on the machine makes samples slower, never faster, so that the
// median would be that of a busy machine; the very fastest may be a lucky one.
double fastest_decile(std::vector<double>& samples) {
  const auto rank = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 10);
  std::ranges::nth_element(samples, rank);
  return *rank;
}

}  // namespace

ReadMeter::ReadMeter(TeamMemory& memory) : readers_(static_cast<std::size_t>(memory.team())) {
  for (int thread = 0; thread < team(); ++thread) readers_[thread].data = memory.share(thread);
}

Offset ReadMeter::elements_per_thread(Offset bytes) const {
  const Offset blocks = std::max<Offset>(bytes / (kElement * kLanes * team()), 1);
  return std::min(blocks * kLanes, static_cast<Offset>(readers_.front().data.size()));
}

void ReadMeter::read(Reader& reader, Offset working_set, Offset length) {
  const auto read_part = [&](Offset begin, Offset count, Offset sweeps) {
    reader.sum += read_again_and_again(reader.data.subspan(begin, count), sweeps);
  };
  const Offset begin = reader.position < working_set ? reader.position : 0;
  const Offset to_the_end = std::min(length, working_set - begin);
  const Offset rest = length - to_the_end;
  read_part(begin, to_the_end, 1);
  if (rest > 0) {
    read_part(0, working_set, rest / working_set);
    read_part(0, rest % working_set, 1);
  }
  reader.position = rest > 0 ? rest % working_set : begin + to_the_end;
}

double ReadMeter::bandwidth(Offset bytes, double seconds) {
  const Offset working_set = elements_per_thread(bytes);
  const auto count =
      static_cast<std::size_t>(std::clamp(seconds / kSampleSeconds, kFewestSamples, kMostSamples));
  const double sample_seconds = seconds / static_cast<double>(count);
  SpinBarrier barrier;
  std::vector<double> samples;
  samples.reserve(count);
  // The first thread times and decides, between two barriers; the others follow.
  Offset length = std::min<Offset>(working_set, 256 * kLanes);
  bool calibrated = false;
  bool done = false;
  int readers = 1;
  run_on_threads(team(), [&](int thread, int there) {
    if (thread == 0) readers = there;
    Reader& reader = readers_[thread];
    reader.position = 0;
    read(reader, working_set, working_set);
    while (true) {
      barrier.wait(there);
      if (done) return;
      const auto begin = Clock::now();
      read(reader, working_set, length);
      barrier.wait(there);
      if (thread != 0) continue;
      const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
      if (calibrated) {
        samples.push_back(elapsed / static_cast<double>(length));
        done = samples.size() == count;
      } else if (elapsed < sample_seconds / 2) {
        length *= 2;
      } else {
        calibrated = true;
      }
    }
  });
  const double seconds_per_element = fastest_decile(samples);
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  spreads_.push_back(sum / static_cast<double>(samples.size()) / seconds_per_element);
  return static_cast<double>(kElement * readers) / seconds_per_element;
}

double ReadMeter::time_of_read(Offset bytes, double seconds) {
  const Offset length = elements_per_thread(bytes);
  const auto read_next = [&] {
    run_on_threads(team(), [&](int thread, int) {
      Reader& reader = readers_[thread];
      read(reader, static_cast<Offset>(reader.data.size()), length);
    });
  };
  return time_runs(read_next, {.min_seconds = seconds, .max_repetitions = 100000}).minimum;
}

}  // namespace strata::detail
