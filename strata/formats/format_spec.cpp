#include "strata/formats/format_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "strata/base/error.hpp"
#include "strata/formats/format_parameters.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/statistics.hpp"

namespace strata {

namespace {

struct Parameter {
  std::string_view name;
  AllowedNumbers allowed;
  std::optional<Offset> by_default;  // none: chosen for the matrix
  std::string_view (*label)(Offset);
};

// What the class of a format says about itself. Its value and index types play no part.
struct Description {
  std::string_view label;
  std::vector<Parameter> parameters;
  std::vector<std::vector<NamedNumber>> usual;  // parameters that are worth trying
  bool (*suits)(const MatrixStatistics&);
};

template <class Options>
std::vector<Parameter> parameters_of() {
  std::vector<Parameter> parameters;
  if constexpr (HasParameters<Options>) {
    for (const auto& parameter : Options::kParameters) {
      const bool automatic = parameter.by_default == ParameterDefault::automatic;
      parameters.push_back({parameter.name, parameter.allowed,
                            automatic ? std::nullopt : std::optional(Options{}.*parameter.field),
                            parameter.label});
    }
  }
  return parameters;
}

template <class Options>
std::vector<std::vector<NamedNumber>> usual_parameters() {
  std::vector<std::vector<NamedNumber>> usual;
  if constexpr (requires { Options::usual(); }) {
    for (const Options& options : Options::usual()) {
      std::vector<NamedNumber>& numbers = usual.emplace_back();
      for (const auto& parameter : Options::kParameters) {
        if (options.*parameter.field == Options{}.*parameter.field) continue;
        numbers.push_back({std::string(parameter.name), options.*parameter.field});
      }
    }
  } else {
    usual.emplace_back();
  }
  return usual;
}

template <class Matrix>
Description description_of(std::string_view label) {
  Description description{label, {}, {{}}, [](const MatrixStatistics&) { return true; }};
  if constexpr (HasOptions<Matrix>) {
    description.parameters = parameters_of<typename Matrix::Options>();
    description.usual = usual_parameters<typename Matrix::Options>();
  }
  if constexpr (requires(const MatrixStatistics& statistics) { Matrix::suits(statistics); }) {
    description.suits = &Matrix::suits;
  }
  return description;
}

const Description& description_of(Format format) {
  switch (format) {
#define STRATA_CASE(enumerator, type, name, label)                                            \
  case Format::enumerator: {                                                                  \
    static const Description description = description_of<type<double, std::int32_t>>(label); \
    return description;                                                                       \
  }
    STRATA_FOR_EACH_FORMAT(STRATA_CASE)
#undef STRATA_CASE
    case Format::automatic: break;
  }
  throw InvalidArgument("a format is needed, not one that is to be chosen");
}

// "slice_height and sort_window"
std::string names_text(const std::vector<Parameter>& parameters) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) text += i + 1 == parameters.size() ? " and " : ", ";
    text += parameters[i].name;
  }
  return text;
}

void require_known(Format format, const std::vector<Parameter>& parameters,
                   const NamedNumber& given) {
  if (std::ranges::find(parameters, given.name, &Parameter::name) != parameters.end()) return;
  throw InvalidArgument(fmt::format("the format {} has no parameter '{}'; it has {}",
                                    name_of(format), given.name,
                                    parameters.empty() ? "none" : names_text(parameters)));
}

std::optional<Offset> chosen_value(Format format, const Parameter& parameter,
                                   const std::vector<NamedNumber>& given) {
  const auto found = std::ranges::find(given, parameter.name, &NamedNumber::name);
  if (found == given.end()) return parameter.by_default;
  if (std::ranges::count(given, parameter.name, &NamedNumber::name) > 1) {
    throw InvalidArgument(
        fmt::format("{} of the format {} is given twice", parameter.name, name_of(format)));
  }
  if (!parameter.allowed.contain(found->value)) {
    throw InvalidArgument(fmt::format("{} of the format {} is {}, not {}", parameter.name,
                                      name_of(format), parameter.allowed.text, found->value));
  }
  return found->value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

NamedNumber parse_parameter(Format format, std::string_view text) {
  const std::size_t equals = text.find('=');
  Offset value = 0;
  if (equals != std::string_view::npos) {
    const std::string_view number = text.substr(equals + 1);
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, value);
    if (error == std::errc{} && stop == end) return {std::string(text.substr(0, equals)), value};
  }
  const std::vector<Parameter>& parameters = description_of(format).parameters;
  throw InvalidArgument(
      fmt::format("'{}' of the format {} is not PARAMETER=NUMBER; its parameters are {}", text,
                  name_of(format), parameters.empty() ? "none" : names_text(parameters)));
}

// A name for a format with one of its parameters.
struct Alias {
  std::string_view name;
  Format format;
  std::string_view parameter;
  Offset value;
};
constexpr std::array kAliases{Alias{"packed-sell-full", Format::packed_sell, "values",
                                    static_cast<Offset>(StoredValues::full)}};

}  // namespace

