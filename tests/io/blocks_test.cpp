// Results do not depend on where a file is cut into blocks, nor on which threads parse them.
#include <gtest/gtest.h>

#include "strata/base/random.hpp"
#include "strata/io/internal/line_blocks.hpp"
#include "tests/io/support.hpp"

namespace strata {
namespace {

using test::error_of;
using test::gzipped;
using test::read_text;

const std::string kText =
    "%%MatrixMarket matrix coordinate real symmetric\r\n% first\n\n4 4 6\n\n% second\r\n"
    "1 1 1.5\n  2 1\t-2e1  \r\n\n4 4 +.25\n%\n%\n4 3 1\n4 3 2\n3 1 1e-3\n   \n% last";
const std::string kArray =
    "%%MatrixMarket matrix array real skew-symmetric\n4 4\n1\n\n2\n% x\n3\n4\n5\n6";

TEST(LineBlocks, HoldWholeLinesAndTogetherAllBytes) {
  for (std::size_t block_bytes = 1; block_bytes <= kText.size() + 1; ++block_bytes) {
    for (int lines_first = 0; lines_first < 4; ++lines_first) {
      const auto source = detail::from_memory(kText);
      detail::LineBlocks lines(*source, block_bytes);
      std::string together;
      std::string line;
      for (int i = 0; i < lines_first && lines.next_line(line); ++i) together += line;
      Array<char> block;
      while (lines.next_block(block)) {
        ASSERT_FALSE(block.empty());
        EXPECT_EQ(block.back(), '\n');
        together.append(block.begin(), block.end());
      }
      EXPECT_EQ(together, kText + "\n");
      EXPECT_FALSE(lines.next_block(block));
      EXPECT_FALSE(lines.next_line(line));
    }
  }
}

TEST(MatrixMarketBlocks, EveryCutGivesTheSameMatrix) {
  for (const std::string& text : {kText, kArray}) {
    const auto expected = read_text(text);
    for (const int threads : {1, 3}) {
      const test::ThreadCount count(threads);
      for (std::size_t block_bytes = 1; block_bytes <= text.size() + 1; ++block_bytes) {
        ASSERT_EQ(read_text(text, block_bytes), expected) << block_bytes;
        ASSERT_EQ(read_text(gzipped(text), block_bytes), expected) << block_bytes;
      }
    }
  }
}

TEST(MatrixMarketBlocks, EveryCutAndEveryTruncationGivesTheSameError) {
  const test::ThreadCount count(1);
  for (std::size_t length = 0; length < kText.size(); ++length) {
    const std::string text = kText.substr(0, length);
    const std::string expected = error_of(text);
    for (const std::size_t block_bytes : {1UL, 2UL, 7UL, 30UL, length + 1}) {
      ASSERT_EQ(error_of(text, block_bytes), expected) << length << ' ' << block_bytes;
      ASSERT_EQ(error_of(gzipped(text), block_bytes), expected) << length << ' ' << block_bytes;
    }
  }
}

TEST(MatrixMarketBlocks, ManyBlocksGiveTheSameMatrixForAnyNumberOfThreads) {
  // 1e16 + 1 + … − 1e16 gives another result in every order of summation.
  const Random random(4);
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n50 50 30000\n";
  for (int k = 0; k < 30000; ++k) {
    const auto row = random.below(3 * k, 50);
    text += std::to_string(row + 1) + " " + std::to_string(random.below(3 * k + 1, row + 1) + 1) +
            " " + std::to_string(random.uniform(3 * k + 2, -1e16, 1e16)) + "\n";
  }
  const auto expected = [&] {
    const test::ThreadCount count(1);
    return read_text(text);
  }();
  for (const int threads : {2, 3, 7}) {
    const test::ThreadCount count(threads);
    EXPECT_EQ(read_text(text), expected);
    EXPECT_EQ(read_text(text, 1000), expected);
    EXPECT_EQ(read_text(gzipped(text), 1000), expected);
  }
}

}  // namespace
}  // namespace strata
