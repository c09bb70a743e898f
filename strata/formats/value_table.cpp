#include "strata/formats/value_table.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/value_counter.hpp"

namespace strata {

namespace {

// Of values that are too many distinct ones so many are looked at; of few values a share of them is
// enough, for counting distinct values takes long.
constexpr Offset kSample = Offset{1} << 20;
constexpr Offset kFewestSampled = Offset{1} << 16;
constexpr Offset kSampledShare = 4;

// All values with their numbers, or nothing if there are more than a table holds.
template <Value V>
ValueCounter<V> count_all(std::span<const V> values, bool& too_many) {
  // Between looks at whether another thread has seen too many.
  constexpr Offset kPiece = 4096;
  std::atomic<bool> given_up = false;
  auto counter = parallel_reduce(
      std::ssize(values), ValueCounter<V>(),
      [&](Offset begin, Offset end) {
        ValueCounter<V> piece;
        for (; begin < end && !given_up.load(std::memory_order_relaxed); begin += kPiece) {
          for (const V value : values.subspan(begin, std::min(kPiece, end - begin))) {
            piece.add(value);
          }
          if (piece.distinct() > kLargestValueTable) given_up = true;
        }
        return piece;
      },
      [&](ValueCounter<V> sum, const ValueCounter<V>& piece) {
        if (given_up) return sum;
        for (const auto& count : piece.counts()) sum.add(count.bits, count.times);
        if (sum.distinct() > kLargestValueTable) given_up = true;
        return sum;
      });
  too_many = given_up;
  return counter;
}

// Of places that no regularity of a matrix can match.
template <Value V>
ValueCounter<V> count_sample(std::span<const V> values) {
  const Random random(1);
  ValueCounter<V> counter;
  const Offset sampled = std::clamp(std::ssize(values) / kSampledShare, kFewestSampled, kSample);
  for (Offset i = 0; i < std::min(sampled, std::ssize(values)); ++i) {
    counter.add(values[random.below(i, values.size())]);
  }
  return counter;
}

template <Value V>
std::vector<typename ValueCounter<V>::Count> by_frequency(const ValueCounter<V>& counter,
                                                          Offset fewest) {
  using Count = typename ValueCounter<V>::Count;
  std::vector<Count> counts = counter.counts();
  std::erase_if(counts, [&](const Count& count) { return count.times < fewest; });
  std::ranges::sort(counts, [](const Count& a, const Count& b) {
    return a.times != b.times ? a.times > b.times : a.bits < b.bits;
  });
  return counts;
}

}  // namespace

template <Value V>
ValueTable<V>::ValueTable(std::span<const V> values, Offset most) {
  bool too_many = false;
  ValueCounter<V> counter = count_all(values, too_many);
  distinct_ = too_many ? -1 : counter.distinct();
  if (too_many) counter = count_sample(values);
  auto counts = by_frequency(counter, too_many ? 2 : 1);
  most = std::clamp<Offset>(most, 1, kLargestValueTable);
  const auto zero = std::ranges::find(counts, bits_of(V{}), &ValueCounter<V>::Count::bits);
  const Offset place = std::min<Offset>({zero - counts.begin(), most - 1, 255});
  if (zero != counts.end()) counts.erase(zero);
  counts.insert(counts.begin() + place, {bits_of(V{}), 0});
  if (std::ssize(counts) > most) counts.resize(most);

  std::size_t slots = 64;
  while (slots < 2 * counts.size()) slots *= 2;
  slots_.assign(slots, -1);
  for (const auto& count : counts) {
    std::size_t at = hash_of(count.bits) & (slots - 1);
    while (slots_[at] >= 0) at = (at + 1) & (slots - 1);
    slots_[at] = static_cast<std::int32_t>(values_.size());
    values_.push_back(value_of<V>(count.bits));
  }
}

template <Value V>
std::int32_t ValueTable<V>::code_of(V value) const {
  if (slots_.empty()) return -1;
  const auto bits = bits_of(value);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_of(bits) & mask;
  while (slots_[at] >= 0 && bits_of(values_[slots_[at]]) != bits) at = (at + 1) & mask;
  return slots_[at];
}

template <Value V>
Offset count_distinct(std::span<const V> values) {
  bool too_many = false;
  const ValueCounter<V> counter = count_all(values, too_many);
  return too_many ? -1 : counter.distinct();
}

namespace {

// Values from everywhere: so many runs of consecutive ones, none of them twice, and at places that
// no regularity of a matrix can match.
template <Value V>
std::vector<V> draw_runs(std::span<const V> values, int runs, Offset length) {
  const Random random(2);
  std::vector<V> drawn(static_cast<std::size_t>(runs * length));
  for (int i = 0; i < runs; ++i) {
    const Chunk stratum = chunk_of(std::ssize(values) / length, i, runs);
    const Offset run = stratum.begin + random.below(i, stratum.end - stratum.begin);
    std::copy_n(values.begin() + run * length, length, drawn.begin() + i * length);
  }
  return drawn;
}

// How many of these runs share more than so many values each with others.
template <Value V>
int count_sharing(std::span<const V> drawn, int runs, int few) {
  const auto length = static_cast<Offset>(drawn.size()) / runs;
  ValueCounter<V> runs_with;
  std::vector<ValueBits<V>> distinct;
  for (int run = 0; run < runs; ++run) {
    distinct.clear();
    for (const V value : drawn.subspan(run * length, length)) distinct.push_back(bits_of(value));
    std::ranges::sort(distinct);
    const auto rest = std::ranges::unique(distinct);
    distinct.erase(rest.begin(), rest.end());
    for (const ValueBits<V>& bits : distinct) runs_with.add(bits, 1);
  }
  int sharing = 0;
  for (int run = 0; run < runs; ++run) {
    const auto shared =
        std::ranges::count_if(drawn.subspan(run * length, length),
                              [&](const V value) { return runs_with.times(bits_of(value)) > 1; });
    sharing += shared > few ? 1 : 0;
  }
  return sharing;
}

}  // namespace

template <Value V>
bool hardly_repeat(std::span<const V> values) {
  // Of some values, as many as a table holds would repeat 3 of 100 times.
  constexpr int kSome = 4096;
  constexpr Offset kMostRepeated = kSome / 100;
  if (std::ssize(values) < kSome) return false;
  ValueCounter<V> some;
  for (const V value : draw_runs(values, kSome, 1)) some.add(value);
  if (some.distinct() >= kSome - kMostRepeated) return true;
  // Of many, four of ten would. Where some do, as on the diagonal of a matrix, that is of
  // use only if others next to them do as well. A symmetric matrix has values twice in a run.
  constexpr int kRuns = 2048;
  constexpr int kFewRuns = kRuns / 20;
  constexpr Offset kRun = 16;
  constexpr int kFewOfRun = 5;
  if (std::ssize(values) < kRuns * kRun) return false;
  return count_sharing<V>(draw_runs(values, kRuns, kRun), kRuns, kFewOfRun) <= kFewRuns;
}

#define STRATA_INSTANTIATE(V, unused)                 \
  template class ValueTable<V>;                       \
  template Offset count_distinct(std::span<const V>); \
  template bool hardly_repeat(std::span<const V>)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata
