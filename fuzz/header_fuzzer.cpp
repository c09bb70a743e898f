// Any bytes at all, as the banner and the size line of a Matrix Market file: refused with an
// exception that names the line, or sizes that make sense, wherever the text is cut.
#include <algorithm>
#include <optional>
#include <string_view>

#include "fuzz/support.hpp"
#include "strata/base/error.hpp"
#include "strata/io/internal/read.hpp"
#include "strata/io/internal/scan.hpp"

namespace {

using namespace strata::fuzz;
using strata::MatrixMarketHeader;
using strata::Symmetry;

// A header or the message of the error.
struct Outcome {
  std::optional<MatrixMarketHeader> header;
  std::string error;
};

Outcome read(std::span<const char> bytes, std::size_t block_bytes) {
  try {
    return {strata::detail::read_header(*source_of(bytes), "input", block_bytes), {}};
  } catch (const strata::FileError& error) {
    return {std::nullopt, error.what()};
  } catch (const strata::Error& error) {
    require(std::string_view(error.what()).starts_with("input:"), "errors name file and line",
            error.what());
    return {std::nullopt, error.what()};
  }
}

void require_sense(const MatrixMarketHeader& header) {
  require(header.rows >= 0 && header.cols >= 0 && header.stored_entries >= 0,
          "sizes are not negative");
  require(header.symmetry == Symmetry::general || header.rows == header.cols,
          "only square matrices are symmetric");
  require(header.object == MatrixMarketHeader::Object::matrix || header.cols == 1,
          "a vector has one column");
}

// A size or an index is what its grammar says and nothing else, however it is spelled.
void require_natural(std::string_view word) {
  using strata::detail::Natural;
  const auto [kind, value] = strata::detail::parse_natural(word);
  const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
  const bool natural =
      !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  require((kind != Natural::Kind::malformed) == natural, "naturals are digits", std::string(word));
  require(value >= 0, "naturals are not negative", std::string(word));
  if (kind != Natural::Kind::number) return;
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  require(std::to_string(value) == digits.substr(first), "naturals keep their value",
          std::string(word));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> bytes = text_of(data, size);
  const Outcome whole = read(bytes, kWholeInput);
  const Outcome pieces = read(bytes, kTinyBlock);
  if (!met_corrupt_gzip(whole.error, pieces.error)) {
    require(whole.header.has_value() == pieces.header.has_value() && whole.error == pieces.error,
            "all cuts find the same", whole.error + "\n" + pieces.error);
  }
  if (whole.header) require_sense(*whole.header);
  require_natural({bytes.data(), bytes.size()});
  return 0;
}
