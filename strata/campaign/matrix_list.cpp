#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "strata/campaign/internal/matrix_list.hpp"

namespace strata::campaign::detail {

namespace fs = std::filesystem;

namespace {

TemplateText template_of(const ValueReader& where, const std::string& text) {
  // The command would take it for an option.
  if (text.starts_with("-")) where.refuse(fmt::format("names the matrix '{}'", text));
  try {
    return TemplateText(text);
  } catch (const InvalidArgument& wrong) {
    where.refuse(wrong.what());
  }
}

// Names of files are taken literally.
std::string with_doubled_braces(const std::string& text) {
  std::string doubled;
  for (const char letter : text) {
    doubled += letter;
    if (letter == '{' || letter == '}') doubled += letter;
  }
  return doubled;
}

std::string from_folder(const fs::path& path, const fs::path& folder, bool absolute) {
  return absolute ? path.string() : path.lexically_relative(folder).string();
}

// In the order of their names, whatever the language of the user.
std::vector<std::string> files_of(const std::string& pattern, const fs::path& folder) {
  const bool absolute = fs::path(pattern).is_absolute();
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> release(&found, globfree);
  const std::string whole = (folder / pattern).string();
  if (::glob(whole.c_str(), GLOB_NOSORT | GLOB_TILDE, nullptr, &found) != 0) return {};
  std::vector<std::string> files;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    files.push_back(from_folder(found.gl_pathv[i], folder, absolute));
  }
  std::ranges::sort(files);
  return files;
}

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// A suite has a class and a matrix per line; @ stands for the folder matrices beside it.
std::vector<std::string> matrices_of(const std::string& suite, const std::string& of_class,
                                     const fs::path& folder) {
  const fs::path path = folder / suite;
  std::ifstream file(path);
  if (!file) throw FileError(path.string(), std::generic_category().message(errno));
  const std::string beside = (fs::path(suite).parent_path() / "matrices").string();
  std::vector<std::string> matrices;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::string matrix;
    if (!(words >> name >> matrix) || name != of_class) continue;
    replace_all(matrix, "@", beside);
    matrices.push_back(matrix);
  }
  return matrices;
}

}  // namespace

std::vector<TemplateText> read_matrices(const ValueReader& list, const fs::path& folder) {
  std::vector<TemplateText> matrices;
  for (const ValueReader& element : list.elements()) {
    if (!element.json().is_object()) {
      matrices.push_back(template_of(element, element.text()));
      continue;
    }
    std::vector<std::string> found;
    if (element.has("suite")) {
      element.require_object({"suite", "class"});
      const std::string name = element.at("class").text();
      found = matrices_of(element.at("suite").text(), name, folder);
      if (found.empty()) element.at("class").refuse(fmt::format("is '{}', which is empty", name));
    } else {
      element.require_object({"glob", "optional"});
      const std::string pattern = element.at("glob").text();
      found = files_of(pattern, folder);
      const bool optional = element.has("optional") && element.at("optional").yes_or_no();
      if (found.empty() && !optional) {
        element.at("glob").refuse(fmt::format("is '{}', which matches no file", pattern));
      }
    }
    for (const std::string& matrix : found) {
      matrices.push_back(template_of(element, with_doubled_braces(matrix)));
    }
  }
  return matrices;
}

}  // namespace strata::campaign::detail
