#include "strata/distributed/halo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/distributed/internal/mpi_check.hpp"
#include "strata/distributed/internal/node_memory.hpp"

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
    std::vector<Offset> places;
    for (const Offset element : elements) places.push_back(element - partition.begin(self));
    targets_.push_back({rank, ElementList(std::move(places))});
  }
}

Offset Halo::sent_elements() const {
  Offset count = 0;
  for (const Target& target : targets_) count += target.elements.size();
  return count;
}

// One side of each exchange sends what the other receives, in the same pieces.
template <Value V>
HaloMessages<V>::HaloMessages(const Communicator& ranks, const Halo& halo, const HaloRoom& room,
                              V* elements, V* packed, V* received,
                              const std::vector<bool>& other_sources,
                              const std::vector<bool>& other_targets)
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
  const auto left_out = [](const std::vector<bool>& others, std::size_t i) {
    return i < others.size() && others[i];
  };
  for (std::size_t i = 0; i < halo.sources().size(); ++i) {
    const Halo::Source& source = halo.sources()[i];
    const bool comes = !left_out(other_sources, i);
    if (room.rooms > 1) {
      if (comes) {
        add(forwards_, MPI_Recv_init, received, source.begin * room.rooms, source.end * room.rooms,
            source.rank, kForwardTag);
      }
      continue;
    }
    const Offset gap = source.begin >= halo.below() ? room.own : 0;
    const Offset begin = source.begin + gap, end = source.end + gap;
    if (comes) add(forwards_, MPI_Recv_init, elements, begin, end, source.rank, kForwardTag);
    add(backwards_, MPI_Send_init, elements, begin, end, source.rank, kBackwardTag);
  }
  backward_sends_ = std::ssize(backwards_);
  const Offset receives = std::ssize(forwards_);
  Offset begin = 0, sent = 0;
  for (std::size_t i = 0; i < halo.targets().size(); ++i) {
    const Halo::Target& target = halo.targets()[i];
    const Offset end = begin + target.elements.size() * room.rooms;
    if (!left_out(other_targets, i)) {
      add(forwards_, MPI_Send_init, packed, begin, end, target.rank, kForwardTag);
      sent += end - begin;
    }
    if (room.rooms == 1) {
      add(backwards_, MPI_Recv_init, packed, begin, end, target.rank, kBackwardTag);
    }
    begin = end;
  }
  forward_sends_ = std::ssize(forwards_) - receives;
  const Offset element_bytes = room.vectors * Offset{sizeof(V)};
  forward_bytes_ = sent * element_bytes;
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
Exchange<V>::Exchange(const Communicator& ranks, const Halo& halo, const HaloRoom& room, Way way)
    : ranks_(&ranks),
      halo_(&halo),
      room_(room),
      packed_(room_for<V>(halo.sent_elements() * room.rooms, room.vectors)),
      received_(
          room_for<V>(room.rooms > 1 ? std::ssize(halo.wanted()) * room.rooms : 0, room.vectors)),
      shared_sources_(halo.sources().size()),
      shared_targets_(halo.targets().size()) {
  if (way == Way::forwards && ranks.shares_memory()) find_shared_memory();
  if (elements_.empty()) {
    memory_ = room_for<V>((std::ssize(halo.wanted()) + room.own) * room.rooms, room.vectors);
    elements_ = memory_;
  }
  messages_.emplace(ranks, halo, room, elements_.data(), packed_.data(), received_.data(),
                    shared_sources_, shared_targets_);
}

template <Value V>
Exchange<V>::~Exchange() = default;

