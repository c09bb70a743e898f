// StartedProcess: a program that was started as the first of a process group of its own, with what
// is needed to wait for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "strata/campaign/internal/descriptor.hpp"
#include "strata/campaign/process.hpp"

namespace strata::campaign::detail {

class StartedProcess {
 public:
  // Throws FileError if the program cannot be started.
  explicit StartedProcess(const ProcessRequest& request);
  // Ends the group if it still runs.
  ~StartedProcess();
  StartedProcess(const StartedProcess&) = delete;
  StartedProcess& operator=(const StartedProcess&) = delete;

  pid_t id() const { return id_; }
  // Waits until the process has ended or standard error has something, at most this long. True if
  // it has ended.
  bool wait(int milliseconds);
  // To all processes of the group.
  void signal(int number) const;
  // Of standard output so far.
  std::int64_t output_bytes() const;

  struct End {
    int status = 0;  // as waitpid has it
    std::int64_t peak_bytes = 0;
    std::string output;
    std::string error;
  };
  // After wait() has said that it has ended: ends what is left of the group and takes all it wrote.
  End finish();

 private:
  void take_error();
  bool has_ended() const;

  pid_t id_ = -1;
  bool running_ = false;
  Descriptor ended_;   // of the process: readable at its end; none on old kernels
  Descriptor input_;   // our end of its standard input
  Descriptor output_;  // a file in memory: nothing to clean up after us, and no reader to wake up
  Descriptor error_;   // our end of a pipe
  std::string error_tail_;
};

}  // namespace strata::campaign::detail
