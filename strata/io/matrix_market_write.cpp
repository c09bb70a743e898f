#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/internal/gzip.hpp"
#include "strata/io/internal/lower_half.hpp"
#include "strata/io/internal/output_file.hpp"
#include "strata/io/internal/write.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata {

namespace detail {

namespace {

// Entries that one thread formats at a time: about a megabyte of text.
constexpr Offset kEntriesPerBlock = 1 << 15;
constexpr Offset kBlocksPerThread = 4;

// Two indices of at most 19 digits, two shortest doubles of at most 24 characters, blanks, newline.
constexpr std::size_t kLongestEntry = 2 * 20 + 2 * 25 + 1;

template <class T>
char* append_number(char* cursor, T number) {
  return std::to_chars(cursor, cursor + kLongestEntry, number).ptr;
}

template <Value V>
char* append_value(char* cursor, V value) {
  if constexpr (is_complex<V>) {
    cursor = append_number(cursor, value.real());
    *cursor++ = ' ';
    return append_number(cursor, value.imag());
  } else {
    return append_number(cursor, value);
  }
}

// The lines of entries [begin, end) among the stored ones.
template <Value V, Index I>
Array<char> format_entries(const Csr<V, I>& matrix, std::span<const Offset> offsets, bool pattern,
                           Offset begin, Offset end) {
  Array<char> text(static_cast<std::size_t>(end - begin) * kLongestEntry);
  char* cursor = text.data();
  Offset row = std::ranges::upper_bound(offsets, begin) - offsets.begin() - 1;
  for (Offset k = begin; k < end; ++k) {
    while (k >= offsets[row + 1]) ++row;
    const Offset position = matrix.row_offsets()[row] + (k - offsets[row]);
    cursor = append_number(cursor, row + 1);
    *cursor++ = ' ';
    cursor = append_number(cursor, Offset{matrix.columns()[position]} + 1);
    if (!pattern) {
      *cursor++ = ' ';
      cursor = append_value(cursor, matrix.values()[position]);
    }
    *cursor++ = '\n';
  }
  text.resize(static_cast<std::size_t>(cursor - text.data()));
  return text;
}

template <Value V>
void require_possible(const WriteOptions& options) {
  if (options.symmetry == Symmetry::hermitian && (!is_complex<V> || options.pattern)) {
    throw InvalidArgument("only matrices with complex values can be written as hermitian");
  }
  if (options.symmetry == Symmetry::skew_symmetric && options.pattern) {
    throw InvalidArgument("a pattern cannot be written as skew-symmetric");
  }
  if (options.comment.find('\0') != std::string_view::npos) {
    throw InvalidArgument("a comment cannot hold NUL bytes");
  }
}

template <Value V, Index I>
std::string format_header(const Csr<V, I>& matrix, const WriteOptions& options, Offset entries) {
  const std::string_view field = options.pattern ? "pattern" : is_complex<V> ? "complex" : "real";
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate {} {}\n", field, name_of(options.symmetry));
  std::string_view comment = options.comment;
  while (!comment.empty()) {
    const std::size_t length = std::min(comment.find('\n'), comment.size());
    text += fmt::format("%{}\n", comment.substr(0, length));
    comment.remove_prefix(std::min(length + 1, comment.size()));
  }
  return text + fmt::format("{} {} {}\n", matrix.rows(), matrix.cols(), entries);
}

}  // namespace

template <Value V, Index I>
void write_matrix(const ByteSink& sink, const Csr<V, I>& matrix, const WriteOptions& options,
                  bool compress) {
  require_possible<V>(options);
  require_symmetric(matrix, options.symmetry, options.pattern);
  const Array<Offset> offsets = stored_offsets(matrix.pattern(), options.symmetry);
  const Offset entries = offsets.back();
  const std::string header = format_header(matrix, options, entries);
  const auto packed = [&](Array<char> text) {
    return compress ? gzip_member(text) : std::move(text);
  };
  sink(packed(Array<char>(header.begin(), header.end())));

  // A round of blocks is formatted by all threads and then written in order, so that no more than
  // a round is ever in memory.
  const Offset blocks_per_round = kBlocksPerThread * thread_count();
  const Offset entries_per_round = kEntriesPerBlock * blocks_per_round;
  std::vector<Array<char>> blocks(static_cast<std::size_t>(blocks_per_round));
  for (Offset round = 0; round < entries; round += entries_per_round) {
    const Offset round_end = std::min(round + entries_per_round, entries);
    const Offset count = ceil_div(round_end - round, kEntriesPerBlock);
    parallel_dynamic(count, 1, [&](Offset block, Offset) {
      const Offset begin = round + block * kEntriesPerBlock;
      const Offset end = std::min(begin + kEntriesPerBlock, round_end);
      blocks[block] = packed(format_entries(matrix, offsets, options.pattern, begin, end));
    });
    for (Offset block = 0; block < count; ++block) sink(blocks[block]);
    if (options.progress) {
      options.progress(static_cast<double>(round_end) / static_cast<double>(entries));
    }
  }
}

}  // namespace detail

template <Value V, Index I>
void write_matrix_market(const std::filesystem::path& path, const Csr<V, I>& matrix,
                         const WriteOptions& options) {
  detail::OutputFile file(path);
  detail::write_matrix<V, I>([&](std::span<const char> bytes) { file.write(bytes); }, matrix,
                             options, path.extension() == ".gz");
  file.commit();
}

#define STRATA_INSTANTIATE(V, I)                                                    \
  template void detail::write_matrix(const detail::ByteSink&, const Csr<V, I>&,     \
                                     const WriteOptions&, bool);                    \
  template void write_matrix_market(const std::filesystem::path&, const Csr<V, I>&, \
                                    const WriteOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
