#include "strata/kernels/gpu/slice_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata::gpu {

namespace {

constexpr Offset kSlices = GroupPlaces::kSlices;
// What one thread looks at. No group has slices of two pieces.
constexpr Offset kPiece = 64 * kSlices;

struct Candidate {
  SliceHeader header;
  std::int32_t number;
  bool left;  // of slices before

  auto description() const { return std::tuple(header.codes, header.shape); }
};

SliceGroup group_of(std::span<const Candidate> members) {
  const SliceHeader& first = members.front().header;
  SliceGroup group{
      first.codes, first.values, first.shape, static_cast<std::int32_t>(members.size()), {}, {}};
  for (std::size_t i = 0; i < SliceGroup::kMost; ++i) {
    const Candidate& member = members[std::min(i, members.size() - 1)];
    group.numbers[i] = member.number;
    group.data[i] = member.header.data;
  }
  return group;
}

// Groups of the slices [begin, end), and how many there are of every kSlices.
struct Piece {
  std::vector<SliceGroup> groups;
  std::vector<std::int32_t> counts;
};
Piece groups_in(std::span<const SliceHeader> headers, Offset begin, Offset end, EncodedKind kind,
                bool taken) {
  Piece piece;
  std::vector<Candidate> candidates;
  for (Offset first = begin; first < end; first += kSlices) {
    const Offset next = std::min(first + kSlices, end);
    for (Offset slice = first; slice < next; ++slice) {
      const SliceHeader& header = headers[static_cast<std::size_t>(slice)];
      if (header.is(kind) != taken) continue;
      candidates.push_back({header, static_cast<std::int32_t>(slice), false});
    }
    std::ranges::stable_sort(candidates, {}, &Candidate::description);
    const std::size_t before = piece.groups.size();
    std::vector<Candidate> left;
    for (auto place = candidates.begin(); place != candidates.end();) {
      const auto differs = [&](const Candidate& other) {
        return other.description() != place->description();
      };
      const auto equal_end = std::find_if(place, candidates.end(), differs);
      const auto some = std::min<std::ptrdiff_t>(equal_end - place, SliceGroup::kMost);
      // Those that do not fill a group wait for others, but not for long.
      if (some < SliceGroup::kMost && next < end && !place->left) {
        for (; place != equal_end; ++place) left.push_back({place->header, place->number, true});
        continue;
      }
      piece.groups.push_back(group_of({place, place + some}));
      place += some;
    }
    candidates.swap(left);
    piece.counts.push_back(static_cast<std::int32_t>(piece.groups.size() - before));
  }
  return piece;
}

}  // namespace

GroupRange GroupPlaces::of(SliceRange range) const {
  if (range.begin >= range.end || begins.empty()) return {};
  const auto last = static_cast<std::int32_t>(begins.size()) - 1;
  // Those that were left are in groups of the slices after them.
  const std::int32_t end = ceil_div(range.end, kSlices) + 1;
  return {begins[static_cast<std::size_t>(range.begin / kSlices)],
          begins[static_cast<std::size_t>(std::min(end, last))]};
}

SliceGroups slice_groups(std::span<const SliceHeader> headers, EncodedKind kind, bool taken) {
  const auto slices = static_cast<Offset>(headers.size());
  std::vector<Piece> pieces(static_cast<std::size_t>(ceil_div(slices, kPiece)));
  parallel_dynamic(static_cast<Offset>(pieces.size()), 1, [&](Offset i, Offset) {
    const Offset begin = i * kPiece;
    pieces[static_cast<std::size_t>(i)] =
        groups_in(headers, begin, std::min(begin + kPiece, slices), kind, taken);
  });
  SliceGroups all;
  all.places.begins.push_back(0);
  for (const Piece& piece : pieces) {
    for (const std::int32_t count : piece.counts) {
      all.places.begins.push_back(all.places.begins.back() + count);
    }
    all.groups.insert(all.groups.end(), piece.groups.begin(), piece.groups.end());
  }
  return all;
}

}  // namespace strata::gpu
