#include "strata/distributed/halo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/distributed/internal/mpi_check.hpp"

namespace strata::distributed {

using detail::check;

namespace {
constexpr int kForwardTag = 2;
constexpr int kBackwardTag = 3;
}  // namespace

Halo::Halo(const Communicator& ranks, const Partition& partition, std::vector<Offset> wanted)
    : wanted_(std::move(wanted)) {
  const int self = ranks.rank();
  ranks.together([&] {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Offset element = wanted_[i];
      if (element < 0 || element >= partition.elements() || partition.contains(self, element) ||
          (i > 0 && element <= wanted_[i - 1])) {
        throw InvalidArgument(
            fmt::format("element {} is not another rank's, or not in its order", element));
      }
    }
  });
  std::vector<std::vector<Offset>> asked(static_cast<std::size_t>(ranks.size()));
  const auto count = static_cast<Offset>(wanted_.size());
  for (Offset i = 0; i < count;) {
    const int rank = partition.owner(wanted_[static_cast<std::size_t>(i)]);
    const auto end = std::ranges::lower_bound(wanted_, partition.end(rank)) - wanted_.begin();
    asked[static_cast<std::size_t>(rank)].assign(wanted_.begin() + i, wanted_.begin() + end);
    sources_.push_back({rank, i, end});
    if (rank < self) below_ = end;
    i = end;
  }
  const auto to_send = ranks.exchange(asked);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto& elements = to_send[static_cast<std::size_t>(rank)];
    if (elements.empty()) continue;
    Target& target = targets_.emplace_back(Target{rank, {}});
    for (const Offset element : elements) {
      target.elements.push_back(element - partition.begin(self));
    }
  }
}

Offset Halo::sent_elements() const {
  Offset count = 0;
  for (const Target& target : targets_) count += std::ssize(target.elements);
  return count;
}

// One side of each exchange sends what the other receives, in the same pieces.
template <Value V>
HaloMessages<V>::HaloMessages(const Communicator& ranks, const Halo& halo, const HaloRoom& room,
                              V* elements, V* packed, V* received)
    : ranks_(&ranks) {
  const detail::Pieces pieces(ranks, sizeof(V));
  const auto add = [&](std::vector<MPI_Request>& to, auto init, V* buffer, Offset begin, Offset end,
                       int rank, int tag) {
    if (begin == end) return;
    const std::span<V> part(buffer + begin * room.vectors,
                            static_cast<std::size_t>((end - begin) * room.vectors));
    pieces.visit(std::as_writable_bytes(part), [&](std::span<std::byte> piece) {
      check(init(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, rank, tag, ranks.handle(),
                 &to.emplace_back(MPI_REQUEST_NULL)),
            "a request for a halo");
    });
  };
  for (const Halo::Source& source : halo.sources()) {
    if (room.rooms > 1) {
      add(forwards_, MPI_Recv_init, received, source.begin * room.rooms, source.end * room.rooms,
          source.rank, kForwardTag);
      continue;
    }
    const Offset gap = source.begin >= halo.below() ? room.own : 0;
    const Offset begin = source.begin + gap, end = source.end + gap;
    add(forwards_, MPI_Recv_init, elements, begin, end, source.rank, kForwardTag);
    add(backwards_, MPI_Send_init, elements, begin, end, source.rank, kBackwardTag);
  }
  backward_sends_ = std::ssize(backwards_);
  const Offset receives = std::ssize(forwards_);
  Offset begin = 0;
  for (const Halo::Target& target : halo.targets()) {
    const Offset end = begin + std::ssize(target.elements) * room.rooms;
    add(forwards_, MPI_Send_init, packed, begin, end, target.rank, kForwardTag);
    if (room.rooms == 1) {
      add(backwards_, MPI_Recv_init, packed, begin, end, target.rank, kBackwardTag);
    }
    begin = end;
  }
  forward_sends_ = std::ssize(forwards_) - receives;
  const Offset element_bytes = room.vectors * Offset{sizeof(V)};
  forward_bytes_ = begin * element_bytes;
  backward_bytes_ = std::ssize(halo.wanted()) * element_bytes;
}

