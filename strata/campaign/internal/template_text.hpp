// Text with parameters in it: "stencil27:32x32x{n}" becomes one text per value of n. {{ and }}
// stand for braces.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::campaign::detail {

class TemplateText {
 public:
  // Throws InvalidArgument for braces without a partner or a name.
  explicit TemplateText(std::string_view text);

  // Those that appear, each once.
  const std::vector<std::string>& names() const { return names_; }
  // With what `value_of(name)` gives for each.
  template <class ValueOf>
  std::string with(ValueOf&& value_of) const {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.is_name ? value_of(piece.text) : piece.text;
    return text;
  }

 private:
  struct Piece {
    std::string text;
    bool is_name = false;
  };

  std::vector<Piece> pieces_;
  std::vector<std::string> names_;
};

}  // namespace strata::campaign::detail
