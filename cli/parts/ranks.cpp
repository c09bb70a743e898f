#include "cli/parts/ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

#ifdef STRATA_HAS_MPI
#include "cli/distributed/world.hpp"
#endif
#include "strata/base/error.hpp"

namespace strata::cli {

namespace {

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

struct Launcher {
  const char* ranks;
  const char* rank;
};
// Slurm's variables for all of a job are set in its batch script, too, where nobody is but the
// script: those of a step are not.
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                   {"PALS_NRANKS", "PALS_RANKID"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

void print_failure(const std::string& message) {
  fmt::print(stderr, "strata: {}\n", message);
}

}  // namespace

Launched launched() {
  for (const Launcher& launcher : kLaunchers) {
    const auto ranks = number_in(launcher.ranks);
    const auto rank = number_in(launcher.rank);
    if (ranks && rank && *rank >= 0 && *rank < *ranks) return {*ranks, *rank};
  }
  return {};
}

int rank_count() {
  static const int ranks = launched().ranks;
  return ranks;
}

bool speaks() {
  static const bool first = launched().rank == 0;
  return first;
}

void let_the_speaker_save() {
  if (!speaks()) std::this_thread::sleep_for(std::chrono::milliseconds(700));
}

#ifdef STRATA_HAS_MPI

void join_ranks(const std::vector<std::string>& words) {
  if (rank_count() > 1) distributed::start_world(words);
}

int leave_ranks(ExitStatus status, const std::string& message) {
  if (distributed::world_started()) return distributed::end_world(status, message);
  if (status != ExitStatus::done && speaks()) print_failure(message);
  return static_cast<int>(status);
}

#else

void join_ranks(const std::vector<std::string>&) {
  if (rank_count() > 1) {
    throw Unavailable(
        fmt::format("{} ranks were started, but this build has no MPI", rank_count()));
  }
}

int leave_ranks(ExitStatus status, const std::string& message) {
  if (status != ExitStatus::done && speaks()) print_failure(message);
  return static_cast<int>(status);
}

#endif

}  // namespace strata::cli