template <Value V>
HaloMessages<V>::~HaloMessages() {
  int over = 0;
  MPI_Finalized(&over);
  if (over) return;
  for (auto* requests : {&forwards_, &backwards_}) {
    for (MPI_Request& request : *requests) {
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }
}

namespace {

void start_all(std::vector<MPI_Request>& requests) {
  if (requests.empty()) return;
  check(MPI_Startall(static_cast<int>(requests.size()), requests.data()), "starting a halo");
}
void wait_all(std::vector<MPI_Request>& requests) {
  if (requests.empty()) return;
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "waiting for a halo");
}

}  // namespace

template <Value V>
void HaloMessages<V>::start() const {
  start_all(forwards_);
  ranks_->count_sent(forward_sends_, forward_bytes_);
}
template <Value V>
void HaloMessages<V>::finish() const {
  wait_all(forwards_);
}
template <Value V>
void HaloMessages<V>::start_back() const {
  start_all(backwards_);
  ranks_->count_sent(backward_sends_, backward_bytes_);
}
template <Value V>
void HaloMessages<V>::finish_back() const {
  wait_all(backwards_);
}

namespace {

template <Value V>
Array<V> room_for(Offset elements, int vectors) {
  return Array<V>(
      static_cast<std::size_t>(checked_multiply(elements, vectors, "the elements of a halo")));
}

}  // namespace

template <Value V>
Exchange<V>::Exchange(const Communicator& ranks, const Halo& halo, const HaloRoom& room)
    : halo_(&halo),
      room_(room),
      elements_(room_for<V>((std::ssize(halo.wanted()) + room.own) * room.rooms, room.vectors)),
      packed_(room_for<V>(halo.sent_elements() * room.rooms, room.vectors)),
      received_(
          room_for<V>(room.rooms > 1 ? std::ssize(halo.wanted()) * room.rooms : 0, room.vectors)),
      messages_(ranks, halo, room, elements_.data(), packed_.data(), received_.data()) {}

template <Value V>
std::span<V> Exchange<V>::elements(int room) {
  const std::size_t each = elements_.size() / static_cast<std::size_t>(room_.rooms);
  return std::span(elements_).subspan(static_cast<std::size_t>(room) * each, each);
}

template <Value V>
std::span<V> Exchange<V>::own(int room) {
  return elements(room).subspan(static_cast<std::size_t>(halo_->below() * room_.vectors),
                                static_cast<std::size_t>(room_.own * room_.vectors));
}

namespace {

// visit(place in the packed elements, room, own element) for all elements that others want.
template <class Visit>
void for_each_target(const Halo& halo, const HaloRoom& room, const Visit& visit) {
  Offset place = 0;
  for (const Halo::Target& target : halo.targets()) {
    for (int which = 0; which < room.rooms; ++which) {
      for (const Offset element : target.elements) {
        for (int v = 0; v < room.vectors; ++v) visit(place++, which, element * room.vectors + v);
      }
    }
  }
}

}  // namespace

template <Value V>
void Exchange<V>::start(std::span<const V> first, std::span<const V> second) {
  for_each_target(*halo_, room_, [&](Offset place, int which, Offset element) {
    packed_[place] = which == 0 ? first[element] : second[element];
  });
  messages_.start();
}

template <Value V>
void Exchange<V>::finish() {
  messages_.finish();
  if (room_.rooms == 1) return;
  Offset place = 0;
  for (const Halo::Source& source : halo_->sources()) {
    const Offset gap = source.begin >= halo_->below() ? room_.own : 0;
    const Offset count = (source.end - source.begin) * room_.vectors;
    for (int which = 0; which < room_.rooms; ++which) {
      std::copy_n(received_.begin() + place, count,
                  elements(which).begin() + (source.begin + gap) * room_.vectors);
      place += count;
    }
  }
}

template <Value V>
void Exchange<V>::finish_adding(std::span<V> to) {
  messages_.finish_back();
  for_each_target(*halo_, room_,
                  [&](Offset place, int, Offset element) { to[element] += packed_[place]; });
}

#define STRATA_INSTANTIATE(V, I)  \
  template class HaloMessages<V>; \
  template class Exchange<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::distributed
