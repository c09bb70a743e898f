// Communicator: the processes that compute together, as the rest of Strata wants them: lists
// instead of buffers and counts, errors as exceptions that all processes throw together, and a
// count of what was sent.
//
//   strata::distributed::Communicator world(MPI_COMM_WORLD);
//   const Offset rows = world.sum(own_rows);
//   world.together([&] { read_my_part(); });   // if one fails, all throw what it threw
//
// MPI is the caller's: it is initialised before the first communicator is made and finalised after
// the last one is gone. All functions are collective, in the same order on all ranks, unless they
// say otherwise. Any MPI of standard 3.1 or later will do.
#pragma once

#include <mpi.h>

#include <complex>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/base/types.hpp"

namespace strata::distributed {

// What a rank has sent, and in how many reductions over all ranks it took part.
struct Traffic {
  Offset messages = 0;
  Offset bytes = 0;
  Offset reductions = 0;

  Traffic operator-(const Traffic& other) const {
    return {messages - other.messages, bytes - other.bytes, reductions - other.reductions};
  }
};

class Communicator {
 public:
  // Duplicates the communicator, so that messages are never confused with those of others. Throws
  // Error if MPI is not running.
  explicit Communicator(MPI_Comm original);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return handle_; }
  // Ranks that share the memory of this one, itself included; counted once. Not collective.
  int ranks_on_node() const { return ranks_on_node_; }
  // Whether a rank shares the memory of this one. Not collective.
  bool on_this_node(int rank) const {
    return nodes_[static_cast<std::size_t>(rank)] == nodes_[static_cast<std::size_t>(rank_)];
  }
  // Runs an action on one rank of every node, then on the others: what the first finds out and
  // stores, the others need not. As together.
  void one_per_node_first(const std::function<void()>& action) const;
  // Threads for every rank so that all of a node together use its processors once: at least 1, and
  // no more than this process may use. Not collective.
  int threads_per_rank() const;

  // Of this rank, so far, of whatever sends with this communicator. Not collective.
  const Traffic& traffic() const { return *traffic_; }
  void count_sent(Offset messages, Offset bytes) const {
    traffic_->messages += messages;
    traffic_->bytes += bytes;
  }

  void barrier() const;

  // Element by element over all ranks, in place: one reduction.
  void sum(std::span<double> values) const;
  void sum(std::span<float> values) const;
  void sum(std::span<std::complex<double>> values) const;
  void sum(std::span<std::complex<float>> values) const;
  void sum(std::span<Offset> values) const;
  void max(std::span<double> values) const;
  void max(std::span<Offset> values) const;
  template <class T>
  T sum(T value) const {
    sum(std::span<T>(&value, 1));
    return value;
  }
  template <class T>
  T max(T value) const {
    max(std::span<T>(&value, 1));
    return value;
  }
  template <class T>
  T min(T value) const {
    return -max(-value);
  }
  // The sum of the values of all ranks before this one.
  Offset sum_before(Offset value) const;

  // The values of all ranks, by rank.
  template <class T>
  std::vector<T> gather_all(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(static_cast<std::size_t>(size_));
    gather_bytes(&value, values.data(), sizeof(T));
    return values;
  }
  // A text of one rank, on all of them.
  std::string broadcast(std::string text, int root) const;

  // A list for every rank, of any length, goes there; returns those that the ranks sent here, by
  // rank. What is longer than a message may be goes in several.
  template <class T>
  std::vector<std::vector<T>> exchange(const std::vector<std::vector<T>>& to) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<std::span<const std::byte>> to_each;
    for (const auto& list : to) to_each.push_back(std::as_bytes(std::span(list)));
    std::vector<std::vector<T>> from(to.size());
    exchange_bytes(to_each, sizeof(T), [&](int rank, Offset elements) {
      auto& list = from[static_cast<std::size_t>(rank)];
      list.resize(static_cast<std::size_t>(elements));
      return std::as_writable_bytes(std::span(list));
    });
    return from;
  }

  // Runs an action that does not communicate. If it throws on any rank, all ranks throw what the
  // lowest of these threw, an exception of the same class; its message names the rank unless all
  // threw. What is thrown outside of this, on one rank alone, leaves the others waiting.
  void together(const std::function<void()>& action) const;
  // The same for an action that makes something.
  template <class Make>
  auto together_make(const Make& make) const {
    std::optional<decltype(make())> made;
    together([&] { made.emplace(make()); });
    return std::move(*made);
  }
  // Throws InvalidArgument on all ranks unless all of them have the same text: options that must
  // agree.
  void require_same(const std::string& what, const std::string& text) const;

  // The most elements of a message; what is longer is split. MPI counts with 32 bits.
  Offset largest_message() const { return largest_message_; }
  void set_largest_message(Offset elements);

  // Elements of vectors that take so many bytes or more go to ranks of the same node through memory
  // that both share, where the system lets them, and count as a message. The same on all ranks.
  static constexpr Offset kNeverShared = std::numeric_limits<Offset>::max();
  Offset shared_from_bytes() const { return shared_from_bytes_; }
  void share_from(Offset bytes) { shared_from_bytes_ = bytes; }
  // Whether there are ranks that might do so, on any node.
  bool shares_memory() const { return shared_from_bytes_ != kNeverShared && nodes_are_shared_; }

 private:
  void gather_bytes(const void* own, void* all, std::size_t bytes) const;
  void exchange_bytes(const std::vector<std::span<const std::byte>>& to, std::size_t element,
                      const std::function<std::span<std::byte>(int, Offset)>& room) const;

  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int ranks_on_node_ = 1;
  int rank_on_node_ = 0;
  std::vector<int> nodes_;  // by rank: the first rank of its node
  bool nodes_are_shared_ = false;
  Offset largest_message_ = Offset{1} << 30;
  Offset shared_from_bytes_ = Offset{1} << 14;
  std::unique_ptr<Traffic> traffic_;  // stays where it is, and counts for whoever may only read
};

}  // namespace strata::distributed
