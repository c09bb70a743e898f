#include "cli/parts/exit_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "strata/base/error.hpp"

namespace strata::cli {

namespace {

std::string on_one_line(std::string message) {
  std::ranges::replace_if(
      message, [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  const std::size_t end = message.find_last_not_of(' ');
  return end == std::string::npos ? message : message.substr(0, end + 1);
}

}  // namespace

Failure failure_from(std::exception_ptr error, const std::string& command) {
  const auto blame = [&](ExitStatus status, const std::string& message) {
    return Failure(status, on_one_line(fmt::format("{}: {}", command, message)));
  };
  try {
    std::rethrow_exception(error);
  } catch (const Failure& failure) {
    return Failure(failure.status(), on_one_line(failure.what()));
  } catch (const FileError& file) {
    return Failure(ExitStatus::failure, on_one_line(file.what()));
  } catch (const Unavailable& part) {
    return blame(ExitStatus::unavailable, part.what());
  } catch (const InvalidArgument& argument) {
    return blame(ExitStatus::usage, argument.what());
  } catch (const InvalidMatrix& matrix) {
    return blame(ExitStatus::input, matrix.what());
  } catch (const std::bad_alloc&) {
    return blame(ExitStatus::failure, "out of memory");
  } catch (const std::exception& other) {
    return blame(ExitStatus::failure, other.what());
  } catch (...) {
    return blame(ExitStatus::failure, "unknown failure");
  }
}

}  // namespace strata::cli
