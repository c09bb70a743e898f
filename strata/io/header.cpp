#include "strata/io/internal/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/io/internal/scan.hpp"

namespace strata {

using Object = MatrixMarketHeader::Object;
using Layout = MatrixMarketHeader::Layout;
using Field = MatrixMarketHeader::Field;

std::string_view name_of(Field field) {
  switch (field) {
    case Field::real: return "real";
    case Field::integer: return "integer";
    case Field::unsigned_integer: return "unsigned-integer";
    case Field::complex: return "complex";
    case Field::pattern: return "pattern";
  }
  return "real";
}

namespace detail {

namespace {

template <class T>
struct Choice {
  std::string_view word;
  T meaning;
};

constexpr std::array kObjects{Choice{"matrix", Object::matrix}, Choice{"vector", Object::vector}};
constexpr std::array kLayouts{Choice{"coordinate", Layout::coordinate},
                              Choice{"array", Layout::array}};
constexpr std::array kFields{
    Choice{"real", Field::real},       Choice{"double", Field::real},
    Choice{"integer", Field::integer}, Choice{"unsigned-integer", Field::unsigned_integer},
    Choice{"complex", Field::complex}, Choice{"pattern", Field::pattern}};
constexpr std::array kSymmetries{
    Choice{"general", Symmetry::general}, Choice{"symmetric", Symmetry::symmetric},
    Choice{"skew-symmetric", Symmetry::skew_symmetric}, Choice{"hermitian", Symmetry::hermitian}};

template <class Choices>
auto choose(const Choices& choices, std::string_view word, std::string_view what) {
  for (const auto& choice : choices) {
    if (choice.word == word) return choice.meaning;
  }
  throw LineError(fmt::format("the banner names an unknown {} {}", what, quoted(word)));
}

std::vector<std::string_view> words_of(const std::string& line) {
  std::vector<std::string_view> words;
  for (const char* cursor = skip_blanks(line.data()); *cursor != '\n';
       cursor = skip_blanks(cursor)) {
    words.push_back(word_at(cursor));
    cursor += words.back().size();
  }
  return words;
}

// Goes through the lines of the header, and puts file and line before what is wrong with them.
class HeaderParser {
 public:
  HeaderParser(LineBlocks& lines, const std::string& name) : lines_(lines), name_(name) {}

  LocatedHeader parse() {
    try {
      parse_banner();
      refuse_contradictions();
      parse_sizes();
    } catch (const LineError& error) {
      throw ParseError(name_, std::max<std::int64_t>(line_number_, 1), error.what());
    } catch (const OverflowError& error) {
      throw OverflowError(fmt::format("{}:{}: {}", name_, line_number_, error.what()));
    }
    return {header_, name_, line_number_};
  }

 private:
  // The words of the next line that has any; comments are passed over when asked for.
  std::vector<std::string_view> next_words(bool skip_comments) {
    while (true) {
      ++line_number_;
      if (!lines_.next_line(line_)) {
        --line_number_;
        return {};
      }
      const char first = *skip_blanks(line_.data());
      if (skip_comments && first == '%') {
        require_no_nul(line_);
      } else if (first != '\n') {
        return words_of(line_);
      }
    }
  }

