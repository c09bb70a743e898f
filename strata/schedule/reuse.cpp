#include "strata/schedule/reuse.hpp"

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

// Sums over a sequence whose elements change (Fenwick, 1994).
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t size) : tree_(size + 1, 0) {}

  void add(std::size_t position, Offset value) {
    for (++position; position < tree_.size(); position += position & (~position + 1)) {
      tree_[position] += value;
    }
  }
  // Of the elements before `position`.
  Offset before(std::size_t position) const {
    Offset sum = 0;
    for (; position > 0; position &= position - 1) sum += tree_[position];
    return sum;
  }

 private:
  std::vector<Offset> tree_;
};

}  // namespace

template <Index I>
ReuseProfile::ReuseProfile(const Tiling<I>& tiling, const Schedule& schedule, Offset row_bytes) {
  constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  const auto tiles = static_cast<std::size_t>(tiling.tiles());
  PrefixSums held(tiles * schedule.power);  // at the time of each tile's last visit, its size
  std::vector<std::size_t> last_visit(tiles, kNever);
  std::size_t now = 0;
  for (const Task& task : schedule.tasks) {
    for (std::int32_t tile = task.begin; tile < task.end; ++tile, ++now) {
      const RowRange<I> rows = tiling.rows(tile);
      const Offset size =
          tiling.bytes[tile] +
          checked_multiply<Offset>(rows.end - rows.begin, row_bytes, "the bytes of vectors");
      bytes_read_ += tiling.bytes[tile];
      if (last_visit[tile] == kNever) {
        bytes_once_ += tiling.bytes[tile];
      } else {
        revisits_.emplace_back(held.before(now) - held.before(last_visit[tile]),
                               tiling.bytes[tile]);
        held.add(last_visit[tile], -size);
      }
      held.add(now, size);
      last_visit[tile] = now;
    }
  }
  std::ranges::sort(revisits_);
  Offset farther = 0;
  for (auto revisit = revisits_.rbegin(); revisit != revisits_.rend(); ++revisit) {
    farther += revisit->second;
    revisit->second = farther;
  }
}

Offset ReuseProfile::bytes_loaded(Offset cache_bytes) const {
  const auto missed = std::ranges::upper_bound(revisits_, cache_bytes, {},
                                               [](const auto& revisit) { return revisit.first; });
  return bytes_once_ + (missed == revisits_.end() ? 0 : missed->second);
}

Offset ReuseProfile::window_bytes(double factor) const {
  const auto allowed = static_cast<Offset>((factor - 1) * static_cast<double>(bytes_once_));
  Offset window = 0;
  for (const auto& [distance, this_and_farther] : revisits_) {
    if (this_and_farther <= allowed) break;
    window = distance;
  }
  return window;
}

#define STRATA_INSTANTIATE(I) \
  template ReuseProfile::ReuseProfile(const Tiling<I>&, const Schedule&, Offset)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
