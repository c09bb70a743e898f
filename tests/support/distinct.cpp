#include "tests/support/distinct.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace strata::test {

std::size_t count_distinct(std::span<const std::byte> elements, std::size_t size) {
  using Bits = std::array<std::uint64_t, 2>;
  std::vector<Bits> all(elements.size() / size);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::memcpy(all[i].data(), elements.data() + i * size, size);
  }
  std::ranges::sort(all);
  return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

}  // namespace strata::test
