#include "strata/campaign/process.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "strata/campaign/internal/group_memory.hpp"
#include "strata/campaign/internal/started_process.hpp"

namespace strata::campaign {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kTickMilliseconds = 100;
// The first process is asked for its memory in every tick, the others of the group once in ten: to
// find them takes milliseconds.
constexpr int kTicksPerGroup = 10;
// Between asking a process to end, so that it can write what it has, and ending it.
constexpr Seconds kGrace(2);
constexpr std::int64_t kMostOutput = std::int64_t{1} << 30;

// Whether the limits hold, asked in every tick.
class LimitWatch {
 public:
  LimitWatch(const Limits& limits, pid_t process) : limits_(limits), process_(process) {}

  std::optional<Ending> passed(const detail::StartedProcess& running, double seconds) {
    if (limits_.seconds > 0 && seconds >= limits_.seconds) return Ending::timeout;
    if (limits_.memory_bytes > 0 && bytes() > limits_.memory_bytes) return Ending::memory;
    if (running.output_bytes() > kMostOutput) return Ending::output;
    return std::nullopt;
  }

 private:
  std::int64_t bytes() {
    return ticks_++ % kTicksPerGroup == kTicksPerGroup - 1 ? detail::group_resident_bytes(process_)
                                                           : detail::resident_bytes(process_);
  }

  Limits limits_;
  pid_t process_;
  int ticks_ = 0;
};

int milliseconds_until(double seconds_left) {
  return std::clamp(static_cast<int>(std::ceil(1000 * seconds_left)), 0, kTickMilliseconds);
}

}  // namespace

ProcessResult run_process(const ProcessRequest& request, const ProcessWatch& watch) {
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return Seconds(Clock::now() - begin).count(); };
  detail::StartedProcess process(request);
  LimitWatch limits(request.limits, process.id());
  std::optional<Ending> ending;
  double next_tick = 0;
  double kill_at = 0;
  const auto end_as = [&](Ending why) {
    ending = why;
    // One that takes all memory gets no time to say goodbye.
    const bool at_once = why == Ending::memory || why == Ending::output;
    process.signal(at_once ? SIGKILL : SIGTERM);
    kill_at = elapsed() + kGrace.count();
  };

  while (true) {
    const double until = request.limits.seconds > 0 && !ending
                             ? std::min(next_tick, request.limits.seconds)
                             : next_tick;
    if (process.wait(milliseconds_until(until - elapsed()))) break;
    const double now = elapsed();
    if (now < until) continue;
    next_tick = now + kTickMilliseconds / 1000.0;
    if (ending) {
      if (now >= kill_at) process.signal(SIGKILL);
    } else if (watch.stop && watch.stop()) {
      end_as(Ending::stopped);
    } else if (const auto passed = limits.passed(process, now)) {
      end_as(*passed);
    }
    if (watch.tick) watch.tick(now);
  }
  auto end = process.finish();
  const bool died = WIFSIGNALED(end.status);
  return {.ending = ending.value_or(died ? Ending::signalled : Ending::exited),
          .status = WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 0,
          .signal = died ? WTERMSIG(end.status) : 0,
          .seconds = elapsed(),
          .peak_bytes = end.peak_bytes,
          .output = std::move(end.output),
          .error = std::move(end.error)};
}

}  // namespace strata::campaign
