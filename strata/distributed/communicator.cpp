#include "strata/distributed/communicator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/processors.hpp"
#include "strata/distributed/internal/mpi_check.hpp"

namespace strata::distributed {

using detail::check;

namespace {

constexpr int kListTag = 1;

template <class T>
MPI_Datatype datatype();
template <>
MPI_Datatype datatype<double>() {
  return MPI_DOUBLE;
}
template <>
MPI_Datatype datatype<float>() {
  return MPI_FLOAT;
}
template <>
MPI_Datatype datatype<std::complex<double>>() {
  return MPI_C_DOUBLE_COMPLEX;
}
template <>
MPI_Datatype datatype<std::complex<float>>() {
  return MPI_C_FLOAT_COMPLEX;
}
template <>
MPI_Datatype datatype<Offset>() {
  return MPI_INT64_T;
}

// Exceptions as numbers and texts, which can be sent.
enum class Failure {
  none,
  argument,
  matrix,
  overflow,
  file,
  unavailable,
  memory,
  error,
  other,
};

struct Thrown {
  Failure failure = Failure::none;
  std::string path;  // of files
  std::string text;
};

Thrown thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) {
    // The text goes on behind the path and a colon.
    return {Failure::file, error.path(), std::string(error.what()).substr(error.path().size() + 2)};
  } catch (const InvalidArgument& error) {
    return {Failure::argument, {}, error.what()};
  } catch (const InvalidMatrix& error) {
    return {Failure::matrix, {}, error.what()};
  } catch (const OverflowError& error) {
    return {Failure::overflow, {}, error.what()};
  } catch (const Unavailable& error) {
    return {Failure::unavailable, {}, error.what()};
  } catch (const Error& error) {
    return {Failure::error, {}, error.what()};
  } catch (const std::bad_alloc&) {
    return {Failure::memory, {}, "there is not enough memory"};
  } catch (const std::exception& error) {
    return {Failure::other, {}, error.what()};
  }
  return {};
}

[[noreturn]] void throw_again(const Thrown& thrown, const std::string& where) {
  const std::string text = where + thrown.text;
  switch (thrown.failure) {
    case Failure::argument: throw InvalidArgument(text);
    case Failure::matrix: throw InvalidMatrix(text);
    case Failure::overflow: throw OverflowError(text);
    case Failure::file: throw FileError(thrown.path, text);
    case Failure::unavailable: throw Unavailable(text);
    default: throw Error(text);
  }
}

}  // namespace

void detail::check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(
      fmt::format("MPI: {}: {}", what, std::string(text, static_cast<std::size_t>(length))));
}

Communicator::Communicator(MPI_Comm original) : traffic_(std::make_unique<Traffic>()) {
  int running = 0, over = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&over);
  if (!running || over) throw Error("MPI is not running: MPI_Init comes before communicators");
  check(MPI_Comm_dup(original, &handle_), "a communicator of our own");
  MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
        "ranks of a node");
  MPI_Comm_size(node, &ranks_on_node_);
  MPI_Comm_rank(node, &rank_on_node_);
  int first = rank_;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "the first rank of a node");
  nodes_ = gather_all(first);
  std::vector<int> distinct = nodes_;
  std::ranges::sort(distinct);
  nodes_are_shared_ = std::ranges::adjacent_find(distinct) != distinct.end();
  MPI_Comm_free(&node);
}

Communicator::~Communicator() {
  int over = 0;
  MPI_Finalized(&over);
  if (!over && handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
}

int Communicator::threads_per_rank() const {
  // A launcher that binds ranks leaves each its processors; one that does not leaves all to all.
  const ProcessorBudget mine = processor_budget();
  const int online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const ProcessorBudget node{.usable = std::max(online, 1), .quota = mine.quota};
  return std::min(mine.affordable_threads(),
                  std::max(node.affordable_threads() / ranks_on_node_, 1));
}

void Communicator::barrier() const {
  check(MPI_Barrier(handle_), "a barrier");
}

namespace {

template <class T>
void reduce(MPI_Comm handle, std::span<T> values, MPI_Op operation) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), kMost);
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), datatype<T>(),
                        operation, handle),
          "a reduction");
    values = values.subspan(count);
  }
}

}  // namespace

#define STRATA_REDUCTION(name, T, operation)           \
  void Communicator::name(std::span<T> values) const { \
    ++traffic_->reductions;                            \
    reduce(handle_, values, operation);                \
  }
