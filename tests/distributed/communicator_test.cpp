// What ranks tell each other, and how they fail together.

#include "strata/distributed/communicator.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "strata/base/error.hpp"
#include "strata/distributed/partition.hpp"

namespace strata::distributed {
namespace {

TEST(Communicator, SumsAndGathers) {
  const Communicator ranks(MPI_COMM_WORLD);
  const Offset n = ranks.size();
  EXPECT_EQ(ranks.sum(Offset{ranks.rank()} + 1), n * (n + 1) / 2);
  EXPECT_EQ(ranks.sum(std::complex<double>(1, ranks.rank())),
            std::complex<double>(static_cast<double>(n), static_cast<double>(n * (n - 1) / 2)));
  EXPECT_EQ(ranks.max(Offset{ranks.rank()}), n - 1);
  EXPECT_EQ(ranks.min(2.5 + ranks.rank()), 2.5);
  EXPECT_EQ(ranks.sum_before(ranks.rank() + 1), ranks.rank() * (ranks.rank() + 1) / 2);
  const std::vector<int> all = ranks.gather_all(10 * ranks.rank());
  for (int rank = 0; rank < ranks.size(); ++rank) EXPECT_EQ(all[rank], 10 * rank);
  EXPECT_EQ(ranks.traffic().reductions, 4);
  EXPECT_EQ(ranks.broadcast("from " + std::to_string(ranks.rank()), ranks.size() - 1),
            "from " + std::to_string(ranks.size() - 1));
  EXPECT_GE(ranks.threads_per_rank(), 1);
}

// Rank a sends b·(a + 1) numbers to rank b, in as many messages as their lengths ask for.
TEST(Communicator, ExchangesListsOfAnyLength) {
  for (const Offset largest : {Offset{1} << 30, Offset{3}}) {
    Communicator ranks(MPI_COMM_WORLD);
    ranks.set_largest_message(largest);
    std::vector<std::vector<int>> to(static_cast<std::size_t>(ranks.size()));
    Offset messages = 0, bytes = 0;
    for (int other = 0; other < ranks.size(); ++other) {
      const int length = other * (ranks.rank() + 1);
      to[other].resize(static_cast<std::size_t>(length));
      std::iota(to[other].begin(), to[other].end(), 1000 * ranks.rank());
      if (other == ranks.rank()) continue;
      messages += (length + largest - 1) / largest;
      bytes += length * Offset{sizeof(int)};
    }
    const auto from = ranks.exchange(to);
    for (int other = 0; other < ranks.size(); ++other) {
      ASSERT_EQ(std::ssize(from[other]), ranks.rank() * (other + 1));
      for (int i = 0; i < std::ssize(from[other]); ++i) EXPECT_EQ(from[other][i], 1000 * other + i);
    }
    EXPECT_EQ(ranks.traffic().messages, messages);
    EXPECT_EQ(ranks.traffic().bytes, bytes);
  }
}

template <class Exception>
std::string message_of(const Communicator& ranks, const std::function<void()>& action) {
  try {
    ranks.together(action);
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Communicator, AllThrowWhatOneThrows) {
  const Communicator ranks(MPI_COMM_WORLD);
  const int last = ranks.size() - 1;
  const std::string where = ranks.size() == 1 ? "" : "rank " + std::to_string(last) + ": ";
  const auto on_last = [&](const std::function<void()>& action) {
    return [&ranks, last, action] {
      if (ranks.rank() == last) action();
    };
  };
  EXPECT_EQ(message_of<InvalidArgument>(ranks, on_last([] { throw InvalidArgument("a"); })),
            where + "a");
  EXPECT_EQ(message_of<InvalidMatrix>(ranks, on_last([] { throw InvalidMatrix("b"); })),
            where + "b");
  EXPECT_EQ(message_of<OverflowError>(ranks, on_last([] { throw OverflowError("c"); })),
            where + "c");
  EXPECT_EQ(message_of<FileError>(ranks, on_last([] { throw FileError("x.mtx", "gone"); })),
            "x.mtx: " + where + "gone");
  EXPECT_EQ(message_of<Unavailable>(ranks, on_last([] { throw Unavailable("d"); })), where + "d");
  EXPECT_EQ(message_of<Error>(ranks, on_last([] { throw std::bad_alloc(); })),
            where + "there is not enough memory");
  EXPECT_EQ(message_of<Error>(ranks, on_last([] { throw std::logic_error("e"); })), where + "e");
  // What all throw needs no rank; of several the lowest speaks.
  EXPECT_EQ(message_of<Error>(ranks, [] { throw InvalidArgument("all"); }), "all");
  if (ranks.size() > 2) {
    EXPECT_EQ(message_of<Error>(ranks,
                                [&] {
                                  if (ranks.rank() > 0) throw Error(std::to_string(ranks.rank()));
                                }),
              "rank 1: 1");
  }
  EXPECT_NO_THROW(ranks.together([] {}));
  EXPECT_EQ(ranks.together_make([] { return 7; }), 7);
}

TEST(Communicator, RefusesWhatDiffers) {
  const Communicator ranks(MPI_COMM_WORLD);
  EXPECT_NO_THROW(ranks.require_same("options", "-p 4"));
  if (ranks.size() == 1) return;
  EXPECT_THROW(ranks.require_same("options", ranks.rank() == 1 ? "-p 4" : "-p 5"), InvalidArgument);
}

TEST(Partition, KnowsOwners) {
  const Partition parts({0, 0, 3, 3, 5, 5});
  EXPECT_EQ(parts.parts(), 5);
  EXPECT_EQ(parts.elements(), 5);
  for (const auto& [element, owner] : {std::pair{0, 1}, {2, 1}, {3, 3}, {4, 3}}) {
    EXPECT_EQ(parts.owner(element), owner);
    EXPECT_TRUE(parts.contains(owner, element));
  }
  EXPECT_EQ(parts.size(0), 0);
  EXPECT_EQ(Partition::even(7, 3), Partition({0, 3, 5, 7}));
  EXPECT_EQ(Partition::even(2, 4), Partition({0, 1, 2, 2, 2}));
  EXPECT_THROW(Partition({1, 2}), InvalidArgument);
  EXPECT_THROW(Partition({0, 3, 2}), InvalidArgument);
  EXPECT_THROW(Partition(std::vector<Offset>{}), InvalidArgument);
}

}  // namespace
}  // namespace strata::distributed
