// A folder that exists as long as a test, and tables with numbers that are easy to recognise.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "strata/tune/block_table.hpp"

namespace strata::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "strata-tune-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  static void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static std::string contents(const std::filesystem::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // A folder below a plain file: nobody can make or write it, not even root.
  std::filesystem::path impossible_path() const {
    write(file("plain"), "");
    return file("plain") / "folder" / "file.json";
  }

 private:
  std::filesystem::path folder_;
};
class FolderTest : public testing::Test, protected TemporaryFolder {};

// number(r, c) everywhere.
template <class Number>
BlockTable table_of(Number&& number) {
  BlockTable table;
  for (const BlockSize block : all_block_sizes()) table.at(block) = number(block.rows, block.cols);
  return table;
}

}  // namespace strata::test
