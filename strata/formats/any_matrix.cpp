#include "strata/formats/any_matrix.hpp"

#include <fmt/format.h>

#include <array>

#include "strata/base/error.hpp"

namespace strata {

namespace {

using Named = std::pair<std::string_view, Precision>;
constexpr std::array kPrecisions{Named{"double", Precision::double_real},
                                 Named{"single", Precision::single_real},
                                 Named{"complex-double", Precision::double_complex},
                                 Named{"complex-single", Precision::single_complex}};

}  // namespace

std::string_view name_of(Precision precision) {
  for (const auto& [name, named] : kPrecisions) {
    if (named == precision) return name;
  }
  return {};
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const auto& [known, precision] : kPrecisions) {
    if (known == name) return precision;
  }
  return std::nullopt;
}

Precision precision_of(const AnyMatrix& matrix) {
  return std::visit([]<Value V, Index I>(const Csr<V, I>&) { return precision_of<V>(); }, matrix);
}

int index_bits_of(const AnyMatrix& matrix) {
  return std::visit([]<Value V, Index I>(const Csr<V, I>&) { return index_bits_of<I>(); }, matrix);
}

AnyMatrix converted_to(AnyMatrix matrix, Precision precision, int index_bits) {
  detail::require_index_bits(index_bits);
  if (precision == precision_of(matrix) && index_bits == index_bits_of(matrix)) return matrix;
  return with_types(precision, index_bits, [&]<Value V, Index I>() {
    return std::visit([](const auto& csr) { return AnyMatrix(converted<V, I>(csr)); }, matrix);
  });
}

void detail::require_index_bits(int index_bits) {
  if (index_bits == 32 || index_bits == 64) return;
  throw InvalidArgument(fmt::format("indices have 32 or 64 bits, not {}", index_bits));
}

}  // namespace strata
