#include "strata/campaign/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace strata::campaign {

namespace {

using Clock = std::chrono::steady_clock;

// The cases of one host, or of all that share them.
struct Queue {
  std::deque<const SelectedCase*> waiting;
  std::size_t running = 0;
  std::size_t finished = 0;
  std::size_t workers = 0;
  double seconds = 0;  // of those that are finished

  std::optional<double> seconds_left(double of_running) const {
    if (finished == 0) return std::nullopt;
    const double each = seconds / static_cast<double>(finished);
    const double of_waiting = static_cast<double>(waiting.size()) * each /
                              static_cast<double>(std::max<std::size_t>(workers, 1));
    return of_waiting + (running > 0 ? std::max(each - of_running, 0.0) : 0.0);
  }
};

class Run {
 public:
  Run(const Campaign& campaign, const std::vector<SelectedCase>& selected,
      const std::vector<std::unique_ptr<CaseHost>>& hosts, ResultsFile& results,
      const RunEvents& events)
      : campaign_(campaign), hosts_(hosts), results_(results), events_(events) {
    queues_.resize(campaign.share ? 1 : hosts.size());
    for (Queue& queue : queues_) queue.workers = campaign.share ? hosts.size() : 1;
    for (const SelectedCase& each : selected) {
      if (!each.open) continue;
      queues_[campaign.share ? 0 : index_of(each.host)].waiting.push_back(&each);
      ++total_;
    }
  }

  RunSummary run() {
    if (hosts_.size() == 1) {
      work_guarded(0);
    } else {
      std::vector<std::thread> workers;
      for (std::size_t i = 0; i < hosts_.size(); ++i)
        workers.emplace_back([this, i] { work_guarded(i); });
      for (std::thread& worker : workers) worker.join();
    }
    if (failure_) std::rethrow_exception(failure_);
    return {.finished = finished_,
            .open = total_ - finished_,
            .stopped = stopped_,
            .lost_hosts = std::move(lost_)};
  }

 private:
  std::size_t index_of(const std::string& host) const {
    const auto found =
        std::ranges::find_if(hosts_, [&](const auto& h) { return h->name() == host; });
    return static_cast<std::size_t>(found - hosts_.begin());
  }
  Queue& queue_of(std::size_t host) { return queues_[campaign_.share ? 0 : host]; }

  bool stop() {
    if (!ending_ && events_.stop && events_.stop()) {
      stopped_ = true;
      end_all();
    }
    return ending_;
  }

  void end_all() {
    ending_ = true;
    changed_.notify_all();
  }

  void work_guarded(std::size_t host) {
    try {
      work(host);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      end_all();
    }
    const std::lock_guard lock(mutex_);
    --queue_of(host).workers;
  }

  void work(std::size_t host) {
    if (nothing_to_do(host) || !prepare(host)) return;
    int lost_in_a_row = 0;
    while (const SelectedCase* const next = take(host)) {
      const std::optional<std::string> lost = run_one(host, *next);
      lost_in_a_row = lost ? lost_in_a_row + 1 : 0;
      if (ending_) return;
      // A connection may break once; a host that is there again goes on.
      if (lost_in_a_row > 1) return give_up(host, *lost);
      if (lost && !prepare(host)) return;
    }
  }

  bool nothing_to_do(std::size_t host) {
    const std::lock_guard lock(mutex_);
    return queue_of(host).waiting.empty();
  }

  bool prepare(std::size_t host) {
    report(host, fmt::format("{}: getting ready", hosts_[host]->name()), 0);
    try {
      BuildIdentity identity = hosts_[host]->prepare({.stop = [this] { return stop(); }});
      const std::lock_guard lock(mutex_);
      identities_[hosts_[host]->name()] = std::move(identity);
      return true;
    } catch (const HostLost& lost) {
      if (!ending_) give_up(host, lost.what());
      return false;
    }
  }

  void give_up(std::size_t host, const std::string& why) {
    const std::lock_guard lock(mutex_);
    lost_.push_back({hosts_[host]->name(), why});
  }

