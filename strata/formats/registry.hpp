// All formats at once: the variant over them, and what can be asked of a format that is known only
// when the program runs. The list is that of format.hpp. This header includes every format: files
// that need the name and the parameters of a format alone take format_spec.hpp.
//
//   const AnyFormat<double, std::int32_t> matrix = convert(csr, parse_format_spec("bcsr"));
//   std::visit([&](const auto& stored) { reference::spmv(stored, 1.0, x, 0.0, y); }, matrix);
#pragma once

#include <concepts>
#include <variant>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/formats/blocked_coo.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csc.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/dia.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/formats/hyb.hpp"
#include "strata/formats/jds.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/formats/symmetric_csr.hpp"

namespace strata {

namespace detail {
// The list below begins every type with a comma.
template <class Nothing, class... Formats>
struct FormatVariant {
  using type = std::variant<Formats...>;
};
}  // namespace detail

// A matrix in any of the formats.
template <Value V, Index I>
using AnyFormat = typename detail::FormatVariant<void
#define STRATA_TYPE(enumerator, type, name, label) , type<V, I>
                                                     STRATA_FOR_EACH_FORMAT(STRATA_TYPE)
#undef STRATA_TYPE
                                                 >::type;

// Formats whose conversion takes options say which: Matrix::Options.
template <class Matrix>
concept HasOptions = requires { typename Matrix::Options; };
template <class Options>
concept HasParameters = requires { Options::kParameters; };

// The options of a format, with the parameters of the spec.
template <class Options>
Options options_of(const FormatSpec& spec, double max_fill = kDefaultMaxFill) {
  Options options;
  if constexpr (HasParameters<Options>) {
    for (const auto& parameter : Options::kParameters) {
      if (const auto value = spec.parameter(parameter.name)) options.*parameter.field = *value;
    }
  }
  options.max_fill = max_fill;
  return options;
}

// The matrix in the format of a class. `max_fill`: as in the options of the formats that pad.
template <class Matrix, Value V, Index I>
Matrix converted_to(const Csr<V, I>& csr, const FormatSpec& spec,
                    double max_fill = kDefaultMaxFill) {
  if constexpr (std::same_as<Matrix, Csr<V, I>>) {
    return csr;
  } else if constexpr (HasOptions<Matrix>) {
    return Matrix::from_csr(csr, options_of<typename Matrix::Options>(spec, max_fill));
  } else {
    return Matrix::from_csr(csr);
  }
}

// Returns use(matrix) with the matrix in that format, as a temporary; a CSR matrix is used where it
// is. Throws what the conversion throws.
template <Value V, Index I, class Use>
decltype(auto) with_format(const Csr<V, I>& csr, const FormatSpec& spec, Use&& use,
                           double max_fill = kDefaultMaxFill) {
  switch (spec.format()) {
#define STRATA_CASE(enumerator, type, name, label)               \
  case Format::enumerator:                                       \
    if constexpr (std::same_as<type<V, I>, Csr<V, I>>) {         \
      return use(csr);                                           \
    } else {                                                     \
      return use(converted_to<type<V, I>>(csr, spec, max_fill)); \
    }
    STRATA_FOR_EACH_FORMAT(STRATA_CASE)
#undef STRATA_CASE
    case Format::automatic: break;
  }
  throw InvalidArgument("no matrix is in a format that is to be chosen");
}

// The matrix in that format. Throws what the conversion throws.
template <Value V, Index I>
AnyFormat<V, I> convert(const Csr<V, I>& csr, const FormatSpec& spec,
                        double max_fill = kDefaultMaxFill);

// The bytes of that, known without building it.
template <Value V, Index I>
Footprint footprint(const Csr<V, I>& csr, const FormatSpec& spec);

}  // namespace strata
