// How the command ends: docs/cli.md lists the statuses, scripts rely on them.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "strata/base/error.hpp"

namespace strata::cli {

enum class ExitStatus {
  done = 0,
  not_valid = 1,    // a result failed validation or a solver did not converge
  usage = 2,        // wrong options, arguments or generator specifications
  input = 3,        // a file cannot be read or is not a valid matrix
  unavailable = 4,  // a device or optional part was asked for that is not available
  failure = 5,      // out of memory, interrupted, or anything else
};

// An error that knows its exit status; what() reads "what: why".
class Failure : public std::runtime_error {
 public:
  Failure(ExitStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  ExitStatus status() const { return status_; }

 private:
  ExitStatus status_;
};

// What `read` returns. A file that it cannot read is wrong input; others that a command cannot use
// are failures.
template <class Read>
auto read_input(Read&& read) {
  try {
    return read();
  } catch (const FileError& error) {
    throw Failure(ExitStatus::input, error.what());
  }
}

// The failure that an exception amounts to, its message on one line. `command` is what to blame
// when the message does not say.
Failure failure_from(std::exception_ptr error, const std::string& command);

}  // namespace strata::cli
