#include "strata/tune/heat_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/tune/support.hpp"

namespace strata::test {
namespace {

const BlockTable kSpeeds = table_of([](int r, int c) { return 1e9 * (10 * r + c); });

int count_of(std::string_view text, std::string_view word) {
  int count = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(HeatMap, IsATableForATerminal) {
  EXPECT_EQ(text_heat_map(performance_map(kSpeeds)),
            "PERF(r, c), dense matrix in blocks [GF/s]\n"
            " r \\ c      1       2       3       4       6       8 \n"
            "    1    11.0    12.0    13.0    14.0    16.0    18.0 \n"
            "    2    21.0    22.0    23.0    24.0    26.0 ░  28.0 \n"
            "    3 ░  31.0 ░  32.0 ░  33.0 ░  34.0 ░  36.0 ░  38.0 \n"
            "    4 ░  41.0 ▒  42.0 ▒  43.0 ▒  44.0 ▒  46.0 ▒  48.0 \n"
            "    6 ▓  61.0 ▓  62.0 ▓  63.0 ▓  64.0 ▓  66.0 ▓  68.0 \n"
            "    8 █  81.0 █  82.0 █  83.0 █  84.0 █  86.0 █  88.0*\n");
}

TEST(HeatMap, OfEqualNumbersHasNoShades) {
  const BlockTable ones = table_of([](int, int) { return 1.0; });
  const std::string text = text_heat_map(fill_map(ones));
  EXPECT_EQ(count_of(text, "1.00"), 36);
  EXPECT_EQ(count_of(text, "█") + count_of(text, "░"), 0);
  EXPECT_EQ(count_of(text, "*"), 0);
}

TEST(HeatMap, MarksTheChoice) {
  const std::string text = text_heat_map(expected_map(kSpeeds));
  EXPECT_EQ(count_of(text, "*"), 1);
  EXPECT_NE(text.find("88.0*"), std::string::npos);
}

TEST(HeatMap, IsAWholeSvgDocument) {
  const std::string svg = svg_heat_map(performance_map(kSpeeds));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count_of(svg, "<rect"), 1 + 36 + 1);  // paper, cells, mark
  EXPECT_EQ(count_of(svg, "<text"), 1 + 2 + 12 + 36);
  EXPECT_EQ(count_of(svg, "class=\"best\""), 1);
  EXPECT_EQ(count_of(svg, "prefers-color-scheme: dark"), 1);
  EXPECT_EQ(count_of(svg, ">88.0<"), 1);
  EXPECT_NE(svg.find("columns of a block, c"), std::string::npos);
  EXPECT_NE(svg.find("rows of a block, r"), std::string::npos);
  EXPECT_EQ(svg.find("http", 40), std::string::npos);  // nothing to load
}

TEST(HeatMap, EscapesTheTitle) {
  const std::string svg = svg_heat_map({.title = "a < b & c", .values = kSpeeds});
  EXPECT_EQ(count_of(svg, "a &lt; b &amp; c"), 2);
  EXPECT_EQ(svg.find("a < b"), std::string::npos);
}

}  // namespace
}  // namespace strata::test
