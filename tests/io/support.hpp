// Texts and folders for the tests of files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "strata/base/parallel.hpp"
#include "strata/io/internal/gzip.hpp"
#include "strata/io/internal/read.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::test {

// Threads for the time of a test.
class ThreadCount {
 public:
  explicit ThreadCount(int count) { set_thread_count(count); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() { set_thread_count(0); }
};

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string gzipped(const std::string& text) {
  const auto member = detail::gzip_member(text);
  return {member.begin(), member.end()};
}

template <Value V = double, Index I = std::int32_t>
Csr<V, I> read_text(const std::string& bytes, std::size_t block_bytes = detail::kBlockBytes) {
  return detail::read_matrix<V, I>(*detail::decompressed(detail::from_memory(bytes), "text"),
                                   "text", {}, block_bytes);
}

inline MatrixMarketHeader header_of(const std::string& bytes) {
  return detail::read_header(*detail::from_memory(bytes), "text");
}

// The message of the exception that reading the text throws.
template <Value V = double, Index I = std::int32_t>
std::string error_of(const std::string& bytes, std::size_t block_bytes = detail::kBlockBytes) {
  try {
    read_text<V, I>(bytes, block_bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// A whole matrix from its rows.
template <Value V = double>
Csr<V, std::int32_t> dense(std::int32_t rows, std::int32_t cols, Array<V> values) {
  Array<Offset> offsets;
  Array<std::int32_t> columns;
  for (std::int32_t row = 0; row <= rows; ++row) offsets.push_back(Offset{row} * cols);
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column < cols; ++column) columns.push_back(column);
  }
  return Csr<V, std::int32_t>(rows, cols, std::move(offsets), std::move(columns),
                              std::move(values));
}

}  // namespace strata::test
