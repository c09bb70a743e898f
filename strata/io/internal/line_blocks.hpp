// LineBlocks cuts a stream of bytes at line ends: first line by line, for the header, then into
// blocks that threads parse independently.
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/array.hpp"
#include "strata/io/internal/source.hpp"

namespace strata::detail {

// No line of a matrix comes near this; without a bound a compressed file of a few kilobytes could
// ask for gigabytes.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

class LineBlocks {
 public:
  // Blocks have about `block_bytes`, and always at least one line. Borrows the source.
  LineBlocks(ByteSource& source, std::size_t block_bytes)
      : source_(source), block_bytes_(block_bytes) {}

  // The next line with its newline (added if the last one has none); false at the end. Throws
  // LineError for a line longer than kLongestLine, and whatever the source throws; so does
  // next_block.
  bool next_line(std::string& line);

  // All that next_line has not taken, in whole lines; the last byte is a newline.
  bool next_block(Array<char>& text);

  // True when no more than what has been read is left: less than two blocks.
  bool source_ended() const { return ended_; }
  double fraction() const { return source_.fraction(); }
  // Bytes of the source that next_line has taken.
  std::int64_t bytes_in_lines() const { return bytes_in_lines_; }

 private:
  void fill(Array<char>& text, std::size_t size);

  ByteSource& source_;
  std::size_t block_bytes_;
  Array<char> rest_;            // read, but not yet handed out …
  std::size_t rest_begin_ = 0;  // … from here on
  bool ended_ = false;
  std::int64_t bytes_in_lines_ = 0;
};

}  // namespace strata::detail
