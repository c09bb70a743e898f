#include <fmt/format.h>

#include <algorithm>

#include "strata/base/error.hpp"
#include "strata/campaign/case.hpp"
#include "strata/campaign/internal/template_text.hpp"

namespace strata::campaign::detail {

TemplateText::TemplateText(std::string_view text) {
  std::string literal;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    const bool doubled = i + 1 < text.size() && text[i + 1] == letter;
    if ((letter == '{' || letter == '}') && doubled) {
      literal += letter;
      ++i;
    } else if (letter == '{') {
      const std::size_t end = text.find('}', i);
      const std::string name(text.substr(i + 1, end == std::string_view::npos ? 0 : end - i - 1));
      if (!is_variable_name(name)) {
        throw InvalidArgument(
            fmt::format("is '{}': a parameter is {{name}}, and {{{{ is a brace", text));
      }
      pieces_.push_back({std::exchange(literal, {})});
      pieces_.push_back({name, true});
      if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
      i = end;
    } else if (letter == '}') {
      throw InvalidArgument(fmt::format("is '{}': }} without {{; }}}} is a brace", text));
    } else {
      literal += letter;
    }
  }
  pieces_.push_back({literal});
}

}  // namespace strata::campaign::detail
