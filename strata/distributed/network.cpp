#include "strata/distributed/network.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "strata/distributed/internal/mpi_check.hpp"

namespace strata::distributed {

using detail::check;

namespace {

constexpr int kTag = 7;
constexpr std::array kSizes{0, 8, 64, 512, 4096, 32'768, 262'144, 2'097'152};
constexpr int kFewest = 5;
constexpr int kMost = 1000;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double>& numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

int repetitions(double budget, double of_one) {
  return static_cast<int>(std::clamp(budget / std::max(of_one, 1e-9), 1.0 * kFewest, 1.0 * kMost));
}

// Two ranks that time messages between them, the first of which keeps the time.
using Pair = std::pair<int, int>;

struct Pairs {
  std::optional<Pair> in_node;
  std::optional<Pair> between_nodes;
};

// By the lowest rank of every rank's node, so that all ranks choose the same.
Pairs choose_pairs(const Communicator& ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  check(
      MPI_Comm_split_type(ranks.handle(), MPI_COMM_TYPE_SHARED, ranks.rank(), MPI_INFO_NULL, &node),
      "ranks of a node");
  int leader = ranks.rank();
  const int code = MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  check(code, "the first rank of a node");
  std::map<int, std::vector<int>> nodes;
  const std::vector<int> leaders = ranks.gather_all(leader);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    nodes[leaders[static_cast<std::size_t>(rank)]].push_back(rank);
  }
  const auto& fullest =
      std::ranges::max_element(nodes, {}, [](const auto& of) { return of.second.size(); })->second;
  Pairs pairs;
  if (fullest.size() > 1) pairs.in_node = Pair(fullest[0], fullest[1]);
  if (nodes.size() > 1) pairs.between_nodes = Pair(nodes.begin()->first, (++nodes.begin())->first);
  return pairs;
}

// There and back, on both ranks of a pair.
class PingPong {
 public:
  PingPong(const Communicator& ranks, const Pair& pair)
      : handle_(ranks.handle()),
        first_(ranks.rank() == pair.first),
        other_(first_ ? pair.second : pair.first),
        buffer_(kSizes.back()) {}

  std::vector<TimedMessage> time(double seconds) {
    std::vector<TimedMessage> messages;
    for (const int bytes : kSizes) {
      once(bytes);  // the first of a size sets up what the others use
      int times = repetitions(seconds / kSizes.size(), once(bytes));
      agree(times);
      std::vector<double> trips(static_cast<std::size_t>(times));
      for (double& trip : trips) trip = once(bytes);
      messages.push_back({static_cast<double>(bytes), median(trips) / 2});
    }
    return messages;
  }

 private:
  double once(int bytes) {
    const auto begin = Clock::now();
    if (first_) send(bytes);
    receive(bytes);
    if (!first_) send(bytes);
    return seconds_since(begin);
  }
  void agree(int& times) {
    if (first_) {
      check(MPI_Send(&times, 1, MPI_INT, other_, kTag, handle_), "a message");
    } else {
      check(MPI_Recv(&times, 1, MPI_INT, other_, kTag, handle_, MPI_STATUS_IGNORE), "a message");
    }
  }
  void send(int bytes) {
    check(MPI_Send(buffer_.data(), bytes, MPI_BYTE, other_, kTag, handle_), "a message");
  }
  void receive(int bytes) {
    check(MPI_Recv(buffer_.data(), bytes, MPI_BYTE, other_, kTag, handle_, MPI_STATUS_IGNORE),
          "a message");
  }

  MPI_Comm handle_;
  bool first_;
  int other_;
  std::vector<std::byte> buffer_;
};

MessageCost measure_pair(const Communicator& ranks, const Pair& pair, double seconds) {
  MessageCost cost;
  if (ranks.rank() == pair.first || ranks.rank() == pair.second) {
    cost = fit_messages(PingPong(ranks, pair).time(seconds));
  }
  meet(ranks);
  // The other one of the pair waited for messages at other times.
  return ranks.gather_all(cost)[static_cast<std::size_t>(pair.first)];
}

double measure_reduction(const Communicator& ranks, double seconds) {
  const auto once = [&] {
    std::array<double, 4> numbers{1, 2, 3, 4};
    const auto begin = Clock::now();
    check(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), numbers.size(), MPI_DOUBLE, MPI_SUM,
                        ranks.handle()),
          "a reduction");
    return seconds_since(begin);
  };
  once();
  const int times = ranks.gather_all(repetitions(seconds, once())).front();
  std::vector<double> samples(static_cast<std::size_t>(times));
  for (double& sample : samples) sample = once();
  return ranks.max(median(samples));
}

}  // namespace

void meet(const Communicator& ranks) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(ranks.handle(), &request), "a barrier");
  for (int done = 0; !done;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "a barrier");
    if (!done) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Network measure_network(const Communicator& ranks, double seconds) {
  Network network{.ranks = ranks.size()};
  if (ranks.size() == 1) return network;
  const Pairs pairs = choose_pairs(ranks);
  const double share = seconds / (pairs.in_node && pairs.between_nodes ? 3 : 2);
  if (pairs.in_node) network.in_node = measure_pair(ranks, *pairs.in_node, share);
  if (pairs.between_nodes) {
    network.between_nodes = measure_pair(ranks, *pairs.between_nodes, share);
  }
  network.reduction_seconds = measure_reduction(ranks, share);
  return network;
}

}  // namespace strata::distributed
