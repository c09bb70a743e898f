#include "strata/distributed/halo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

#include "strata/distributed/element_list.hpp"
#include "tests/distributed/parts.hpp"

namespace strata::distributed {
namespace {

TEST(ElementList, CopiesWhatIsAtItsPlaces) {
  constexpr Offset kElements = 20000;
  std::vector<Offset> all(kElements), scattered, runs;
  std::iota(all.begin(), all.end(), Offset{0});
  for (Offset i = 0; i < kElements; ++i) {
    if (i * 7 % 3 == 0) scattered.push_back(i);
    if (i / 100 % 2 == 1) runs.push_back(i);
  }
  std::vector<Offset> backwards = runs;
  std::ranges::reverse(backwards);
  const std::vector<Offset> tail(all.begin() + 5000, all.end());
  for (const std::vector<Offset>& places :
       {std::vector<Offset>{}, std::vector<Offset>{7}, all, tail, scattered, runs, backwards}) {
    SCOPED_TRACE(places.size());
    const ElementList list(places);
    EXPECT_EQ(list.size(), std::ssize(places));
    EXPECT_EQ(list.places(), places);
    EXPECT_EQ(list.is_one_run(),
              !places.empty() && places.back() - places.front() + 1 == std::ssize(places));
    for (const int vectors : {1, 3}) {
      std::vector<double> vector(kElements * static_cast<std::size_t>(vectors));
      std::iota(vector.begin(), vector.end(), 1.0);
      std::vector<double> found(places.size() * static_cast<std::size_t>(vectors));
      list.gather(vector.data(), found.data(), vectors);
      std::vector<double> put(vector.size(), -1), added = vector;
      list.scatter(found.data(), put.data(), vectors);
      list.add(found.data(), added.data(), vectors);
      std::vector<char> there(static_cast<std::size_t>(kElements), 0);
      for (std::size_t i = 0; i < places.size(); ++i) {
        there[static_cast<std::size_t>(places[i])] = 1;
        for (int v = 0; v < vectors; ++v) {
          ASSERT_EQ(found[i * static_cast<std::size_t>(vectors) + v],
                    vector[static_cast<std::size_t>(places[i] * vectors + v)]);
        }
      }
      for (std::size_t i = 0; i < vector.size(); ++i) {
        const bool in = there[i / static_cast<std::size_t>(vectors)] != 0;
        ASSERT_EQ(put[i], in ? vector[i] : -1);
        ASSERT_EQ(added[i], in ? 2 * vector[i] : vector[i]);
      }
    }
  }
}

// What element i of vector v is in a round.
double element(Offset i, int v, int room, int round) {
  return static_cast<double>(i) * 1000 + v * 100 + room * 10 + round;
}

// Ranks want some elements of many others, and are ahead of each other now and then.
TEST(Exchange, ElementsArriveRoundByRound) {
  Communicator ranks(MPI_COMM_WORLD);
  const Partition parts = uneven(900, ranks.size());
  const Offset first = parts.begin(ranks.rank()), own = parts.size(ranks.rank());
  std::vector<Offset> wanted;
  for (Offset i = 0; i < parts.elements(); ++i) {
    if (parts.contains(ranks.rank(), i)) continue;
    if (i / 40 % 3 == ranks.rank() % 3 || i % 5 == 0) wanted.push_back(i);
  }
  const Halo halo(ranks, parts, wanted);
  std::mt19937 random(static_cast<unsigned>(ranks.rank()) + 1);
  for (const Offset share_from : kSharing) {
    ranks.share_from(share_from);
    for (const auto& [vectors, rooms] : {std::pair{1, 1}, {3, 1}, {1, 2}, {2, 2}}) {
      Exchange<double> exchange(ranks, halo, {own, vectors, rooms});
      if (share_from != 0) {
        EXPECT_EQ(exchange.shared_sends(), 0);
      }
      EXPECT_EQ(exchange.sends(), std::ssize(halo.targets()));
      const Traffic before = ranks.traffic();
      constexpr int kRounds = 12;
      for (int round = 0; round < kRounds; ++round) {
        std::vector<std::vector<double>> x(2);
        for (int room = 0; room < 2; ++room) {
          for (Offset i = 0; i < own; ++i) {
            for (int v = 0; v < vectors; ++v) {
              x[static_cast<std::size_t>(room)].push_back(element(first + i, v, room, round));
            }
          }
        }
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        exchange.start(x[0], x[1]);
        for (int room = 0; room < rooms; ++room) {
          std::ranges::copy(x[static_cast<std::size_t>(room)], exchange.own(room).begin());
        }
        exchange.finish();
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        for (int room = 0; room < rooms; ++room) {
          const auto found = exchange.elements(room);
          ASSERT_EQ(std::ssize(found), (std::ssize(wanted) + own) * vectors);
          for (Offset i = 0; i < std::ssize(wanted) + own; ++i) {
            const Offset number = i < halo.below() ? wanted[static_cast<std::size_t>(i)]
                                  : i < halo.below() + own
                                      ? first + i - halo.below()
                                      : wanted[static_cast<std::size_t>(i - own)];
            for (int v = 0; v < vectors; ++v) {
              ASSERT_EQ(found[static_cast<std::size_t>(i * vectors + v)],
                        element(number, v, room, round))
                  << "round " << round;
            }
          }
        }
        if (round % 3 != 0) exchange.release();  // the next start does it, too
      }
      const Traffic sent = ranks.traffic() - before;
      EXPECT_EQ(sent.messages, kRounds * std::ssize(halo.targets()));
      EXPECT_EQ(sent.bytes, kRounds * halo.sent_elements() * vectors * rooms * 8);
      ranks.barrier();
    }
  }
}

// Between ranks of this machine, which is where tests run.
TEST(Exchange, RanksOfANodeShareMemory) {
  Communicator ranks(MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks.size(); ++rank) ASSERT_TRUE(ranks.on_this_node(rank));
  EXPECT_EQ(ranks.shares_memory(), ranks.size() > 1);
  const Partition parts = Partition::even(100 * ranks.size(), ranks.size());
  std::vector<Offset> wanted;
  for (Offset i = 0; i < parts.elements(); ++i) {
    if (!parts.contains(ranks.rank(), i)) wanted.push_back(i);
  }
  const Halo halo(ranks, parts, wanted);
  // 800 bytes each.
  for (const auto& [from, shared] : {std::pair{Offset{800}, true}, {801, false}}) {
    ranks.share_from(from);
    const Exchange<double> exchange(ranks, halo, {});
    if (shared && ranks.size() > 1 && exchange.shared_sends() == 0) {
      GTEST_SKIP() << "processes cannot share memory here";
    }
    EXPECT_EQ(exchange.shared_sends(), shared ? ranks.size() - 1 : 0);
  }
}

}  // namespace
}  // namespace strata::distributed
