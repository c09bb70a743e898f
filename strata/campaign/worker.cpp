#include <fmt/format.h>

#include <chrono>

#include "strata/campaign/case_run.hpp"
#include "strata/campaign/host.hpp"
#include "strata/campaign/internal/worker.hpp"

namespace strata::campaign::detail {

namespace {

constexpr int kTickMilliseconds = 100;

}  // namespace

void Worker::tell(const std::string& line) {
  if (process_ != nullptr) return process_->tell(line + "\n");
  answer_.clear();
  process_ = std::make_unique<StartedProcess>(ProcessRequest{.words = words_, .input = line + "\n"},
                                              StartedProcess::Output::pipe);
}

void Worker::give_up(const std::string& why) {
  process_.reset();
  throw HostLost(why);
}

std::optional<std::string> Worker::take_line() {
  answer_ += process_->take_output();
  const std::size_t end = answer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = answer_.substr(0, end);
  answer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> Worker::ask(const std::string& line, double seconds,
                                       const ProcessWatch& watch) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double next_tick = 0;
  tell(line);
  while (true) {
    const bool ended = process_->wait(kTickMilliseconds);
    if (auto answer = take_line()) return answer;
    if (ended) {
      const std::string said = last_line(process_->finish().error);
      give_up(said.empty() ? "the connection ended" : said);
    }
    const double now = std::chrono::duration<double>(Clock::now() - begin).count();
    if (now > seconds) give_up(fmt::format("no answer in {:.0f} s", now));
    if (now < next_tick) continue;
    next_tick = now + kTickMilliseconds / 1000.0;
    if (watch.stop && watch.stop()) {
      process_.reset();
      return std::nullopt;
    }
    if (watch.tick) watch.tick(now);
  }
}

}  // namespace strata::campaign::detail
