// The JSON document that every command writes on request; docs/cli.md describes it. It is valid at
// any time: results are added one by one, and an interrupted command writes those it has.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "cli/parts/matrix_source.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/measure/json.hpp"

namespace strata::cli {

class ResultDocument {
 public:
  // `destination` as --json has it. While the document exists, Ctrl-C saves it.
  ResultDocument(std::string destination, const std::vector<std::string>& command);
  ~ResultDocument();
  ResultDocument(const ResultDocument&) = delete;
  ResultDocument& operator=(const ResultDocument&) = delete;

  // Adds keys to "machine" and to "matrix", replacing those it has.
  void describe_machine(const Json& profile);
  void describe_matrix(const Json& profile);
  void add_result(Json result);

  // Writes the document where it was asked for; nothing otherwise.
  void write();
  // The same with the key "interrupted".
  void write_interrupted();

 private:
  std::string destination_;
  std::mutex mutex_;
  Json document_;
};

// The zeros that a file stores: of those that mirror each other it has one. The zeros of a
// generated matrix are all stored.
Offset stored_zeros(const MatrixSource& source, const MatrixStatistics& statistics);

// The keys of "matrix" that the source knows, and those that need the statistics of the entries.
Json describe(const MatrixSource& source);
Json describe(const MatrixSource& source, const MatrixStatistics& statistics);

}  // namespace strata::cli
