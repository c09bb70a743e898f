#include "strata/io/internal/line_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/io/internal/scan.hpp"

namespace strata::detail {

namespace {

[[noreturn]] void throw_too_long() {
  throw LineError(fmt::format("the line is longer than {} bytes", kLongestLine));
}

}  // namespace

void LineBlocks::fill(Array<char>& text, std::size_t size) {
  const std::size_t old_size = text.size();
  if (ended_ || old_size >= size) return;
  text.resize(size);
  text.resize(old_size + source_.read(std::span(text).subspan(old_size)));
  ended_ = text.size() < size;
}

bool LineBlocks::next_line(std::string& line) {
  line.clear();
  while (true) {
    const auto begin = rest_.begin() + static_cast<std::ptrdiff_t>(rest_begin_);
    const auto newline = std::find(begin, rest_.end(), '\n');
    line.append(begin, newline);
    if (newline != rest_.end()) {
      rest_begin_ = static_cast<std::size_t>(newline - rest_.begin()) + 1;
      line += '\n';
      bytes_in_lines_ += static_cast<std::int64_t>(line.size());
      return true;
    }
    if (line.size() > kLongestLine) throw_too_long();
    rest_.clear();
    rest_begin_ = 0;
    fill(rest_, block_bytes_);
    if (rest_.empty()) break;
  }
  if (line.empty()) return false;
  bytes_in_lines_ += static_cast<std::int64_t>(line.size());
  line += '\n';
  return true;
}

bool LineBlocks::next_block(Array<char>& text) {
  text.assign(rest_.begin() + static_cast<std::ptrdiff_t>(rest_begin_), rest_.end());
  rest_.clear();
  rest_begin_ = 0;
  std::size_t searched = 0;  // no newline before this position
  for (std::size_t size = block_bytes_;; size += block_bytes_) {
    fill(text, size);
    const auto unsearched = text.rend() - static_cast<std::ptrdiff_t>(searched);
    const auto newline = std::find(text.rbegin(), unsearched, '\n');
    if (newline != unsearched) {
      rest_.assign(newline.base(), text.end());
      text.erase(newline.base(), text.end());
      return true;
    }
    if (ended_) break;
    if (text.size() > kLongestLine) throw_too_long();
    searched = text.size();
  }
  if (text.empty()) return false;
  text.push_back('\n');
  return true;
}

}  // namespace strata::detail
