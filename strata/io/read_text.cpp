#include "strata/io/read_text.hpp"

#include "strata/io/internal/source.hpp"

namespace strata {

std::string read_text(const std::filesystem::path& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  const auto source = detail::decompressed(detail::open_file(path), path.string());
  std::string text;
  for (;;) {
    const std::size_t known = text.size();
    text.resize(known + kBlock);
    const std::size_t count = source->read(std::span(text).subspan(known));
    text.resize(known + count);
    if (count < kBlock) return text;
  }
}

}  // namespace strata
