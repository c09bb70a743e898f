// Small matrices that every rank has whole, cut into what ranks would have of them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/formats/csr.hpp"

namespace strata::distributed {

// Uneven, and some parts empty: every third rank has nothing, others more and more.
inline Partition uneven(Offset elements, int parts) {
  std::vector<Offset> offsets{0};
  for (int part = 1; part < parts; ++part) {
    const double share = static_cast<double>(part) / parts;
    const Offset here = static_cast<Offset>(share * share * static_cast<double>(elements));
    offsets.push_back(part % 3 == 2 ? offsets.back() : std::max(here, offsets.back()));
  }
  offsets.push_back(elements);
  return Partition(offsets);
}

template <Value V, Index I>
DistributedMatrix<V, I> cut(const Communicator& ranks, const Csr<V, I>& whole,
                            const Partition& rows, const Partition& cols) {
  const Offset begin = rows.begin(ranks.rank()), end = rows.end(ranks.rank());
  Array<Offset> offsets;
  for (Offset row = begin; row <= end; ++row) {
    offsets.push_back(whole.row_offsets()[row] - whole.row_offsets()[begin]);
  }
  const auto first = static_cast<std::size_t>(whole.row_offsets()[begin]);
  const auto count = static_cast<std::size_t>(offsets.back());
  const auto columns = whole.columns().subspan(first, count);
  const auto values = whole.values().subspan(first, count);
  return {
      rows, cols,
      Csr<V, I>(static_cast<I>(end - begin), whole.cols(), std::move(offsets),
                Array<I>(columns.begin(), columns.end()), Array<V>(values.begin(), values.end()))};
}
template <Value V, Index I>
DistributedMatrix<V, I> cut(const Communicator& ranks, const Csr<V, I>& whole) {
  return cut(ranks, whole, Partition::even(whole.rows(), ranks.size()),
             Partition::even(whole.cols(), ranks.size()));
}

// Elements that ranks of a node exchange go through memory that they share, or by messages.
inline const std::vector<Offset> kSharing{0, Communicator::kNeverShared};

// The elements of this rank.
template <class T>
std::vector<T> own_part(const Communicator& ranks, const std::vector<T>& whole,
                        const Partition& parts, int vectors = 1) {
  return {whole.begin() + parts.begin(ranks.rank()) * vectors,
          whole.begin() + parts.end(ranks.rank()) * vectors};
}

// All elements, of all ranks.
template <class T>
std::vector<T> gathered(const Communicator& ranks, const std::vector<T>& own) {
  const auto lists =
      ranks.exchange(std::vector<std::vector<T>>(static_cast<std::size_t>(ranks.size()), own));
  std::vector<T> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace strata::distributed
