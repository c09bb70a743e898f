#include "strata/io/matrix_market_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/internal/array_place.hpp"
#include "strata/io/internal/block_parser.hpp"
#include "strata/io/internal/body.hpp"
#include "strata/io/internal/header.hpp"
#include "strata/io/internal/line_blocks.hpp"
#include "strata/io/internal/read_part.hpp"
#include "strata/io/internal/scan.hpp"
#include "strata/io/internal/seekable_file.hpp"

namespace strata {

namespace detail {

namespace {

// Where the text of a part begins.
struct Place {
  Offset entry = 0;                 // that many entries stand before it, where that is known
  std::int64_t byte = 0;            // in the file
  std::optional<Offset> line = {};  // that many lines stand before it
};

template <Value V, Index I>
struct ParsedPart {
  ParsedBlocks<V, I> parsed;
  Place begin;
};

[[noreturn]] void throw_at(const std::string& name, const Place& place, Offset lines, Offset bytes,
                           const std::string& why) {
  if (place.line) throw ParseError(name, *place.line + lines, why);
  throw InvalidMatrix(fmt::format("{}: at byte {}: {}", name, place.byte + bytes, why));
}

template <Value V, Index I>
void throw_first_error(const ParsedPart<V, I>& part, const LocatedHeader& located) {
  Offset lines = 0;
  Offset bytes = 0;
  for (const EntryBlock<V, I>& block : part.parsed.blocks) {
    if (!block.error.empty()) {
      throw_at(located.name, part.begin, lines + block.lines, bytes + block.last_line, block.error);
    }
    lines += block.lines;
    bytes += block.bytes;
  }
  if (!part.parsed.failure) return;
  try {
    std::rethrow_exception(part.parsed.failure);
  } catch (const LineError& error) {
    throw_at(located.name, part.begin, lines + 1, bytes, error.what());
  }
}

// The beginning of the first line that begins at `offset` or behind it.
std::int64_t line_begin(const SeekableFile& file, std::int64_t offset, std::int64_t body) {
  if (offset <= body) return body;
  std::array<char, 4096> buffer;
  for (std::int64_t position = offset - 1; position < file.size();) {
    const auto count = static_cast<std::size_t>(
        std::min<std::int64_t>(static_cast<std::int64_t>(buffer.size()), file.size() - position));
    file.read_at(position, std::span(buffer).first(count));
    const auto newline = std::find(buffer.begin(), buffer.begin() + count, '\n');
    position += newline - buffer.begin();
    if (newline != buffer.begin() + count) return position + 1;
  }
  return file.size();
}

// `body` is where the lines behind the header begin.
template <Value V, Index I>
ParsedPart<V, I> parse_bytes(const SeekableFile& file, const LocatedHeader& located,
                             std::int64_t body, int part, int parts, const ReadOptions& options,
                             std::size_t block_bytes) {
  const Chunk chunk = chunk_of(file.size() - body, part, parts);
  const std::int64_t begin = line_begin(file, body + chunk.begin, body);
  const std::int64_t end =
      part + 1 == parts ? file.size() : line_begin(file, body + chunk.end, body);
  RangeSource source(file, begin, end);
  LineBlocks lines(source, block_bytes);
  AllBlocks blocks(lines);
  ParsedPart<V, I> result{.parsed = parse_blocks<V, I>(blocks, located.header, options.progress),
                          .begin = {.byte = begin}};
  if (begin == body) result.begin.line = located.size_line;
  return result;
}

// The blocks of a text that cannot be cut that a part has to parse: those whose first entry is in
// its share of all entries. Others are counted.
class SharedBlocks final : public BlockSource {
 public:
  SharedBlocks(LineBlocks& lines, const LocatedHeader& located, int part, int parts)
      : lines_(lines),
        entries_(located.header.stored_entries),
        part_(part),
        parts_(parts),
        next_{.line = located.size_line} {}