  // The next case of the host. Where hosts share cases, one that another host loses comes back:
  // who has nothing to do waits for the last ones.
  const SelectedCase* take(std::size_t host) {
    std::unique_lock lock(mutex_);
    Queue& queue = queue_of(host);
    while (queue.waiting.empty() && queue.running > 0 && !ending_) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      if (!ending_ && events_.stop && events_.stop()) return nullptr;
    }
    if (queue.waiting.empty() || ending_) return nullptr;
    const SelectedCase* const next = queue.waiting.front();
    queue.waiting.pop_front();
    ++queue.running;
    return next;
  }

  // Why the host was lost, if it was.
  std::optional<std::string> run_one(std::size_t host, const SelectedCase& next) {
    const Case& each = campaign_.cases[next.index];
    Record record{.campaign = campaign_.name,
                  .case_key = each.key(),
                  .host = hosts_[host]->name(),
                  .matrix = each.matrix,
                  .words = each.words,
                  .settings = each.settings,
                  .started = utc_text(),
                  .outcome = {},
                  .build = identity_of(host)};
    const std::string name =
        hosts_.size() > 1 ? record.host + ": " + record.case_key : record.case_key;
    report(host, name, 0);
    std::optional<std::string> lost;
    const auto begin = Clock::now();
    try {
      const auto outcome =
          hosts_[host]->run(each, campaign_.limits,
                            {.stop = [this] { return stop(); },
                             .tick = [&](double seconds) { report(host, name, seconds); }});
      if (!outcome) {
        put_back(host, next);
        return std::nullopt;
      }
      record.outcome = *outcome;
    } catch (const HostLost& failure) {
      lost = failure.what();
      record.outcome = {.status = Status::lost,
                        .reason = fmt::format("{} was lost: {}", record.host, *lost),
                        .seconds = std::chrono::duration<double>(Clock::now() - begin).count()};
    }
    keep(host, next, record);
    return lost;
  }

  BuildIdentity identity_of(std::size_t host) {
    const std::lock_guard lock(mutex_);
    return identities_[hosts_[host]->name()];
  }

  void put_back(std::size_t host, const SelectedCase& next) {
    const std::lock_guard lock(mutex_);
    Queue& queue = queue_of(host);
    --queue.running;
    queue.waiting.push_front(&next);
    changed_.notify_all();
  }

  void keep(std::size_t host, const SelectedCase& next, const Record& record) {
    const bool is_lost = !is_finished(record.outcome.status);
    // Outside of the lock: some megabytes of JSON take their time.
    const std::string line = line_of(record);
    const std::lock_guard lock(mutex_);
    results_.append(line);
    Queue& queue = queue_of(host);
    --queue.running;
    if (is_lost) {
      // Whoever is next takes it: another host, or this one if it comes back.
      queue.waiting.push_back(&next);
    } else {
      ++queue.finished;
      ++finished_;
      queue.seconds += record.outcome.seconds;
    }
    if (events_.finished) events_.finished(record);
    changed_.notify_all();
  }

  void report(std::size_t host, const std::string& what, double seconds) {
    if (!events_.progress) return;
    const std::lock_guard lock(mutex_);
    RunProgress progress{
        .finished = finished_, .total = total_, .seconds_left = {}, .running = what};
    // Hosts work at the same time: the slowest one says when all is done.
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const Queue& queue = queues_[i];
      if (queue.waiting.empty() && queue.running == 0) continue;
      const auto left = queue.seconds_left(&queue == &queue_of(host) ? seconds : 0);
      if (left) progress.seconds_left = std::max(progress.seconds_left.value_or(0), *left);
    }
    events_.progress(progress);
  }

  const Campaign& campaign_;
  const std::vector<std::unique_ptr<CaseHost>>& hosts_;
  ResultsFile& results_;
  const RunEvents& events_;

  std::atomic<bool> ending_ = false;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::vector<Queue> queues_;
  std::unordered_map<std::string, BuildIdentity> identities_;
  std::size_t total_ = 0;
  std::size_t finished_ = 0;
  std::vector<LostHost> lost_;
  std::exception_ptr failure_;
};

}  // namespace

RunSummary run_cases(const Campaign& campaign, const std::vector<SelectedCase>& selected,
                     const std::vector<std::unique_ptr<CaseHost>>& hosts, ResultsFile& results,
                     const RunEvents& events) {
  return Run(campaign, selected, hosts, results, events).run();
}

}  // namespace strata::campaign
