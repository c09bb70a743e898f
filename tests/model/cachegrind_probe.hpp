// What a test passes to the probe: a matrix and the products to run on it, in a file that is read
// with few instructions, so that cachegrind spends its time on the products.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "strata/formats/csr.hpp"

namespace strata::test {

// Rows [begin, end) of vector `power` from vector `power` − 1.
struct ProbeStep {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t power = 0;
};

struct ProbeInput {
  Csr<double, std::int32_t> matrix;
  std::vector<ProbeStep> steps;
};

inline void write_probe_input(const std::string& path, const ProbeInput& input) {
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const auto& array) {
    const auto count = static_cast<std::int64_t>(array.size());
    file.write(reinterpret_cast<const char*>(&count), sizeof(count));
    file.write(reinterpret_cast<const char*>(array.data()),
               static_cast<std::streamsize>(count * sizeof(array[0])));
  };
  write(input.matrix.row_offsets());
  write(input.matrix.columns());
  write(input.matrix.values());
  write(input.steps);
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// Of a square matrix.
inline ProbeInput read_probe_input(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](auto& array) {
    std::int64_t count = 0;
    file.read(reinterpret_cast<char*>(&count), sizeof(count));
    array.resize(count);
    file.read(reinterpret_cast<char*>(array.data()),
              static_cast<std::streamsize>(count * sizeof(array[0])));
  };
  Array<Offset> row_offsets;
  Array<std::int32_t> columns;
  Array<double> values;
  std::vector<ProbeStep> steps;
  read(row_offsets);
  read(columns);
  read(values);
  read(steps);
  if (!file) throw std::runtime_error("cannot read " + path);
  const auto rows = static_cast<std::int32_t>(row_offsets.size()) - 1;
  return {{rows, rows, std::move(row_offsets), std::move(columns), std::move(values)},
          std::move(steps)};
}

}  // namespace strata::test