  bool next_block(Array<char>& text) override {
    while (lines_.next_block(text)) {
      const Place place = next_;
      const LineCounts counts = count_lines(text);
      next_.entry += counts.entries;
      *next_.line += counts.lines;
      const Chunk share = chunk_of(entries_, part_, parts_);
      if (place.entry < share.begin) continue;
      if (place.entry >= share.end && part_ + 1 < parts_) break;
      if (!begin_) begin_ = place;
      return true;
    }
    if (!begin_) begin_ = next_;
    return false;
  }
  double fraction() const override { return lines_.fraction(); }
  bool little_left() const override { return lines_.source_ended(); }

  // Of the first block or, where the text broke off before there was one, where it did.
  const Place& begin() const { return begin_ ? *begin_ : next_; }

 private:
  LineBlocks& lines_;
  Offset entries_;
  int part_;
  int parts_;
  Place next_;
  std::optional<Place> begin_;
};

template <Value V, Index I>
ParsedPart<V, I> parse_share(LineBlocks& lines, const LocatedHeader& located, int part, int parts,
                             const ReadOptions& options) {
  SharedBlocks blocks(lines, located, part, parts);
  ParsedPart<V, I> result;
  result.parsed = parse_blocks<V, I>(blocks, located.header, options.progress);
  result.begin = blocks.begin();
  return result;
}

// visit(row, column, value) for an entry and what it stands for besides.
template <Value V, class Visit>
void visit_with_mirror(Offset row, Offset column, V value, Symmetry symmetry, const Visit& visit) {
  visit(row, column, value);
  if (symmetry != Symmetry::general && row != column) {
    visit(column, row, mirrored(value, symmetry));
  }
}

// visit(row, column, value) for all that the block stands for; `entry` is the number of its first
// entry, which an array needs to know.
template <Value V, Index I, class Visit>
void visit_entries(const EntryBlock<V, I>& block, const MatrixMarketHeader& header, Offset entry,
                   const Visit& visit) {
  if (block.values.empty()) return;
  if (header.layout == MatrixMarketHeader::Layout::coordinate) {
    for (Offset k = 0; k < block.entries(); ++k) {
      visit_with_mirror(block.rows[k], block.columns[k], block.values[k], header.symmetry, visit);
    }
    return;
  }
  ArrayPlace place(header, entry);
  for (const V value : block.values) {
    // The diagonal of a skew-symmetric array is zero and not in the file: it comes with the first
    // entry of its column.
    if (header.symmetry == Symmetry::skew_symmetric && place.row() == place.column() + 1) {
      visit(place.column(), place.column(), V{});
    }
    visit_with_mirror(place.row(), place.column(), value, header.symmetry, visit);
    place.advance();
  }
}

// Array layout does not say on the line that an entry is on the diagonal.
template <Value V, Index I>
void require_real_diagonal(const ParsedPart<V, I>& part, const LocatedHeader& located) {
  Offset entry = part.begin.entry;
  Offset lines = 0;
  for (const EntryBlock<V, I>& block : part.parsed.blocks) {
    if (block.values.empty()) continue;
    ArrayPlace place(located.header, entry);
    for (Offset k = 0; k < block.entries(); ++k, place.advance()) {
      if (place.row() != place.column() || fits_diagonal(block.values[k], Symmetry::hermitian)) {
        continue;
      }
      throw ParseError(located.name, *part.begin.line + lines + block.line_of(k),
                       fmt::format("the entry ({}, {}) on the diagonal of a hermitian matrix is "
                                   "not real",
                                   place.row() + 1, place.row() + 1));
    }
    entry += block.entries();
    lines += block.lines;
  }
}

template <Value V, Index I>
MatrixPart<V, I> collect(const MatrixMarketHeader& header, ParsedPart<V, I> part, bool last) {
  EntryBlocks<V, I>& blocks = part.parsed.blocks;
  Array<Offset> starts(blocks.size() + 1, 0);
  Array<Offset> first(blocks.size() + 1, part.begin.entry);
  for (std::size_t b = 0; b < blocks.size(); ++b) first[b + 1] = first[b] + blocks[b].entries();
  const auto count = static_cast<Offset>(blocks.size());
  parallel_dynamic(count, 1, [&](Offset b, Offset) {
    visit_entries(blocks[b], header, first[b], [&](Offset, Offset, V) { ++starts[b]; });
  });
  // The last column of a skew-symmetric array has no entry that its diagonal could come with.
  const bool lone_diagonal = last && header.layout == MatrixMarketHeader::Layout::array &&
                             header.symmetry == Symmetry::skew_symmetric && header.rows > 0;
  const Offset entries = exclusive_scan(starts);
  const Offset all = entries + (lone_diagonal ? 1 : 0);

  MatrixPart<V, I> result{.header = header,
                          .rows = Array<I>(all),
                          .columns = Array<I>(all),
                          .values = Array<V>(all),
                          .stored_entries = first[blocks.size()] - part.begin.entry};
  parallel_dynamic(count, 1, [&](Offset b, Offset) {
    Offset position = starts[b];
    visit_entries(blocks[b], header, first[b], [&](Offset row, Offset column, V value) {
      result.rows[position] = static_cast<I>(row);
      result.columns[position] = static_cast<I>(column);
      result.values[position] = value;
      ++position;
    });
    blocks[b] = {};
  });
  if (lone_diagonal) {
    result.rows[entries] = result.columns[entries] = static_cast<I>(header.rows - 1);
    result.values[entries] = V{};
  }
  return result;
}

bool is_compressed(const SeekableFile& file) {
  if (file.size() < 2) return false;
  std::array<char, 2> start;
  file.read_at(0, start);
  return start[0] == '\x1f' && start[1] == '\x8b';
}

std::string promise(const MatrixMarketHeader& header) {
  return fmt::format("the {} entries that its header promises", header.stored_entries);
}

}  // namespace

template <Value V, Index I>
MatrixPart<V, I> read_part(const std::filesystem::path& path, int part, int parts,
                           const ReadOptions& options, std::size_t block_bytes) {
  if (part < 0 || part >= parts) {
    throw InvalidArgument(fmt::format("there is no part {} of {}", part, parts));
  }
  const SeekableFile file(path);
  const auto bytes = decompressed(std::make_unique<RangeSource>(file, 0, file.size()), file.name());
  LineBlocks lines(*bytes, block_bytes);
  const LocatedHeader located = parse_header(lines, file.name());
  require_types_fit<V, I>(located);

  const MatrixMarketHeader& header = located.header;
  const bool array = header.layout == MatrixMarketHeader::Layout::array;
  ParsedPart<V, I> parsed = array || is_compressed(file)
                                ? parse_share<V, I>(lines, located, part, parts, options)
                                : parse_bytes<V, I>(file, located, lines.bytes_in_lines(), part,
                                                    parts, options, block_bytes);
  throw_first_error(parsed, located);
  Offset entries = 0;
  for (const EntryBlock<V, I>& block : parsed.parsed.blocks) entries += block.entries();
  if (parsed.begin.entry + entries > header.stored_entries) {
    throw InvalidMatrix(fmt::format("{}: there are more than {}", file.name(), promise(header)));
  }
  if (array && header.symmetry == Symmetry::hermitian) require_real_diagonal(parsed, located);
  MatrixPart<V, I> result = collect(header, std::move(parsed), part + 1 == parts);
  if (options.progress) options.progress(1.0);
  return result;
}

}  // namespace detail

template <Value V, Index I>
MatrixPart<V, I> read_matrix_market_part(const std::filesystem::path& path, int part, int parts,
                                         const ReadOptions& options) {
  return detail::read_part<V, I>(path, part, parts, options);
}

void require_all_entries(const std::filesystem::path& path, const MatrixMarketHeader& header,
                         Offset stored_entries) {
  if (stored_entries == header.stored_entries) return;
  throw InvalidMatrix(
      stored_entries > header.stored_entries
          ? fmt::format("{}: there are more than {}", path.string(), detail::promise(header))
          : fmt::format("{}: there are {} of {}", path.string(), stored_entries,
                        detail::promise(header)));
}

#define STRATA_INSTANTIATE(V, I)                                                            \
  template MatrixPart<V, I> detail::read_part(const std::filesystem::path&, int, int,       \
                                              const ReadOptions&, std::size_t);             \
  template MatrixPart<V, I> read_matrix_market_part(const std::filesystem::path&, int, int, \
                                                    const ReadOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
