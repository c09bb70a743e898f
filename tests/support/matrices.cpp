#include "tests/support/matrices.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"

namespace strata::test {

template <Value V, Index I>
std::vector<NamedCoo<V, I>> awkward_matrices() {
  std::vector<NamedCoo<V, I>> all;
  const auto add = [&](std::string name, I rows, I cols, auto&& fill) {
    Entries<V, I> entries(rows, cols, all.size() + 1);
    fill(entries);
    all.push_back({std::move(name), entries.coo()});
  };
  const auto scatter = [](Entries<V, I>& entries, I rows, I cols, int count, std::uint64_t seed) {
    const Random random(seed);
    for (int k = 0; k < count; ++k) {
      entries.add(static_cast<Offset>(random.below(2 * k, rows)),
                  static_cast<Offset>(random.below(2 * k + 1, cols)));
    }
  };
  add("0 x 0", 0, 0, [](auto&) {});
  add("0 x 5", 0, 5, [](auto&) {});
  add("5 x 0", 5, 0, [](auto&) {});
  add("no entries", 7, 9, [](auto&) {});
  add("1 x 1", 1, 1, [](auto& e) { e.add(0, 0); });
  add("one row", 1, 40, [](auto& e) {
    for (int j = 0; j < 40; j += 3) e.add(0, j);
  });
  add("one column", 40, 1, [](auto& e) {
    for (int i = 0; i < 40; i += 3) e.add(i, 0);
  });
  add("empty rows and columns", 37, 41, [](auto& e) {
    for (int i = 5; i < 30; i += 5) {
      for (int j = 4; j < 40; j += 7) e.add(i, j);
    }
  });
  add("one full row", 50, 50, [](auto& e) {
    for (int j = 0; j < 50; ++j) e.add(20, j);
    for (int i = 0; i < 50; ++i) e.add(i, i == 20 ? 20 : 49 - i);
  });
  add("dense", 17, 13, [](auto& e) {
    for (int i = 0; i < 17; ++i) {
      for (int j = 0; j < 13; ++j) e.add(i, j);
    }
  });
  add("identity", 33, 33, [](auto& e) {
    for (int i = 0; i < 33; ++i) e.add(i, i, V{1});
  });
  add("tridiagonal", 70, 70, [](auto& e) {
    for (int i = 0; i < 70; ++i) {
      for (int j = std::max(0, i - 1); j <= std::min(69, i + 1); ++j) e.add(i, j);
    }
  });
  add("antidiagonal", 45, 45, [](auto& e) {
    for (int i = 0; i < 45; ++i) e.add(i, 44 - i);
  });
  add("three unknowns per node", 96, 96, [](auto& e) {
    const Random random(4);
    for (int row = 0; row < 32; ++row) {
      // Nodes 0, 4, … have no neighbours at all.
      for (int k = 0; k < row % 4 * 2; ++k) {
        const int node = static_cast<int>(random.below(8 * row + k, 32));
        for (int i = 0; i < 9; ++i) e.add(3 * row + i / 3, 3 * node + i % 3);
      }
    }
  });
  add("duplicates, unsorted", 30, 30, [&](auto& e) {
    scatter(e, 30, 30, 300, 5);
    for (int k = 0; k < 5; ++k) e.add(3, 4);
  });
  add("explicit zeros", 20, 20, [](auto& e) {
    for (int i = 0; i < 20; ++i) {
      e.add(i, i, V{});
      e.add(i, (i * 7) % 20, V{1});
    }
  });
  add("wide", 19, 150, [&](auto& e) { scatter(e, 19, 150, 200, 6); });
  add("tall", 150, 19, [&](auto& e) { scatter(e, 150, 19, 200, 7); });
  add("two components", 60, 60, [](auto& e) {
    for (int i = 0; i < 60; ++i) {
      e.add(i, i);
      if (i != 29 && i != 59) {
        e.add(i, i + 1);
        e.add(i + 1, i);
      }
    }
  });
  add("random rows of all lengths", 129, 129, [](auto& e) {
    for (int i = 0; i < 129; ++i) {
      for (int j = 0; j < i % 23; ++j) e.add(i, (i * 31 + j * 17) % 129);
    }
  });
  add("five-point grid", 120, 120, [](auto& e) {
    for (int i = 0; i < 120; ++i) {
      e.add(i, i);
      if (i % 12 != 0) e.add(i, i - 1);
      if (i % 12 != 11) e.add(i, i + 1);
      if (i >= 12) e.add(i, i - 12);
      if (i < 108) e.add(i, i + 12);
    }
  });
  add("blocks of 3 x 3 with holes", 36, 39, [](auto& e) {
    for (int node = 0; node < 12; ++node) {
      for (int k = 0; k < 27; ++k) {
        if ((node + k) % 8 != 0) e.add(3 * node + k / 9, 3 * ((node * 5) % 11) + k % 9 / 3);
      }
    }
  });
  add("columns far apart", 40, 100000, [](auto& e) {
    for (int i = 0; i < 40; ++i) {
      for (int j = 0; j < 4; ++j) e.add(i, (i * 2503 + j * 24989) % 100000);
    }
  });
  return all;
}

#define STRATA_INSTANTIATE(V, I) template std::vector<NamedCoo<V, I>> awkward_matrices()
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::test
