// Worker: a process that answers every line with a line, for as long as it is wanted. One that runs
// the cases of another machine saves each of them a login there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/campaign/internal/started_process.hpp"

namespace strata::campaign::detail {

class Worker {
 public:
  explicit Worker(std::vector<std::string> words) : words_(std::move(words)) {}

  // Starts the process if it does not run. None if it was stopped, which ends the process. Throws
  // HostLost if it ends instead of answering, or does not answer in time; FileError if it cannot be
  // started.
  std::optional<std::string> ask(const std::string& line, double seconds,
                                 const ProcessWatch& watch);

 private:
  void tell(const std::string& line);
  [[noreturn]] void give_up(const std::string& why);
  // The line that is there, if it is whole.
  std::optional<std::string> take_line();

  std::vector<std::string> words_;
  std::unique_ptr<StartedProcess> process_;
  std::string answer_;
};

}  // namespace strata::campaign::detail
