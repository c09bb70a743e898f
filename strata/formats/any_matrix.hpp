// AnyMatrix: a CSR matrix whose types are chosen at run time, by a file, an option or another
// language.
//
//   strata::AnyMatrix matrix = strata::with_types(
//       strata::Precision::single_real, 32, [&]<strata::Value V, strata::Index I>() {
//         return strata::AnyMatrix(strata::generate<V, I>("stencil5:64x64"));
//       });
//   matrix = strata::converted_to(std::move(matrix), strata::Precision::double_complex, 64);
//   const strata::Offset rows =
//       std::visit([](const auto& csr) { return strata::Offset{csr.rows()}; }, matrix);
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

// The type of the values, as data.
enum class Precision { double_real, single_real, double_complex, single_complex };

// "double", "single", "complex-double" or "complex-single".
std::string_view name_of(Precision precision);
// The precision of that name; none if no precision has it.
std::optional<Precision> precision_named(std::string_view name);

template <Value V>
constexpr Precision precision_of() {
  constexpr bool is_double = sizeof(V) == (is_complex<V> ? 2 : 1) * sizeof(double);
  if constexpr (is_complex<V>) {
    return is_double ? Precision::double_complex : Precision::single_complex;
  } else {
    return is_double ? Precision::double_real : Precision::single_real;
  }
}

// Of 32- or 64-bit indices; others there are none.
template <Index I>
constexpr int index_bits_of() {
  return static_cast<int>(8 * sizeof(I));
}

// Takes a matrix of any types, owned or borrowed, and moves and copies as that does. std::visit
// calls a generic function with it.
using AnyMatrix =
    std::variant<Csr<double, std::int32_t>, Csr<double, std::int64_t>, Csr<float, std::int32_t>,
                 Csr<float, std::int64_t>, Csr<std::complex<double>, std::int32_t>,
                 Csr<std::complex<double>, std::int64_t>, Csr<std::complex<float>, std::int32_t>,
                 Csr<std::complex<float>, std::int64_t>>;

Precision precision_of(const AnyMatrix& matrix);
int index_bits_of(const AnyMatrix& matrix);

// The matrix with these types, as converted() of csr.hpp makes it; if it has them already, the
// matrix itself. Throws as converted() does, and InvalidArgument unless there are 32 or 64 bits.
AnyMatrix converted_to(AnyMatrix matrix, Precision precision, int index_bits);

namespace detail {
// Throws InvalidArgument unless there are 32 or 64 bits.
void require_index_bits(int index_bits);
}  // namespace detail

// use.operator()<V, I>() for the types that precision and bits stand for, which must return the
// same type for all of them. Throws InvalidArgument unless there are 32 or 64 bits.
template <class Use>
auto with_types(Precision precision, int index_bits, Use&& use) {
  detail::require_index_bits(index_bits);
  const auto with_value = [&]<Value V>() {
    return index_bits == 32 ? use.template operator()<V, std::int32_t>()
                            : use.template operator()<V, std::int64_t>();
  };
  switch (precision) {
    case Precision::single_real: return with_value.template operator()<float>();
    case Precision::double_complex: return with_value.template operator()<std::complex<double>>();
    case Precision::single_complex: return with_value.template operator()<std::complex<float>>();
    default: return with_value.template operator()<double>();
  }
}

}  // namespace strata
