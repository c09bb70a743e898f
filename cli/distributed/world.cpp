#include "cli/distributed/world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <memory>
#include <span>
#include <thread>

#include "strata/base/error.hpp"

namespace strata::cli::distributed {

namespace {

// How long a rank that failed waits for others that failed as well.
constexpr auto kPatience = std::chrono::seconds(5);

std::unique_ptr<const Communicator>& the_world() {
  static std::unique_ptr<const Communicator> ranks;
  return ranks;
}

// Runs after the destructors of whatever came later and uses MPI, as PETSc does.
void finalize() {
  the_world().reset();
  int over = 0;
  MPI_Finalized(&over);
  if (!over) MPI_Finalize();
}

[[noreturn]] void end_all(int rank, ExitStatus status, const std::string& message) {
  fmt::print(stderr, "strata: rank {}: {}\n", rank, message);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status));
  std::_Exit(static_cast<int>(status));
}

}  // namespace

void start_world(const std::vector<std::string>& words) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    throw Error("MPI does not start");
  }
  the_world();  // constructed before its end is registered
  std::atexit(finalize);
  the_world() = std::make_unique<const Communicator>(MPI_COMM_WORLD);
  const std::span<const std::string> options = std::span(words).subspan(words.empty() ? 0 : 1);
  world().require_same("the command line", fmt::format("{}", fmt::join(options, " ")));
}

bool world_started() {
  return the_world() != nullptr;
}

const Communicator& world() {
  return *the_world();
}

int end_world(ExitStatus status, const std::string& message) {
  const int rank = world().rank();
  const int ranks = world().size();
  const bool failed = status != ExitStatus::done;
  // The lowest rank that failed, the highest status and how many did.
  std::array<int, 3> ended{failed ? ranks - rank : 0, static_cast<int>(status), failed ? 0 : 1};
  MPI_Request request = MPI_REQUEST_NULL;
  std::array<int, 3> all{};
  MPI_Iallreduce(ended.data(), all.data(), 3, MPI_INT, MPI_MAX, world().handle(), &request);
  const auto begin = std::chrono::steady_clock::now();
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) break;
    if (failed && std::chrono::steady_clock::now() - begin > kPatience) {
      end_all(rank, status, message);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const int lowest = ranks - all[0];
  const bool everyone = all[2] == 0;
  if (failed && rank == lowest) {
    fmt::print(stderr, "strata: {}{}\n", everyone ? "" : fmt::format("rank {}: ", rank), message);
    std::fflush(stderr);
  }
  return all[1];
}

}  // namespace strata::cli::distributed
