#include "strata/io/spy_plot.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/replace_file.hpp"

namespace strata {

double DensityGrid::darkness(int x, int y) const {
  return at(x, y) == 0
             ? 0.0
             : std::log1p(static_cast<double>(at(x, y))) / std::log1p(static_cast<double>(fullest));
}

namespace {

// A matrix with one long side would be thinner than a dot: it gets this many blocks across.
constexpr Offset kThinnest = 12;

struct BlockShape {
  Offset rows = 1;
  Offset cols = 1;
};

BlockShape block_shape(Offset rows, Offset cols, int limit) {
  const Offset side = std::max<Offset>(ceil_div(std::max(rows, cols), limit), 1);
  const auto across = [&](Offset length) {
    return std::max<Offset>(std::min(side, length / kThinnest), 1);
  };
  return rows > cols ? BlockShape{side, across(cols)} : BlockShape{across(rows), side};
}

}  // namespace

template <Index I>
DensityGrid density_grid(const PatternView<I>& pattern, int limit) {
  const BlockShape block = block_shape(pattern.rows, pattern.cols, limit);
  DensityGrid grid;
  grid.width = static_cast<int>(std::max<Offset>(ceil_div<Offset>(pattern.cols, block.cols), 1));
  grid.height = static_cast<int>(std::max<Offset>(ceil_div<Offset>(pattern.rows, block.rows), 1));
  grid.counts.assign(static_cast<std::size_t>(grid.width) * grid.height, 0);
  const I block_cols = static_cast<I>(block.cols);
  parallel_dynamic(grid.height, 1, [&](Offset first, Offset last) {
    for (Offset y = first; y < last; ++y) {
      const Offset begin = pattern.row_offsets[std::min<Offset>(y * block.rows, pattern.rows)];
      const Offset end = pattern.row_offsets[std::min<Offset>((y + 1) * block.rows, pattern.rows)];
      Offset* counts = grid.counts.data() + y * grid.width;
      for (Offset k = begin; k < end; ++k) ++counts[pattern.columns[k] / block_cols];
    }
  });
  grid.fullest = *std::ranges::max_element(grid.counts);
  return grid;
}

namespace {

constexpr int kTextCircles = 20;
constexpr int kTextDots = 80;

void append_utf8(std::string& text, unsigned code_point) {
  text += static_cast<char>(0xe0 | (code_point >> 12));
  text += static_cast<char>(0x80 | ((code_point >> 6) & 0x3f));
  text += static_cast<char>(0x80 | (code_point & 0x3f));
}

std::vector<std::string> circles(const DensityGrid& grid) {
  std::vector<std::string> lines;
  for (int y = 0; y < grid.height; ++y) {
    std::string line;
    for (int x = 0; x < grid.width; ++x) {
      line += x == 0 ? "" : " ";
      line += grid.at(x, y) > 0 ? "●" : "·";
    }
    lines.push_back(line);
  }
  return lines;
}

// The Braille character U+2800 + bits for the 2 × 4 blocks from (2·column, 4·line) on. A dot is set
// when its block is darker than the dot's threshold (ordered dithering), and the darkest block of a
// character is always set: single entries do not vanish.
unsigned braille_at(const DensityGrid& grid, int column, int line) {
  constexpr std::array<std::array<unsigned, 2>, 4> kBit{
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  constexpr std::array<std::array<int, 2>, 4> kThreshold{{{0, 4}, {6, 2}, {1, 5}, {7, 3}}};
  unsigned bits = 0;
  unsigned darkest_bit = 0;
  double darkest = 0;
  for (int dy = 0; dy < 4; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int x = 2 * column + dx;
      const int y = 4 * line + dy;
      if (x >= grid.width || y >= grid.height) continue;
      const double darkness = grid.darkness(x, y);
      if (darkness > kThreshold[dy][dx] / 8.0) bits |= kBit[dy][dx];
      if (darkness > darkest) {
        darkest = darkness;
        darkest_bit = kBit[dy][dx];
      }
    }
  }
  return 0x2800 + (bits | darkest_bit);
}

std::vector<std::string> braille(const DensityGrid& grid) {
  std::vector<std::string> lines;
  for (int line = 0; line < ceil_div(grid.height, 4); ++line) {
    std::string text;
    for (int column = 0; column < ceil_div(grid.width, 2); ++column) {
      append_utf8(text, braille_at(grid, column, line));
    }
    lines.push_back(text);
  }
  return lines;
}

}  // namespace

template <Index I>
std::vector<std::string> text_spy_plot(const PatternView<I>& pattern) {
  if (pattern.rows == 0 || pattern.cols == 0) return {};
  const bool exact = std::max(pattern.rows, pattern.cols) <= kTextCircles;
  const DensityGrid grid = density_grid(pattern, exact ? kTextCircles : kTextDots);
  std::vector<std::string> lines = exact ? circles(grid) : braille(grid);
  const int width = exact ? 2 * grid.width - 1 : ceil_div(grid.width, 2);
  std::string edge;
  for (int x = 0; x < width; ++x) edge += "─";
  for (std::string& line : lines) line = "│" + line + "│";
  lines.insert(lines.begin(), "┌" + edge + "┐");
  lines.push_back("└" + edge + "┘");
  return lines;
}

namespace {

constexpr int kPixels = 720;     // of the longer side, at most
constexpr int kThinPixels = 24;  // of the shorter side, at least
constexpr int kPngMargin = 12;   // around the frame
constexpr int kSvgBlocks = 240;  // each costs bytes
constexpr int kSvgShades = 8;

// Pixels per block. Small matrices get large blocks, thin ones wider blocks across.
struct Scale {
  int x;
  int y;

