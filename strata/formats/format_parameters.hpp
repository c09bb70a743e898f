// FormatParameter: a number that changes how a format stores a matrix, such as the height of its
// slices. The options of a format list theirs once; command lines, JSON and conversions use the
// same names for the same fields.
//
//   struct BcsrOptions {
//     Offset block_rows = 2;
//     Offset block_cols = 2;
//
//     static constexpr std::array kParameters{
//         FormatParameter{"block_rows", &BcsrOptions::block_rows},
//         FormatParameter{"block_cols", &BcsrOptions::block_cols}};
//   };
#pragma once

#include <array>
#include <string_view>

#include "strata/base/types.hpp"

namespace strata {

// Which values a parameter can have, and how an error says it.
struct AllowedNumbers {
  std::string_view text;
  bool (*contain)(Offset);
};
inline constexpr AllowedNumbers kPositive{"1 or more", [](Offset value) { return value >= 1; }};
inline constexpr AllowedNumbers kNotNegative{"0 or more", [](Offset value) { return value >= 0; }};

// What the default of a parameter means.
enum class ParameterDefault {
  number,     // as any other value
  automatic,  // chosen for the matrix; not a value that anybody writes
};

// A field of the options. By this name nvcc hands it to g++ without parentheses to warn of.
template <class Options>
using ParameterField = Offset Options::*;

template <class Options>
struct FormatParameter {
  std::string_view name;
  ParameterField<Options> field;
  AllowedNumbers allowed = kPositive;
  ParameterDefault by_default = ParameterDefault::number;
  std::string_view (*label)(Offset) = nullptr;  // of a value; none: the name and the number
};
// Compilers before C++20 is whole do not deduce it for aggregates.
template <class Options, class... Rest>
FormatParameter(std::string_view, ParameterField<Options>, Rest...) -> FormatParameter<Options>;

}  // namespace strata
