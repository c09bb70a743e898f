#include "cli/parts/density_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/parts/terminal.hpp"

namespace strata::cli {

namespace {

// A number at a place of a line, unless something is there.
void put(std::string& line, std::size_t at, const std::string& text) {
  const std::size_t begin =
      std::min(at < text.size() / 2 ? 0 : at - text.size() / 2, line.size() - text.size());
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (line[begin + k] != ' ') return;
  }
  line.replace(begin, text.size(), text);
}

}  // namespace

std::string density_plot(const std::vector<double>& values, double low, double high, int height,
                         int indent) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty()) return "";
  const double largest = *std::max_element(values.begin(), values.end());
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text;
  for (int row = height - 1; row >= 0; --row) {
    text += margin;
    for (const double value : values) {
      const double cells = largest > 0 ? value / largest * height - row : 0;
      text += kBlocks[std::clamp(static_cast<int>(std::lround(8 * cells)), 0, 8)];
    }
    text += row == height - 1 ? fmt::format(" {:.3g}\n", largest) : "\n";
  }
  std::string axis(std::max<std::size_t>(values.size(), 24), ' ');
  put(axis, 0, fmt::format("{:.3g}", low));
  put(axis, values.size() - 1, fmt::format("{:.3g}", high));
  if (low < 0 && high > 0) {
    put(axis, static_cast<std::size_t>(-low / (high - low) * static_cast<double>(values.size())),
        "0");
  }
  std::string ruler;
  for (std::size_t k = 0; k < values.size(); ++k) ruler += "─";
  return text + margin + ruler + "\n" + margin + axis + "\n";
}

}  // namespace strata::cli