  explicit Scale(const DensityGrid& grid) {
    const int both = std::clamp(kPixels / std::max(grid.width, grid.height), 1, 32);
    x = std::max(both, ceil_div(kThinPixels, grid.width));
    y = std::max(both, ceil_div(kThinPixels, grid.height));
  }
};

struct Colour {
  std::uint8_t red, green, blue;
};

// From a light blue that still stands out against white to a blue that is nearly black.
constexpr Colour kLightest{143, 184, 222};
constexpr Colour kDarkest{6, 22, 66};
constexpr Colour kFrame{170, 178, 189};

Colour shade(double darkness) {
  const auto mix = [&](std::uint8_t light, std::uint8_t dark) {
    return static_cast<std::uint8_t>(std::lround(light + (dark - light) * darkness));
  };
  return {mix(kLightest.red, kDarkest.red), mix(kLightest.green, kDarkest.green),
          mix(kLightest.blue, kDarkest.blue)};
}

void append_big_endian(std::string& text, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) text += static_cast<char>((number >> shift) & 0xff);
}

// Length, name, data, checksum of name and data (PNG specification, section 5.3).
void append_chunk(std::string& png, const std::string& name, const std::string& data) {
  const std::string checked = name + data;
  append_big_endian(png, narrow<std::uint32_t>(data.size(), "the size of a PNG chunk"));
  png += checked;
  append_big_endian(
      png, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                            static_cast<uInt>(checked.size()))));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string result(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()),
                Z_BEST_COMPRESSION) != Z_OK) {
    throw Error("zlib cannot compress a spy plot");
  }
  result.resize(size);
  return result;
}

// Colour numbers of the palette: 0 paper, 1 frame, 2 … 255 from the lightest to the darkest shade.
constexpr char kPaperColour = 0;
constexpr char kFrameColour = 1;
constexpr int kFirstShade = 2;

std::string palette() {
  std::string colours;
  const auto add = [&](Colour colour) {
    for (const std::uint8_t part : {colour.red, colour.green, colour.blue}) {
      colours += static_cast<char>(part);
    }
  };
  add({255, 255, 255});
  add(kFrame);
  for (int i = kFirstShade; i < 256; ++i) add(shade((i - kFirstShade) / (255.0 - kFirstShade)));
  return colours;
}

char colour_number(const DensityGrid& grid, int x, int y) {
  if (grid.at(x, y) == 0) return kPaperColour;
  const double step = grid.darkness(x, y) * (255 - kFirstShade);
  return static_cast<char>(kFirstShade + std::lround(step));
}

}  // namespace

