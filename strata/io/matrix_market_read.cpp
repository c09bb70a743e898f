#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/scatter.hpp"
#include "strata/io/internal/array_place.hpp"
#include "strata/io/internal/body.hpp"
#include "strata/io/internal/header.hpp"
#include "strata/io/internal/line_blocks.hpp"
#include "strata/io/internal/read.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata {

namespace detail {

namespace {

template <Value V, Index I>
Csr<V, I> assemble_coordinates(const MatrixMarketHeader& header, EntryBlocks<V, I> blocks) {
  const I rows = static_cast<I>(header.rows);
  auto unsorted = scatter_to_rows<V, I>(rows, blocks, header.symmetry);
  blocks.clear();
  return Csr<V, I>::from_unsorted(rows, static_cast<I>(header.cols),
                                  std::move(unsorted.row_offsets), std::move(unsorted.columns),
                                  std::move(unsorted.values));
}

// A dense matrix: every place is an entry, zeros included.
template <Value V, Index I>
Csr<V, I> assemble_array(const MatrixMarketHeader& header, const EntryBlocks<V, I>& blocks) {
  const Offset rows = header.rows;
  const Offset cols = header.cols;
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  parallel_for(rows + 1, [&](Offset row) { offsets[row] = row * cols; });
  Array<I> columns(rows * cols);
  Array<V> values(rows * cols);
  parallel_for(rows, [&](Offset row) {
    for (Offset column = 0; column < cols; ++column) {
      columns[row * cols + column] = static_cast<I>(column);
    }
    if (header.symmetry == Symmetry::skew_symmetric) values[row * cols + row] = V{};
  });
  Array<Offset> starts(blocks.size() + 1, 0);
  for (std::size_t b = 0; b < blocks.size(); ++b) starts[b + 1] = starts[b] + blocks[b].entries();
  parallel_dynamic(static_cast<Offset>(blocks.size()), 1, [&](Offset b, Offset) {
    if (blocks[b].values.empty()) return;
    ArrayPlace place(header, starts[b]);
    for (const V value : blocks[b].values) {
      values[place.row() * cols + place.column()] = value;
      if (header.symmetry != Symmetry::general && place.row() != place.column()) {
        values[place.column() * cols + place.row()] = mirrored(value, header.symmetry);
      }
      place.advance();
    }
  });
  return Csr<V, I>(static_cast<I>(rows), static_cast<I>(cols), std::move(offsets),
                   std::move(columns), std::move(values));
}

// All that is behind the header.
template <Value V, Index I>
Csr<V, I> read_rest(LineBlocks& lines, const LocatedHeader& located, const ReadOptions& options) {
  const MatrixMarketHeader& header = located.header;
  require_types_fit<V, I>(located);
  EntryBlocks<V, I> blocks = parse_body<V, I>(lines, located, options.progress);
  auto matrix = header.layout == MatrixMarketHeader::Layout::array
                    ? assemble_array<V, I>(header, blocks)
                    : assemble_coordinates<V, I>(header, std::move(blocks));
  if (options.progress) options.progress(1.0);
  return matrix;
}

}  // namespace

MatrixMarketHeader read_header(ByteSource& source, const std::string& name,
                               std::size_t block_bytes) {
  LineBlocks lines(source, block_bytes);
  return parse_header(lines, name).header;
}

template <Value V, Index I>
Csr<V, I> read_matrix(ByteSource& source, const std::string& name, const ReadOptions& options,
                      std::size_t block_bytes) {
  LineBlocks lines(source, block_bytes);
  return read_rest<V, I>(lines, parse_header(lines, name), options);
}

}  // namespace detail

MatrixMarketHeader read_matrix_market_header(const std::filesystem::path& path) {
  const std::string name = path.string();
  return detail::read_header(*detail::decompressed(detail::open_file(path), name), name);
}

struct MatrixMarketFile::Rest {
  explicit Rest(const std::filesystem::path& path)
      : source(detail::decompressed(detail::open_file(path), path.string())),
        lines(*source, detail::kBlockBytes),
        located(detail::parse_header(lines, path.string())) {}

  std::unique_ptr<detail::ByteSource> source;
  detail::LineBlocks lines;
  detail::LocatedHeader located;
};

MatrixMarketFile::MatrixMarketFile(const std::filesystem::path& path)
    : rest_(std::make_unique<Rest>(path)) {
  header_ = rest_->located.header;
}

MatrixMarketFile::MatrixMarketFile(MatrixMarketFile&&) noexcept = default;
MatrixMarketFile& MatrixMarketFile::operator=(MatrixMarketFile&&) noexcept = default;
MatrixMarketFile::~MatrixMarketFile() = default;

template <Value V, Index I>
Csr<V, I> MatrixMarketFile::read(const ReadOptions& options) {
  if (!rest_) throw InvalidArgument("a Matrix Market file is read only once");
  const auto rest = std::move(rest_);
  return detail::read_rest<V, I>(rest->lines, rest->located, options);
}

template <Value V, Index I>
Csr<V, I> read_matrix_market(const std::filesystem::path& path, const ReadOptions& options) {
  return MatrixMarketFile(path).read<V, I>(options);
}

#define STRATA_INSTANTIATE(V, I)                                                  \
  template Csr<V, I> detail::read_matrix(detail::ByteSource&, const std::string&, \
                                         const ReadOptions&, std::size_t);        \
  template Csr<V, I> MatrixMarketFile::read(const ReadOptions&);                  \
  template Csr<V, I> read_matrix_market(const std::filesystem::path&, const ReadOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
