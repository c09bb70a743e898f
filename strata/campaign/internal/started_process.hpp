// StartedProcess: a program that was started as the first of a process group of its own, with what
// is needed to wait for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/campaign/internal/descriptor.hpp"
#include "strata/campaign/process.hpp"

namespace strata::campaign::detail {

class StartedProcess {
 public:
  // Where standard output goes: into a file in memory, which leaves nothing to clean up and wakes
  // up no reader, or into a pipe that is read as it comes.
  enum class Output { file, pipe };

  // Throws FileError if the program cannot be started.
  explicit StartedProcess(const ProcessRequest& request, Output output = Output::file);
  // Ends the group if it still runs.
  ~StartedProcess();
  StartedProcess(const StartedProcess&) = delete;
  StartedProcess& operator=(const StartedProcess&) = delete;

  pid_t id() const { return id_; }
  // Waits until the process has ended or has written something to a pipe, at most this long. True
  // if it has ended.
  bool wait(int milliseconds);
  // To all processes of the group.
  void signal(int number) const;
  // Writes to its standard input, if that was given as text.
  void tell(std::string_view text) const;
  // Of standard output so far, if it is a file.
  std::int64_t output_bytes() const;
  // What has come through the pipe since the last call.
  std::string take_output();

  struct End {
    int status = 0;  // as waitpid has it
    std::int64_t peak_bytes = 0;
    std::string output;
    std::string error;
  };
  // After wait() has said that it has ended: ends what is left of the group and takes all it wrote.
  End finish();

 private:
  static std::string take_from(Descriptor& pipe);
  void take_error();
  bool has_ended() const;

  pid_t id_ = -1;
  bool running_ = false;
  Descriptor ended_;   // of the process: readable at its end; none on old kernels
  Descriptor input_;   // our end of its standard input
  Descriptor output_;  // the file, or our end of the pipe
  Descriptor error_;   // our end of a pipe
  Output output_kind_;
  std::string error_tail_;
};

}  // namespace strata::campaign::detail
