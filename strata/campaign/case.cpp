#include "strata/campaign/case.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace strata::campaign {

namespace {

bool is_harmless(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view("_@%+=:,./-").find(letter) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_harmless)) return word;
  std::string text = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      text += "'\\''";
    } else {
      text += letter;
    }
  }
  return text + "'";
}

}  // namespace

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += quoted(word);
  }
  return text;
}

bool is_variable_name(const std::string& text) {
  const auto begins = [](char letter) {
    return letter == '_' || std::isalpha(static_cast<unsigned char>(letter)) != 0;
  };
  return !text.empty() && begins(text.front()) && std::ranges::all_of(text, [&](char letter) {
    return begins(letter) || std::isdigit(static_cast<unsigned char>(letter)) != 0;
  });
}

std::string Case::key() const {
  std::string text;
  for (const Variable& variable : environment) {
    text += variable.name + "=" + quoted(variable.value) + " ";
  }
  if (!launcher.empty()) text += shell_text(launcher) + " strata ";
  return text + shell_text(words);
}

}  // namespace strata::campaign