template <Index I>
std::string png_spy_plot(const PatternView<I>& pattern) {
  const DensityGrid grid = density_grid(pattern, kPixels);
  const Scale scale(grid);
  const int frame = kPngMargin + 1;
  const int width = grid.width * scale.x + 2 * frame;
  const int height = grid.height * scale.y + 2 * frame;

  // Scan lines, each behind the number of its filter: 0, none.
  const auto stride = static_cast<std::size_t>(width) + 1;
  std::string pixels(stride * static_cast<std::size_t>(height), kPaperColour);
  const auto pixel = [&](int x, int y) -> char& {
    return pixels[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x) + 1];
  };
  for (int x = kPngMargin; x < width - kPngMargin; ++x) {
    pixel(x, kPngMargin) = pixel(x, height - kPngMargin - 1) = kFrameColour;
  }
  for (int y = kPngMargin; y < height - kPngMargin; ++y) {
    pixel(kPngMargin, y) = pixel(width - kPngMargin - 1, y) = kFrameColour;
  }
  for (int y = 0; y < grid.height * scale.y; ++y) {
    for (int x = 0; x < grid.width * scale.x; ++x) {
      pixel(frame + x, frame + y) = colour_number(grid, x / scale.x, y / scale.y);
    }
  }

  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(width));
  append_big_endian(header, static_cast<std::uint32_t>(height));
  // 8 bits per pixel, palette, deflate, standard filters, not interlaced.
  header += std::string{8, 3, 0, 0, 0};
  std::string png("\x89PNG\r\n\x1a\n");
  append_chunk(png, "IHDR", header);
  append_chunk(png, "PLTE", palette());
  append_chunk(png, "IDAT", deflated(pixels));
  append_chunk(png, "IEND", "");
  return png;
}

namespace {

// The blocks of one shade as one path: runs of neighbours in a line become one rectangle.
std::string path_of_shade(const DensityGrid& grid, int wanted) {
  const auto shade_at = [&](int x, int y) {
    return static_cast<int>(std::ceil(grid.darkness(x, y) * kSvgShades));
  };
  std::string path;
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width;) {
      const int first = x;
      while (x < grid.width && shade_at(x, y) == wanted) ++x;
      if (x == first) {
        ++x;
      } else {
        fmt::format_to(std::back_inserter(path), "M{} {}h{}v1h-{}z", first, y, x - first,
                       x - first);
      }
    }
  }
  return path;
}

std::string hex(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

}  // namespace

template <Index I>
std::string svg_spy_plot(const PatternView<I>& pattern) {
  const DensityGrid grid = density_grid(pattern, kSvgBlocks);
  const Scale scale(grid);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {2} {3}\" preserveAspectRatio=\"none\">\n"
      "<title>{4} x {5} matrix with {6} entries</title>\n"
      "<rect width=\"{2}\" height=\"{3}\" fill=\"#ffffff\" stroke=\"{7}\" stroke-width=\"2\" "
      "vector-effect=\"non-scaling-stroke\"/>\n",
      grid.width * scale.x, grid.height * scale.y, grid.width, grid.height, pattern.rows,
      pattern.cols, pattern.entries(), hex(kFrame));
  for (int level = 1; level <= kSvgShades; ++level) {
    const std::string path = path_of_shade(grid, level);
    if (path.empty()) continue;
    fmt::format_to(std::back_inserter(svg),
                   "<path shape-rendering=\"crispEdges\" fill=\"{}\" d=\"{}\"/>\n",
                   hex(shade((level - 1) / (kSvgShades - 1.0))), path);
  }
  return svg + "</svg>\n";
}

namespace {

bool ends_in(const std::filesystem::path& path, std::string_view ending) {
  return std::ranges::equal(path.extension().string(), ending, {}, [](char letter) {
    return 'A' <= letter && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
}

}  // namespace

void require_spy_plot_name(const std::filesystem::path& path) {
  if (!ends_in(path, ".png") && !ends_in(path, ".svg")) {
    throw InvalidArgument(
        fmt::format("{}: the name of a spy plot ends in .png or .svg", path.string()));
  }
}

template <Index I>
void write_spy_plot(const std::filesystem::path& path, const PatternView<I>& pattern) {
  require_spy_plot_name(path);
  replace_file(path, ends_in(path, ".png") ? png_spy_plot(pattern) : svg_spy_plot(pattern));
}

#define STRATA_INSTANTIATE(I)                                             \
  template DensityGrid density_grid(const PatternView<I>&, int);          \
  template std::vector<std::string> text_spy_plot(const PatternView<I>&); \
  template std::string png_spy_plot(const PatternView<I>&);               \
  template std::string svg_spy_plot(const PatternView<I>&);               \
  template void write_spy_plot(const std::filesystem::path&, const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
