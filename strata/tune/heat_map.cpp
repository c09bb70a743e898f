#include "strata/tune/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace strata {

namespace {

constexpr double kGiga = 1e9;

// 0 for the smallest number of the table, 1 for the largest; 0 for all if they are equal.
class Heat {
 public:
  explicit Heat(const BlockTable& values)
      : low_(values.at(values.place_of_smallest())), high_(values.at(values.place_of_largest())) {}

  double of(double value) const {
    const double heat = (value - low_) / (high_ - low_);
    return std::isfinite(heat) ? std::clamp(heat, 0.0, 1.0) : 0.0;
  }

 private:
  double low_;
  double high_;
};

std::string heading(const HeatMap& map) {
  return map.unit.empty() ? map.title : fmt::format("{} [{}]", map.title, map.unit);
}

// Three digits that matter, without an exponent.
std::string number(double value) {
  if (!std::isfinite(value)) return "-";
  const int before = value < 10 ? 1 : value < 100 ? 2 : 3;
  return fmt::format("{:.{}f}", value, 3 - before);
}

std::string_view shade_of(double heat) {
  constexpr std::array<std::string_view, 5> kShades{" ", "░", "▒", "▓", "█"};
  const auto step = static_cast<std::size_t>(heat * kShades.size());
  return kShades[std::min(step, kShades.size() - 1)];
}

constexpr int kCell = 64;    // pixels
constexpr int kLeft = 70;    // of the cells: sizes and the word beside them
constexpr int kTop = 64;     // of the cells: title, word and sizes
constexpr int kMargin = 16;  // right of and below the cells

struct Colour {
  double red, green, blue;
};
// The blues of spy plots: the lightest stands out against white, the darkest is nearly black.
constexpr Colour kLightest{214, 230, 244};
constexpr Colour kDarkest{6, 22, 66};
// Cells darker than this carry light numbers.
constexpr double kLightNumbersFrom = 0.45;

std::string colour_of(double heat) {
  const auto mix = [&](double light, double dark) {
    return static_cast<int>(std::lround(light + (dark - light) * heat));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(kLightest.red, kDarkest.red),
                     mix(kLightest.green, kDarkest.green), mix(kLightest.blue, kDarkest.blue));
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += letter;
    }
  }
  return result;
}

std::string svg_cell(const HeatMap& map, const Heat& heat, BlockSize block) {
  const int x = kLeft + kCell * static_cast<int>(block_size_index(block.cols));
  const int y = kTop + kCell * static_cast<int>(block_size_index(block.rows));
  const double value = map.values.at(block);
  const double shade = heat.of(value);
  std::string cell = fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n"
      "<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n",
      x + 1, y + 1, kCell - 2, kCell - 2, colour_of(shade), x + kCell / 2, y + kCell / 2 + 5,
      shade > kLightNumbersFrom ? "#ffffff" : "#0b1f3a", number(value / map.scale));
  if (map.marked == block) {
    cell += fmt::format(
        "<rect class=\"best\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\"/>\n",
        x + 3, y + 3, kCell - 6, kCell - 6);
  }
  return cell;
}

}  // namespace

HeatMap performance_map(const BlockTable& flops_per_second) {
  return {.title = "PERF(r, c), dense matrix in blocks",
          .unit = "GF/s",
          .values = flops_per_second,
          .scale = kGiga,
          .marked = flops_per_second.place_of_largest()};
}

HeatMap fill_map(const BlockTable& fill) {
  return {.title = "fill(r, c), stored values per nonzero", .values = fill};
}

HeatMap expected_map(const BlockTable& expected) {
  return {.title = "PERF/fill, what to expect of the matrix",
          .unit = "GF/s",
          .values = expected,
          .scale = kGiga,
          .marked = expected.place_of_largest()};
}

std::string text_heat_map(const HeatMap& map) {
  const Heat heat(map.values);
  std::string text = heading(map) + "\n r \\ c";
  for (const int cols : kBlockSizes) fmt::format_to(std::back_inserter(text), "{:>7} ", cols);
  text += '\n';
  for (const int rows : kBlockSizes) {
    fmt::format_to(std::back_inserter(text), "{:>5} ", rows);
    for (const int cols : kBlockSizes) {
      const BlockSize block{rows, cols};
      const double value = map.values.at(block);
      fmt::format_to(std::back_inserter(text), "{}{:>6}{}", shade_of(heat.of(value)),
                     number(value / map.scale), map.marked == block ? '*' : ' ');
    }
    text += '\n';
  }
  return text;
}

std::string svg_heat_map(const HeatMap& map) {
  const Heat heat(map.values);
  const int side = kCell * static_cast<int>(kBlockSizes.size());
  const int width = kLeft + side + kMargin;
  const int height = kTop + side + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"14\" "
      "text-anchor=\"middle\">\n"
      "<title>{2}</title>\n"
      "<style>\n"
      ".paper {{ fill: #ffffff }} .word {{ fill: #1f2328 }}\n"
      ".best {{ stroke: #e36209; stroke-width: 4 }}\n"
      "@media (prefers-color-scheme: dark) {{\n"
      "  .paper {{ fill: #0d1117 }} .word {{ fill: #e6edf3 }}\n"
      "}}\n"
      "</style>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n"
      "<text class=\"word\" x=\"{3}\" y=\"20\">{2}</text>\n",
      width, height, escaped(heading(map)), width / 2);
  const int middle = side / 2;
  fmt::format_to(std::back_inserter(svg),
                 "<text class=\"word\" x=\"{}\" y=\"40\">columns of a block, c</text>\n"
                 "<text class=\"word\" transform=\"translate(18 {}) rotate(-90)\">rows of a block, "
                 "r</text>\n",
                 kLeft + middle, kTop + middle);
  for (std::size_t i = 0; i < kBlockSizes.size(); ++i) {
    const int along = kCell * static_cast<int>(i) + kCell / 2;
    fmt::format_to(std::back_inserter(svg),
                   "<text class=\"word\" x=\"{}\" y=\"{}\">{}</text>\n"
                   "<text class=\"word\" x=\"{}\" y=\"{}\">{}</text>\n",
                   kLeft + along, kTop - 6, kBlockSizes[i], kLeft - 14, kTop + along + 5,
                   kBlockSizes[i]);
  }
  for (const BlockSize block : all_block_sizes()) svg += svg_cell(map, heat, block);
  return svg + "</svg>\n";
}

}  // namespace strata
