#include "strata/io/spy_plot.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <numeric>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/replace_file.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using Index = std::int32_t;

Csr<double, Index> tridiagonal(int rows) {
  test::Entries<double, Index> entries(rows, rows, 1);
  for (int i = 0; i < rows; ++i) {
    for (int j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) entries.add(i, j);
  }
  return entries.coo().to_csr();
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

struct Png {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::string pixels;  // scan lines, each behind its filter number
};

// Reads a PNG as a viewer does: signature, checksums, deflated scan lines.
Png parse_png(std::string_view file) {
  Png png;
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  file.remove_prefix(8);
  std::string packed;
  std::string last;
  while (file.size() >= 12) {
    const std::uint32_t length = big_endian(file);
    const std::string_view body = file.substr(4, 4 + length);
    EXPECT_EQ(big_endian(file.substr(8 + length)),
              crc32(0, reinterpret_cast<const Bytef*>(body.data()), 4 + length));
    last = body.substr(0, 4);
    if (last == "IHDR") {
      png.width = big_endian(body.substr(4));
      png.height = big_endian(body.substr(8));
    }
    if (last == "IDAT") packed += body.substr(4);
    file.remove_prefix(12 + length);
  }
  EXPECT_EQ(last, "IEND");
  EXPECT_TRUE(file.empty());
  uLongf size = (png.width + 1) * png.height;
  png.pixels.resize(size);
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(png.pixels.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(size, png.pixels.size());
  return png;
}

TEST(SpyPlot, GridCountsEveryEntryOnceForAnyShapeAndNumberOfThreads) {
  for (const auto& [name, entries] : test::awkward_matrices<double, Index>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    for (const int limit : {1, 7, 20, 80, 720}) {
      set_thread_count(1);
      const DensityGrid serial = density_grid(matrix.pattern(), limit);
      set_thread_count(4);
      const DensityGrid grid = density_grid(matrix.pattern(), limit);
      set_thread_count(0);
      EXPECT_EQ(grid.counts, serial.counts);
      EXPECT_LE(std::max(grid.width, grid.height), std::max(limit, 24));
      EXPECT_EQ(std::accumulate(grid.counts.begin(), grid.counts.end(), Offset{0}), matrix.nnz());
    }
  }
}

TEST(SpyPlot, SmallMatricesShowEveryEntryAsText) {
  const std::vector<std::string> expected = {"┌─────┐", "│● ● ·│", "│● ● ●│", "│· ● ●│", "└─────┘"};
  EXPECT_EQ(text_spy_plot(tridiagonal(3).pattern()), expected);
  EXPECT_TRUE(text_spy_plot(Csr<double, Index>().pattern()).empty());
}

TEST(SpyPlot, TextOfLargerMatricesIsBrailleWithADotPerEntry) {
  test::Entries<double, Index> corners(40, 40, 1);
  corners.add(0, 0);
  corners.add(39, 39);
  const auto lines = text_spy_plot(corners.coo().to_csr().pattern());
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_TRUE(lines[1].starts_with("│⠁⠀")) << lines[1];
  EXPECT_TRUE(lines[10].ends_with("⠀⢀│")) << lines[10];
}

TEST(SpyPlot, TextFitsATerminalAndSingleEntriesDoNotVanish) {
  test::Entries<double, Index> entries(100000, 100000, 1);
  for (int i = 0; i < 1000; ++i) entries.add(i, i);
  entries.add(99999, 0);
  const auto lines = text_spy_plot(entries.coo().to_csr().pattern());
  ASSERT_EQ(lines.size(), 22u);
  EXPECT_TRUE(lines[20].starts_with("│⡀")) << lines[20];
}

TEST(SpyPlot, PngIsValidForEveryShape) {
  for (const auto& [name, entries] : test::awkward_matrices<double, Index>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    const Png png = parse_png(png_spy_plot(matrix.pattern()));
    EXPECT_GE(png.width, 24u);
    EXPECT_GE(png.height, 24u);
    EXPECT_LE(std::max(png.width, png.height), 800u);
    const bool dots = std::ranges::any_of(png.pixels, [](unsigned char c) { return c >= 2; });
    EXPECT_EQ(dots, matrix.nnz() > 0);
  }
}

TEST(SpyPlot, PngOfASmallMatrixShowsItsEntries) {
  const Png png = parse_png(png_spy_plot(tridiagonal(3).pattern()));
  const auto dark_at = [&](int row, int column) {
    const std::size_t block = (png.width - 26) / 3;
    const std::size_t y = 13 + block * row + block / 2;
    const std::size_t x = 13 + block * column + block / 2;
    return png.pixels[y * (png.width + 1) + x + 1] != 0;
  };
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      EXPECT_EQ(dark_at(row, column), std::abs(row - column) <= 1) << row << " " << column;
    }
  }
}

TEST(SpyPlot, SvgJoinsNeighboursOfALine) {
  const std::string svg = svg_spy_plot(tridiagonal(3).pattern());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("<title>3 x 3 matrix with 7 entries</title>"), std::string::npos);
  EXPECT_NE(svg.find("d=\"M0 0h2v1h-2zM0 1h3v1h-3zM1 2h2v1h-2z\""), std::string::npos) << svg;
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of its own, removed at the end.
class SpyPlotFile : public testing::Test {
 protected:
  SpyPlotFile() { std::filesystem::create_directories(folder_); }
  ~SpyPlotFile() override { std::filesystem::remove_all(folder_); }

  Offset files() const {
    return std::distance(std::filesystem::directory_iterator(folder_),
                         std::filesystem::directory_iterator());
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      (std::string("strata-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
       std::to_string(::getpid()));
};

TEST_F(SpyPlotFile, TheEndingChoosesTheKind) {
  const auto matrix = tridiagonal(30);
  write_spy_plot(folder_ / "a.png", matrix.pattern());
  write_spy_plot(folder_ / "b.SVG", matrix.pattern());
  EXPECT_EQ(contents_of(folder_ / "a.png"), png_spy_plot(matrix.pattern()));
  EXPECT_EQ(contents_of(folder_ / "b.SVG"), svg_spy_plot(matrix.pattern()));
  EXPECT_THROW(write_spy_plot(folder_ / "c.jpg", matrix.pattern()), InvalidArgument);
  EXPECT_THROW(write_spy_plot(folder_ / "png", matrix.pattern()), InvalidArgument);
  EXPECT_EQ(files(), 2);
}

TEST_F(SpyPlotFile, ReplacingLeavesNothingElseBehindAndFollowsLinks) {
  replace_file(folder_ / "file", "old");
  std::filesystem::create_symlink("file", folder_ / "link");
  replace_file(folder_ / "link", "new");
  EXPECT_EQ(contents_of(folder_ / "file"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(files(), 2);
}

TEST_F(SpyPlotFile, WhatIsNoRegularFileIsNotReplaced) {
  replace_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THROW(replace_file(folder_, "x"), FileError);
  EXPECT_THROW(replace_file(folder_ / "missing" / "file", "x"), FileError);
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace strata