  void parse_banner() {
    const auto words = next_words(false);
    if (words.empty()) throw LineError("the file is empty");
    std::vector<std::string> lower(words.begin(), words.end());
    for (std::string& word : lower) {
      std::ranges::transform(word, word.begin(), [](char c) {
        return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
    }
    if (lower[0] != "%%matrixmarket") {
      throw LineError("the first line does not start with %%MatrixMarket");
    }
    if (lower.size() != 4 && lower.size() != 5) {
      throw LineError("the banner is not '%%MatrixMarket OBJECT LAYOUT FIELD [SYMMETRY]'");
    }
    header_.object = choose(kObjects, lower[1], "object");
    header_.layout = choose(kLayouts, lower[2], "layout");
    header_.field = choose(kFields, lower[3], "field");
    if (lower.size() == 5) header_.symmetry = choose(kSymmetries, lower[4], "symmetry");
  }

  void refuse_contradictions() const {
    const bool array = header_.layout == Layout::array;
    const bool pattern = header_.field == Field::pattern;
    const Symmetry symmetry = header_.symmetry;
    if (array && pattern) throw LineError("an array cannot be a pattern");
    if (header_.object == Object::vector && symmetry != Symmetry::general) {
      throw LineError(fmt::format("a vector cannot be {}", name_of(symmetry)));
    }
    if (symmetry == Symmetry::hermitian && header_.field != Field::complex) {
      throw LineError("only complex matrices can be hermitian");
    }
    if (symmetry == Symmetry::skew_symmetric && pattern) {
      throw LineError("a pattern cannot be skew-symmetric");
    }
  }

  void parse_sizes() {
    const bool vector = header_.object == Object::vector;
    const bool array = header_.layout == Layout::array;
    const auto words = next_words(true);
    const std::size_t expected = (vector ? 1U : 2U) + (array ? 0U : 1U);
    if (words.empty()) throw LineError("the file ends before the line with the sizes");
    if (words.size() != expected) {
      throw LineError(
          fmt::format("the line with the sizes has {} numbers, not {}", words.size(), expected));
    }
    header_.rows = parse_size(words[0], "rows");
    header_.cols = vector ? 1 : parse_size(words[1], "columns");
    if (header_.symmetry != Symmetry::general && header_.rows != header_.cols) {
      throw LineError(fmt::format("a {} x {} matrix cannot be {}", header_.rows, header_.cols,
                                  name_of(header_.symmetry)));
    }
    header_.stored_entries = array ? array_entries() : parse_size(words.back(), "entries");
  }

  std::int64_t parse_size(std::string_view word, std::string_view what) const {
    const auto [kind, size] = parse_natural(word);
    if (kind == Natural::Kind::malformed) {
      throw LineError(fmt::format("the number of {} is {}, which is not a whole number from 0 on",
                                  what, quoted(word)));
    }
    if (kind == Natural::Kind::too_large) {
      throw OverflowError(fmt::format(
          "the number of {} is {}, which does not fit in a 64-bit integer", what, quoted(word)));
    }
    return size;
  }

  // A triangle of n(n ± 1)/2 when the file is symmetric.
  std::int64_t array_entries() const {
    const std::int64_t rows = header_.rows;
    constexpr std::string_view what = "the number of entries";
    const std::int64_t all = checked_multiply(rows, header_.cols, what);
    switch (header_.symmetry) {
      case Symmetry::general: return all;
      case Symmetry::skew_symmetric: return (all - rows) / 2;
      default: return checked_add(all, rows, what) / 2;
    }
  }

  LineBlocks& lines_;
  const std::string& name_;
  std::string line_;
  std::int64_t line_number_ = 0;
  MatrixMarketHeader header_;
};

}  // namespace

LocatedHeader parse_header(LineBlocks& lines, const std::string& name) {
  return HeaderParser(lines, name).parse();
}

template <Value V, Index I>
void require_types_fit(const LocatedHeader& located) {
  const MatrixMarketHeader& header = located.header;
  if (header.field == Field::complex && !is_complex<V>) {
    throw InvalidMatrix(
        fmt::format("{}: a complex matrix cannot be read as a real one", located.name));
  }
  try {
    narrow<I>(header.rows, "the number of rows");
    narrow<I>(header.cols, "the number of columns");
  } catch (const OverflowError& error) {
    throw OverflowError(fmt::format("{}:{}: {}", located.name, located.size_line, error.what()));
  }
  if (header.rows > kRowsAlwaysRead && header.rows / kRowsPerEntry > header.stored_entries) {
    throw ParseError(
        located.name, located.size_line,
        fmt::format("{} rows for {} entries: more than {} rows are read only with at "
                    "least one entry per {} rows",
                    header.rows, header.stored_entries, kRowsAlwaysRead, kRowsPerEntry));
  }
}

#define STRATA_INSTANTIATE(V, I) template void require_types_fit<V, I>(const LocatedHeader&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace detail

}  // namespace strata
