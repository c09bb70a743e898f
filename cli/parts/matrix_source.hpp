// The MATRIX argument: a file or a generator, and the matrix it stands for in the types asked for.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "cli/parts/exit_status.hpp"
#include "cli/parts/options.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/base/error.hpp"
#include "strata/formats/any_matrix.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/petsc_binary.hpp"

namespace strata::cli {

// What `read` returns; what goes wrong inside is the fault of the input.
template <class Read>
auto blame_input(const std::string& argument, const Read& read) {
  const auto naming = [&](const std::string& why) {
    return why.starts_with(argument) ? why : argument + ": " + why;
  };
  try {
    return read();
  } catch (const FileError& error) {
    throw Failure(ExitStatus::input, error.what());
  } catch (const InvalidMatrix& error) {
    throw Failure(ExitStatus::input, naming(error.what()));
  } catch (const OverflowError& error) {
    throw Failure(ExitStatus::input, naming(error.what()));
  } catch (const InvalidArgument& error) {
    throw Failure(ExitStatus::usage, naming(error.what()));
  } catch (const std::bad_alloc&) {
    throw Failure(ExitStatus::failure, naming("out of memory"));
  }
}

struct MatrixSource {
  std::string argument;                      // as given
  std::string name;                          // the specification, or the file without its ending
  std::optional<MatrixMarketHeader> header;  // of a file, in Matrix Market's words
  std::shared_ptr<MatrixMarketFile> file;    // opened once, so that it may be a pipe
  std::shared_ptr<PetscBinaryFile> petsc;    // instead of `file`, if it begins as such files do

  bool generated() const { return !header; }
};

// Opens a file and reads its header. Throws a Failure when there is neither a file nor a generator.
MatrixSource find_matrix(const std::string& argument);

// The precision asked for, or the one that the source needs.
Precision precision_for(const MatrixSource& source, const CommonOptions& options);

// Reads or generates, a file once only. Throws a Failure with status 3 when the file is not a valid
// matrix or does not fit, with status 2 when the specification makes no sense.
AnyMatrix load_matrix(const MatrixSource& source, const CommonOptions& options, Progress& progress);

}  // namespace strata::cli