STRATA_REDUCTION(sum, double, MPI_SUM)
STRATA_REDUCTION(sum, float, MPI_SUM)
STRATA_REDUCTION(sum, std::complex<double>, MPI_SUM)
STRATA_REDUCTION(sum, std::complex<float>, MPI_SUM)
STRATA_REDUCTION(sum, Offset, MPI_SUM)
STRATA_REDUCTION(max, double, MPI_MAX)
STRATA_REDUCTION(max, Offset, MPI_MAX)
#undef STRATA_REDUCTION

Offset Communicator::sum_before(Offset value) const {
  Offset before = 0;
  check(MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, handle_), "sums of ranks before");
  return rank_ == 0 ? 0 : before;  // where MPI leaves it undefined
}

void Communicator::gather_bytes(const void* own, void* all, std::size_t bytes) const {
  const int count = narrow<int>(bytes, "the bytes of an element");
  check(MPI_Allgather(own, count, MPI_BYTE, all, count, MPI_BYTE, handle_), "values of all ranks");
}

std::string Communicator::broadcast(std::string text, int root) const {
  Offset length = static_cast<Offset>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT64_T, root, handle_), "the length of a text");
  text.resize(static_cast<std::size_t>(length));
  check(
      MPI_Bcast(text.data(), narrow<int>(length, "the length of a text"), MPI_CHAR, root, handle_),
      "a text");
  return text;
}

void Communicator::set_largest_message(Offset elements) {
  if (elements < 1) throw InvalidArgument("messages have at least one element");
  largest_message_ = elements;
}

void Communicator::exchange_bytes(
    const std::vector<std::span<const std::byte>>& to, std::size_t element,
    const std::function<std::span<std::byte>(int, Offset)>& room) const {
  if (std::ssize(to) != size_) {
    throw InvalidArgument(fmt::format("{} lists for {} ranks", to.size(), size_));
  }
  std::vector<Offset> outgoing, incoming(to.size());
  for (const auto& list : to) outgoing.push_back(static_cast<Offset>(list.size() / element));
  check(MPI_Alltoall(outgoing.data(), 1, MPI_INT64_T, incoming.data(), 1, MPI_INT64_T, handle_),
        "lengths of lists");
  std::vector<std::span<std::byte>> rooms;
  together([&] {
    for (int rank = 0; rank < size_; ++rank) {
      rooms.push_back(room(rank, incoming[static_cast<std::size_t>(rank)]));
    }
  });
  detail::Requests requests;
  const detail::Pieces pieces(*this, element);
  for (int rank = 0; rank < size_; ++rank) {
    const auto target = rooms[static_cast<std::size_t>(rank)];
    if (rank == rank_) {
      if (!target.empty()) std::memcpy(target.data(), to[rank].data(), target.size());
      continue;
    }
    pieces.visit(target, [&](std::span<std::byte> piece) {
      check(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, rank, kListTag,
                      handle_, requests.add()),
            "receiving a list");
    });
  }
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    pieces.visit(to[static_cast<std::size_t>(rank)], [&](std::span<const std::byte> piece) {
      check(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, rank, kListTag,
                      handle_, requests.add()),
            "sending a list");
      count_sent(1, std::ssize(piece));
    });
  }
  requests.wait();
}

void Communicator::together(const std::function<void()>& action) const {
  const Thrown thrown = thrown_by(action);
  const std::vector<char> all = gather_all(static_cast<char>(thrown.failure));
  const auto first = std::ranges::find_if(all, [](char f) { return f != 0; });
  if (first == all.end()) return;
  const int lowest = static_cast<int>(first - all.begin());
  const bool everyone = std::ranges::none_of(all, [](char f) { return f == 0; });
  const Thrown agreed{static_cast<Failure>(*first), broadcast(thrown.path, lowest),
                      broadcast(thrown.text, lowest)};
  throw_again(agreed, everyone ? "" : fmt::format("rank {}: ", lowest));
}

void Communicator::one_per_node_first(const std::function<void()>& action) const {
  for (const bool first : {true, false}) {
    together([&] {
      if ((rank_on_node_ == 0) == first) action();
    });
  }
}

void Communicator::require_same(const std::string& what, const std::string& text) const {
  const std::string first = broadcast(text, 0);
  together([&] {
    if (text != first) {
      throw InvalidArgument(fmt::format(
          "{} must be the same on all ranks: '{}', and on rank 0 '{}'", what, text, first));
    }
  });
}

}  // namespace strata::distributed
