// What solve, eig and expm share: names of methods, vectors in files, and where the time went.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "cli/parts/exit_status.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/base/error.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/measure/json.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::cli {

// "cg, ca-cg, …"
template <class Enumerator, std::size_t N>
std::string names_of(const Enumerator (&all)[N]) {
  std::string names;
  for (const Enumerator each : all) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(each));
  }
  return names;
}

template <class Enumerator, std::size_t N>
Enumerator named(const std::string& name, const Enumerator (&all)[N], std::string_view what) {
  for (const Enumerator each : all) {
    if (name_of(each) == name) return each;
  }
  throw InvalidArgument(fmt::format("'{}' is no {}; there are {}", name, what, names_of(all)));
}

// A vector in a Matrix Market file: of one column, in any layout.
template <Value V>
std::vector<V> read_vector(const std::string& path, Offset rows) {
  const auto column = read_input([&] { return read_matrix_market<V, std::int64_t>(path); });
  if (column.rows() != rows || column.cols() != 1) {
    throw Failure(ExitStatus::input, fmt::format("{}: {} rows and {} columns, for a matrix of {} "
                                                 "rows",
                                                 path, column.rows(), column.cols(), rows));
  }
  std::vector<V> values(static_cast<std::size_t>(rows), V(0));
  for (std::size_t row = 0; row < values.size(); ++row) {
    for (Offset k = column.row_offsets()[row]; k < column.row_offsets()[row + 1]; ++k) {
      values[row] = column.values()[static_cast<std::size_t>(k)];
    }
  }
  return values;
}

template <Value V>
void write_vector(const std::string& path, std::span<const V> values) {
  const auto rows = static_cast<std::int64_t>(values.size());
  Array<Offset> offsets(values.size() + 1);
  for (std::size_t row = 0; row <= values.size(); ++row) offsets[row] = static_cast<Offset>(row);
  write_matrix_market(
      path, Csr<V, std::int64_t>(rows, 1, std::move(offsets), Array<std::int64_t>(values.size(), 0),
                                 Array<V>(values.begin(), values.end())));
}

template <class Element>
Json list_json(const std::vector<Element>& elements) {
  Json list = Json::array();
  for (const Element& element : elements) list.push_back(element);
  return list;
}

inline Json seconds_json(const solvers::SolveTimes& times) {
  return {{"total", times.total},
          {"products", times.products},
          {"preconditioner", times.preconditioner},
          {"orthogonalisation", times.orthogonalisation},
          {"reductions", times.reductions},
          {"updates", times.updates},
          {"rest", times.rest()}};
}

// With the product in sweeps and in bare powers, where these are known.
inline Json seconds_json(const solvers::SolveTimes& times, const solvers::SweptProduct& product) {
  Json seconds = seconds_json(times);
  if (product.in_method > 0) seconds["product"] = product.in_method;
  if (product.bare > 0) seconds["bare_product"] = product.bare;
  return seconds;
}

// Columns for them, where bare powers were timed.
inline void add_product_columns(const solvers::SweptProduct& product,
                                std::vector<std::string>& header, std::vector<std::string>& row) {
  if (!(product.bare > 0)) return;
  header.insert(header.end(), {"in sweeps", "bare"});
  row.insert(row.end(), {product.in_method > 0 ? seconds_text(product.in_method) : "-",
                         seconds_text(product.bare)});
}

}  // namespace strata::cli
