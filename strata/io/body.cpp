#include "strata/io/internal/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/internal/block_parser.hpp"
#include "strata/io/internal/scan.hpp"

namespace strata::detail {

namespace {

// Hands out the blocks in the order of the file, to one thread after the other, and stops as soon
// as one of them shows that the file is wrong. What is handed out is then always a whole beginning
// of the file, and the first error of the file is in it.
template <Value V, Index I>
class BlockQueue {
 public:
  BlockQueue(BlockSource& source, Offset expected_entries)
      : source_(source), expected_entries_(expected_entries) {}

  // Where to put the entries of the text; null at the end.
  EntryBlock<V, I>* next(Array<char>& text, double& fraction) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return nullptr;
    try {
      stopped_ = !source_.next_block(text);
    } catch (const Error&) {
      stopped_ = true;
      failure_ = std::current_exception();
    }
    fraction = source_.fraction();
    return stopped_ ? nullptr : &blocks_.emplace_back();
  }

  void done(const EntryBlock<V, I>& block) {
    const std::lock_guard lock(mutex_);
    entries_ += block.entries();
    if (!block.error.empty() || entries_ > expected_entries_) stopped_ = true;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

  EntryBlocks<V, I>& blocks() { return blocks_; }
  // What ended the text too early, after all blocks.
  std::exception_ptr failure() const { return failure_; }

 private:
  BlockSource& source_;
  Offset expected_entries_;
  std::mutex mutex_;
  EntryBlocks<V, I> blocks_;  // a deque, so that growing it moves no block
  Offset entries_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

// Array layout stores the diagonal of a hermitian matrix without saying so on the line: it has to
// be checked among the first `entries` entries, once their places are known.
template <Value V, Index I>
void require_real_diagonal(const EntryBlocks<V, I>& blocks, const LocatedHeader& located,
                           Offset entries) {
  Offset diagonal = 0;  // position of entry (column, column), columns stored from there on down
  Offset column = 0;
  Offset block_begin = 0;
  Offset line = located.size_line;
  for (const EntryBlock<V, I>& block : blocks) {
    const Offset block_end = std::min(block_begin + block.entries(), entries);
    while (diagonal < block_end) {
      const V value = block.values[diagonal - block_begin];
      if (!fits_diagonal(value, Symmetry::hermitian)) {
        throw ParseError(located.name, line + block.line_of(diagonal - block_begin),
                         fmt::format("the entry ({}, {}) on the diagonal of a hermitian matrix is "
                                     "not real",
                                     column + 1, column + 1));
      }
      diagonal += located.header.rows - column;
      ++column;
    }
    block_begin += block.entries();
    line += block.lines;
  }
}

template <Value V, Index I>
void throw_first_error(const EntryBlocks<V, I>& blocks, const LocatedHeader& located,
                       std::exception_ptr failure) {
  const MatrixMarketHeader& header = located.header;
  const Offset expected = header.stored_entries;
  const bool check_diagonal =
      header.layout == MatrixMarketHeader::Layout::array && header.symmetry == Symmetry::hermitian;
  const auto fail = [&](Offset entries, Offset line, const std::string& why) {
    if (check_diagonal) require_real_diagonal(blocks, located, entries);
    throw ParseError(located.name, line, why);
  };
  Offset entries = 0;
  Offset line = located.size_line;
  for (const EntryBlock<V, I>& block : blocks) {
    if (entries + block.entries() > expected) {
      fail(expected, line + block.line_of(expected - entries),
           fmt::format("there are more than the {} entries that line {} promises", expected,
                       located.size_line));
    }
    entries += block.entries();
    line += block.lines;
    if (!block.error.empty()) fail(entries, line, block.error);
  }
  if (check_diagonal) require_real_diagonal(blocks, located, entries);
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const LineError& error) {
      fail(entries, line + 1, error.what());
    }
  }
  if (entries < expected) {
    fail(entries, line,
         fmt::format("the file ends after {} of the {} entries that line {} promises", entries,
                     expected, located.size_line));
  }
}

}  // namespace

template <Value V, Index I>
ParsedBlocks<V, I> parse_blocks(BlockSource& source, const MatrixMarketHeader& header,
                                const ProgressCallback& progress) {
  BlockQueue<V, I> queue(source, header.stored_entries);
  const auto take_blocks = [&](int thread) {
    BlockParser<V, I> parser(header);
    Array<char> text;
    double fraction = 0;
    while (EntryBlock<V, I>* block = queue.next(text, fraction)) {
      *block = parser.parse(text);
      queue.done(*block);
      if (thread == 0 && progress) progress(fraction);
    }
  };
  run_on_threads(source.little_left() ? 1 : thread_count(), [&](int thread, int) {
    try {
      take_blocks(thread);
    } catch (...) {
      queue.stop();
      throw;
    }
  });
  return {std::move(queue.blocks()), queue.failure()};
}

template <Value V, Index I>
EntryBlocks<V, I> parse_body(LineBlocks& lines, const LocatedHeader& located,
                             const ProgressCallback& progress) {
  AllBlocks source(lines);
  auto parsed = parse_blocks<V, I>(source, located.header, progress);
  throw_first_error(parsed.blocks, located, parsed.failure);
  return std::move(parsed.blocks);
}

#define STRATA_INSTANTIATE(V, I)                                                    \
  template ParsedBlocks<V, I> parse_blocks(BlockSource&, const MatrixMarketHeader&, \
                                           const ProgressCallback&);                \
  template EntryBlocks<V, I> parse_body(LineBlocks& lines, const LocatedHeader&,    \
                                        const ProgressCallback&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