// Both sides of a pair know how much goes from one to the other.
template <Value V>
void Exchange<V>::find_shared_memory() {
  const Offset element_bytes = Offset{room_.vectors} * room_.rooms * Offset{sizeof(V)};
  const auto large = [&](int rank, Offset count) {
    return ranks_->on_this_node(rank) && count * element_bytes >= ranks_->shared_from_bytes();
  };
  std::vector<detail::NodeMemory::Writer> writers;
  std::vector<int> readers;
  std::vector<std::size_t> sources, targets;
  for (std::size_t i = 0; i < halo_->sources().size(); ++i) {
    const Halo::Source& source = halo_->sources()[i];
    if (!large(source.rank, source.end - source.begin)) continue;
    writers.push_back({source.rank, static_cast<std::uint64_t>(begin_of(source))});
    sources.push_back(i);
  }
  for (std::size_t i = 0; i < halo_->targets().size(); ++i) {
    const Halo::Target& target = halo_->targets()[i];
    if (!large(target.rank, target.elements.size())) continue;
    readers.push_back(target.rank);
    targets.push_back(i);
  }
  const Offset elements = checked_multiply((std::ssize(halo_->wanted()) + room_.own) * room_.rooms,
                                           room_.vectors, "a halo");
  shared_ = std::make_unique<detail::NodeMemory>(
      *ranks_, static_cast<std::size_t>(elements) * sizeof(V), writers, readers);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (shared_->slot(i) == nullptr) continue;
    shared_sources_[sources[i]] = true;
    slots_.push_back(shared_->slot(i));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!shared_->remote(i).pages) continue;
    shared_targets_[targets[i]] = true;
    remotes_.push_back(&shared_->remote(i));
    ++shared_sends_;
    shared_bytes_ += halo_->targets()[targets[i]].elements.size() * element_bytes;
  }
  if (slots_.empty()) return;
  elements_ = {reinterpret_cast<V*>(shared_->elements()), static_cast<std::size_t>(elements)};
}

template <Value V>
std::span<V> Exchange<V>::elements(int room) {
  const std::size_t each = elements_.size() / static_cast<std::size_t>(room_.rooms);
  return elements_.subspan(static_cast<std::size_t>(room) * each, each);
}

template <Value V>
std::span<V> Exchange<V>::own(int room) {
  return elements(room).subspan(static_cast<std::size_t>(halo_->below() * room_.vectors),
                                static_cast<std::size_t>(room_.own * room_.vectors));
}

template <Value V>
void Exchange<V>::start(std::span<const V> first, std::span<const V> second) {
  release();
  ++round_;
  const auto vector = [&](int room) { return room == 0 ? first.data() : second.data(); };
  V* packed = packed_.data();
  for (std::size_t i = 0; i < halo_->targets().size(); ++i) {
    const ElementList& wanted = halo_->targets()[i].elements;
    for (int room = 0; room < room_.rooms; ++room) {
      if (!shared_targets_[i]) wanted.gather(vector(room), packed, room_.vectors);
      packed += wanted.size() * room_.vectors;
    }
  }
  messages_->start();
  auto remote = remotes_.begin();
  for (std::size_t i = 0; i < halo_->targets().size(); ++i) {
    if (!shared_targets_[i]) continue;
    const auto& [pages, slot, there, place, bytes] = **remote++;
    detail::wait_for(*ranks_, slot->read, round_ - 1);
    V* const rooms = reinterpret_cast<V*>(there);
    const std::size_t each = bytes / sizeof(V) / static_cast<std::size_t>(room_.rooms);
    for (int room = 0; room < room_.rooms; ++room) {
      halo_->targets()[i].elements.gather(vector(room),
                                          rooms + static_cast<std::size_t>(room) * each +
                                              place * static_cast<std::size_t>(room_.vectors),
                                          room_.vectors);
    }
    slot->written.store(round_, std::memory_order_release);
  }
  ranks_->count_sent(shared_sends_, shared_bytes_);
}

template <Value V>
void Exchange<V>::finish() {
  messages_->finish();
  for (detail::SharedSlot* slot : slots_) detail::wait_for(*ranks_, slot->written, round_);
  if (room_.rooms == 1) return;
  Offset place = 0;
  for (std::size_t i = 0; i < halo_->sources().size(); ++i) {
    const Halo::Source& source = halo_->sources()[i];
    const Offset count = (source.end - source.begin) * room_.vectors;
    for (int room = 0; room < room_.rooms; ++room) {
      if (!shared_sources_[i]) {
        std::copy_n(received_.begin() + place, count,
                    elements(room).begin() + begin_of(source) * room_.vectors);
      }
      place += count;
    }
  }
}

template <Value V>
void Exchange<V>::release() {
  if (released_ == round_) return;
  released_ = round_;
  for (detail::SharedSlot* slot : slots_) slot->read.store(round_, std::memory_order_release);
}

template <Value V>
void Exchange<V>::finish_adding(std::span<V> to) {
  messages_->finish_back();
  const V* packed = packed_.data();
  for (const Halo::Target& target : halo_->targets()) {
    target.elements.add(packed, to.data(), room_.vectors);
    packed += target.elements.size() * room_.vectors;
  }
}

#define STRATA_INSTANTIATE(V, I)  \
  template class HaloMessages<V>; \
  template class Exchange<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::distributed
