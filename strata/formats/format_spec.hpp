// FormatSpec: a format with its parameters, as data. It is valid from construction on; text is
// parsed and made at the edge of a program.
//
//   const FormatSpec spec = parse_format_spec("sell:slice_height=8");
//   spec.format();                   // Format::sell
//   spec.parameter("slice_height");  // 8
//   spec.parameter("sort_window");   // 1, the default
//   text_of(spec);                   // "sell:slice_height=8,sort_window=1"
//   label_of(spec);                  // "SELL-8-1"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/format.hpp"

namespace strata {

struct MatrixStatistics;

struct NamedNumber {
  std::string name;
  Offset value = 0;

  bool operator==(const NamedNumber&) const = default;
};

class FormatSpec {
 public:
  // CSR.
  FormatSpec() = default;
  // The parameters that are not given have their defaults. Throws InvalidArgument, saying what
  // there is, for Format::automatic, and for a parameter that the format does not have, that is
  // given twice, or whose value is not allowed.
  explicit FormatSpec(Format format, const std::vector<NamedNumber>& given = {});
  explicit FormatSpec(const StoredFormat& stored);

  Format format() const { return format_; }
  // In the order of the format's list, without those that are chosen for the matrix.
  const std::vector<NamedNumber>& parameters() const { return parameters_; }
  // None if the format does not have it or chooses it for the matrix.
  std::optional<Offset> parameter(std::string_view name) const;

  bool operator==(const FormatSpec&) const = default;

 private:
  Format format_ = Format::csr;
  std::vector<NamedNumber> parameters_;
};

// "NAME" or "NAME:PARAMETER=NUMBER,…". Throws InvalidArgument, saying what there is, for anything
// else.
FormatSpec parse_format_spec(std::string_view text);
// What parse_format_spec reads.
std::string text_of(const FormatSpec& spec);
// The words of a table: "packed SELL-32". Parameters that its label does not have follow where they
// are not the default.
std::string label_of(const FormatSpec& spec);

// The format by name. Packed SELL with full values has one of its own, "packed-sell-full", which
// parse_format_spec reads as well.
std::string_view name_of(const FormatSpec& spec);

// What is worth trying: each format that suits the matrix, with its usual parameters, in the order
// of the list.
std::vector<FormatSpec> usual_specs(const MatrixStatistics& statistics);

// The words of a list as users write it. Commas separate formats and parameters: what has a value
// and no name of a format continues the format before it.
std::vector<std::string> split_format_list(std::string_view text);

// The specs of a list as users write it, of those that suit the matrix: "all" are the usual ones; a
// name alone stands for the usual ones of that name, a name with parameters for itself. They come
// in the order of the list of formats. Throws InvalidArgument as parse_format_spec does, and if a
// format does not suit the matrix.
std::vector<FormatSpec> parse_format_list(std::string_view text,
                                          const MatrixStatistics& statistics);

}  // namespace strata
