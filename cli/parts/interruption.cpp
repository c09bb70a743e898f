#include "cli/parts/interruption.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "cli/parts/ranks.hpp"

namespace strata::cli {

namespace {

constexpr const char* kMessage = "interrupted: stopped before the end";
// How long work has to end by check_interruption before the process is ended from outside.
constexpr auto kTimeout = std::chrono::milliseconds(300);

// Never destroyed: the waiting thread uses it until the process is gone.
struct State {
  std::atomic<int> signal{0};  // that has come
  std::atomic<bool> ending{false};
  std::atomic<int> cleaning{0};
  std::mutex mutex;
  std::function<void()> save;
};

State& state() {
  static State& instance = *new State;
  return instance;
}

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

[[noreturn]] void end_from_outside() {
  {
    const std::lock_guard lock(state().mutex);
    try {
      if (state().save) state().save();
    } catch (const std::exception&) {
      // Nobody is left to catch it; the message below is the error.
    }
  }
  say_interrupted();
  let_the_speaker_save();
  _exit(static_cast<int>(ExitStatus::failure));
}

void wait_for_signal() {
  const sigset_t signals = watched_signals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  state().signal = signal;
  do {
    std::this_thread::sleep_for(kTimeout);
  } while (state().cleaning > 0);
  if (!state().ending.exchange(true)) end_from_outside();
}

}  // namespace

void watch_for_interruption() {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(wait_for_signal).detach();
}

Interrupted::Interrupted() : Failure(ExitStatus::failure, kMessage) {}

bool is_interrupted() {
  return state().signal != 0;
}

void check_interruption() {
  if (is_interrupted()) throw Interrupted();
}

void say_interrupted() {
  const bool by_launcher = rank_count() > 1 && state().signal == SIGTERM;
  if (speaks() && !by_launcher) std::fprintf(stderr, "strata: %s\n", kMessage);
}

void on_interruption(std::function<void()> save) {
  const std::lock_guard lock(state().mutex);
  state().save = std::move(save);
}

CleanUpFirst::CleanUpFirst() {
  ++state().cleaning;
}

CleanUpFirst::~CleanUpFirst() {
  --state().cleaning;
}

void claim_the_end() {
  while (state().ending.exchange(true)) pause();
}

}  // namespace strata::cli
