#include "strata/measure/vectors.hpp"

#include <bit>
#include <type_traits>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"

namespace strata {

namespace {

// Processors hand the payload of a NaN on, but may change its sign.
constexpr std::uint64_t kPoison64 = 0x7ff8'5354'5241'5441;
constexpr std::uint32_t kPoison32 = 0x7fc0'5354;

bool is_poison_part(double number) {
  return (std::bit_cast<std::uint64_t>(number) & ~(std::uint64_t{1} << 63)) == kPoison64;
}
bool is_poison_part(float number) {
  return (std::bit_cast<std::uint32_t>(number) & ~(std::uint32_t{1} << 31)) == kPoison32;
}

template <Value V>
V poison_number() {
  if constexpr (is_complex<V>) {
    const auto part = poison_number<typename V::value_type>();
    return {part, part};
  } else if constexpr (std::is_same_v<V, double>) {
    return std::bit_cast<double>(kPoison64);
  } else {
    return std::bit_cast<float>(kPoison32);
  }
}

}  // namespace

template <Value V>
Array<V> random_vector(Offset size, std::uint64_t seed, Offset first) {
  using Real = decltype(std::abs(V{}));
  Array<V> vector(static_cast<std::size_t>(size));
  const Random real(seed, 0);
  const Random imaginary(seed, 1);
  parallel_for(size, [&](Offset i) {
    const auto counter = static_cast<std::uint64_t>(first + i);
    if constexpr (is_complex<V>) {
      vector[i] = V(static_cast<Real>(real.uniform(counter, -1, 1)),
                    static_cast<Real>(imaginary.uniform(counter, -1, 1)));
    } else {
      vector[i] = static_cast<V>(real.uniform(counter, -1, 1));
    }
  });
  return vector;
}

template <Value V>
void poison(std::span<V> vector) {
  parallel_for(std::ssize(vector), [&](Offset i) { vector[i] = poison_number<V>(); });
}

template <Value V>
bool is_poison(V number) {
  if constexpr (is_complex<V>) {
    return is_poison_part(number.real()) || is_poison_part(number.imag());
  } else {
    return is_poison_part(number);
  }
}

#define STRATA_INSTANTIATE(V, I)                                     \
  template Array<V> random_vector<V>(Offset, std::uint64_t, Offset); \
  template void poison(std::span<V>);                                \
  template bool is_poison(V)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata
