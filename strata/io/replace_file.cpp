#include "strata/io/replace_file.hpp"

#include "strata/io/internal/output_file.hpp"

namespace strata {

void replace_file(const std::filesystem::path& path, std::string_view contents) {
  detail::OutputFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace strata
