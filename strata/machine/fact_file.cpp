#include "strata/machine/internal/fact_file.hpp"

#include <fstream>
#include <iterator>

#include "strata/base/random.hpp"
#include "strata/io/replace_file.hpp"

namespace strata::detail {

namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char letter : text) hash = mix_bits(hash + static_cast<unsigned char>(letter) + 1);
  return hash;
}

}  // namespace

std::string fact_file_name(std::string_view kind, std::string_view identity) {
  return fmt::format("{}-{:016x}.json", kind, hash_of(identity));
}

std::optional<std::string> read_fact_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (status.type() != fs::file_type::regular) {
    throw FileError(path.string(), error ? error.message() : "is no regular file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw FileError(path.string(), "cannot be read");
  return text;
}

void write_fact_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw FileError(path.parent_path().string(), error.message());
  replace_file(path, text);
}

FactJson parse_facts(std::string_view text, const std::string& source, int format) {
  FactJson document = FactJson::parse(text, nullptr, false);
  const FactReader reader(document, source);
  if (document.is_discarded()) reader.refuse("is not JSON, or not all of it");
  const Offset found = reader.count("format", Offset{1} << 60);
  if (found != format) {
    reader.refuse(fmt::format("has facts of version {}, not {}", found, format));
  }
  return document;
}

std::string text_of(const FactJson& document) {
  return document.dump(2, ' ', false, FactJson::error_handler_t::replace) + "\n";
}

}  // namespace strata::detail
