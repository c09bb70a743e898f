// ElementList: some elements of a vector, by their places, in any order. They are copied one by
// one, or piece by piece where they lie together.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata::distributed {

class ElementList {
 public:
  ElementList() = default;
  explicit ElementList(std::vector<Offset> places) : places_(std::move(places)) { find_runs(); }

  Offset size() const { return std::ssize(places_); }
  bool empty() const { return places_.empty(); }
  const std::vector<Offset>& places() const { return places_; }
  // Whether all follow the first one after another.
  bool is_one_run() const { return runs_.size() == 1; }

  // list[i] = vector[place i]; `vectors` of both, interleaved.
  template <class V>
  void gather(const V* vector, V* list, int vectors) const {
    copy(vectors, [&](Offset place, Offset i, Offset count) {
      std::copy_n(vector + place, count, list + i);
    });
  }
  // vector[place i] = list[i]
  template <class V>
  void scatter(const V* list, V* vector, int vectors) const {
    copy(vectors, [&](Offset place, Offset i, Offset count) {
      std::copy_n(list + i, count, vector + place);
    });
  }
  // vector[place i] += list[i], where no place is there twice.
  template <class V>
  void add(const V* list, V* vector, int vectors) const {
    copy(vectors, [&](Offset place, Offset i, Offset count) {
      for (Offset k = 0; k < count; ++k) vector[place + k] += list[i + k];
    });
  }

  bool operator==(const ElementList& other) const { return places_ == other.places_; }

 private:
  // Places that follow one another, from number `index` of the list on.
  struct Run {
    Offset index = 0;
    Offset place = 0;
  };
  // Shorter ones on average are not worth looking for.
  static constexpr Offset kShortest = 8;

  void find_runs() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (i > 0 && places_[i] == places_[i - 1] + 1) continue;
      runs_.push_back({static_cast<Offset>(i), places_[i]});
      if (std::ssize(runs_) * kShortest > std::max(size(), kShortest)) {
        runs_.clear();
        return;
      }
    }
    runs_.shrink_to_fit();
  }

  // move(first element of the vector, first of the list, elements)
  template <class Move>
  void copy(int vectors, const Move& move) const {
    if (runs_.empty()) {
      parallel_for(size(), [&](Offset i) {
        move(places_[static_cast<std::size_t>(i)] * vectors, i * vectors, Offset{vectors});
      });
      return;
    }
    parallel_chunks(size(), [&](Offset begin, Offset end) {
      auto run = std::ranges::upper_bound(runs_, begin, {}, &Run::index) - 1;
      while (begin < end) {
        const auto next = run + 1;
        const Offset stop = std::min(end, next == runs_.end() ? size() : next->index);
        move((run->place + begin - run->index) * vectors, begin * vectors,
             (stop - begin) * vectors);
        begin = stop;
        run = next;
      }
    });
  }

  std::vector<Offset> places_;
  std::vector<Run> runs_;  // all of them, or none
};

}  // namespace strata::distributed