FormatSpec::FormatSpec(Format format, const std::vector<NamedNumber>& given) : format_(format) {
  const std::vector<Parameter>& parameters = description_of(format).parameters;
  for (const NamedNumber& number : given) require_known(format, parameters, number);
  for (const Parameter& parameter : parameters) {
    if (const auto value = chosen_value(format, parameter, given)) {
      parameters_.push_back({std::string(parameter.name), *value});
    }
  }
}

namespace {

std::vector<NamedNumber> parameters_of(const StoredFormat& stored) {
  std::vector<NamedNumber> numbers;
  if (is_sliced(stored.format)) numbers.push_back({"slice_height", stored.slice_height});
  if (stored.format == Format::packed_sell) {
    numbers.push_back({"values", static_cast<Offset>(stored.values)});
  }
  return numbers;
}

}  // namespace

FormatSpec::FormatSpec(const StoredFormat& stored)
    : FormatSpec(stored.format, parameters_of(stored)) {}

std::optional<Offset> FormatSpec::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &NamedNumber::name);
  return found == parameters_.end() ? std::nullopt : std::optional(found->value);
}

std::string_view name_of(const FormatSpec& spec) {
  for (const Alias& alias : kAliases) {
    if (spec.format() == alias.format && spec.parameter(alias.parameter) == alias.value) {
      return alias.name;
    }
  }
  return name_of(spec.format());
}

namespace {

Format require_format_named(std::string_view name) {
  const std::optional<Format> format = format_named(name);
  if (format && *format != Format::automatic) return *format;
  std::vector<std::string_view> names;
  for (const Format known : kFormats) names.push_back(name_of(known));
  for (const Alias& alias : kAliases) names.push_back(alias.name);
  throw InvalidArgument(
      fmt::format("there is no format '{}'; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace

FormatSpec parse_format_spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<NamedNumber> given;
  const auto alias = std::ranges::find(kAliases, name, &Alias::name);
  if (alias != kAliases.end()) given.push_back({std::string(alias->parameter), alias->value});
  const Format format = alias != kAliases.end() ? alias->format : require_format_named(name);
  if (colon != std::string_view::npos) {
    for (const std::string_view part : split(text.substr(colon + 1), ',')) {
      given.push_back(parse_parameter(format, part));
    }
  }
  return FormatSpec(format, given);
}

std::string text_of(const FormatSpec& spec) {
  std::string text(name_of(spec.format()));
  char separator = ':';
  for (const NamedNumber& parameter : spec.parameters()) {
    text += fmt::format("{}{}={}", separator, parameter.name, parameter.value);
    separator = ',';
  }
  return text;
}

std::string label_of(const FormatSpec& spec) {
  const Description& description = description_of(spec.format());
  std::string label(description.label);
  for (const Parameter& parameter : description.parameters) {
    const std::optional<Offset> value = spec.parameter(parameter.name);
    const std::string place = fmt::format("{{{}}}", parameter.name);
    if (const std::size_t at = label.find(place); at != std::string::npos) {
      label.replace(at, place.size(), value ? std::to_string(*value) : "auto");
    } else if (value != parameter.by_default) {
      label += parameter.label ? fmt::format(", {}", parameter.label(*value))
                               : fmt::format(", {} {}", parameter.name, *value);
    }
  }
  return label;
}

std::vector<FormatSpec> usual_specs(const MatrixStatistics& statistics) {
  std::vector<FormatSpec> specs;
  for (const Format format : kFormats) {
    const Description& description = description_of(format);
    if (!description.suits(statistics)) continue;
    for (const auto& parameters : description.usual) specs.emplace_back(format, parameters);
  }
  return specs;
}

std::vector<std::string> split_format_list(std::string_view text) {
  std::vector<std::string> specs;
  for (const std::string_view part : split(text, ',')) {
    const bool continues = part.find('=') != std::string_view::npos &&
                           part.find(':') == std::string_view::npos && !specs.empty() &&
                           specs.back().find(':') != std::string::npos;
    if (continues) {
      specs.back() += fmt::format(",{}", part);
    } else {
      specs.emplace_back(part);
    }
  }
  return specs;
}

std::vector<FormatSpec> parse_format_list(std::string_view text,
                                          const MatrixStatistics& statistics) {
  const std::vector<FormatSpec> usual = usual_specs(statistics);
  if (text == "all") return usual;
  std::vector<FormatSpec> specs;
  const auto add = [&](const FormatSpec& spec) {
    if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(spec);
  };
  for (const std::string& word : split_format_list(text)) {
    const FormatSpec spec = parse_format_spec(word);
    if (!description_of(spec.format()).suits(statistics)) {
      throw InvalidArgument(
          fmt::format("there is no format {} for this matrix", name_of(spec.format())));
    }
    if (word.find(':') != std::string::npos) {
      add(spec);
      continue;
    }
    for (const FormatSpec& other : usual) {
      if (name_of(other) == name_of(spec)) add(other);
    }
  }
  std::ranges::stable_sort(specs, {}, &FormatSpec::format);
  return specs;
}

}  // namespace strata
