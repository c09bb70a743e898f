// Runs a program as a process group of its own, within limits of time and memory.
//
//   const ProcessResult result = run_process({.words = {"/usr/bin/true"}, .limits = {.seconds =
//   5}}); if (result.ending == Ending::exited && result.status == 0) …
//
// The group is ended as a whole: when a limit is passed, when the caller says stop, and when the
// first process has ended and left others behind. If this process dies, the kernel ends the first
// process of the group.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "strata/campaign/campaign.hpp"
#include "strata/campaign/case.hpp"

namespace strata::campaign {

struct ProcessRequest {
  std::vector<std::string> words;          // a program without / is searched in PATH
  std::filesystem::path program = {};      // what is started, if not the first word
  std::filesystem::path folder = {};       // where it runs; empty: here
  std::vector<Variable> environment = {};  // beside that of this process, or in its place
  Limits limits = {};                      // the memory of the group is watched, not reserved
  std::string input = {};                  // for standard input, which stays open until the end
  std::filesystem::path input_file = {};   // for standard input instead, which ends with it
};

enum class Ending { exited, signalled, timeout, memory, output, stopped };

struct ProcessResult {
  Ending ending = Ending::exited;
  int status = 0;               // the exit status, if it exited by itself or after a timeout
  int signal = 0;               // that it died of
  double seconds = 0;           // of wall time
  std::int64_t peak_bytes = 0;  // the most resident memory of the first process
  std::string output;           // all of standard output
  std::string error;            // the end of standard error
};

// Called several times a second while the process runs.
struct ProcessWatch {
  std::function<bool()> stop = {};                // true: end it
  std::function<void(double seconds)> tick = {};  // since it was started
};

// Throws FileError if the program cannot be started. If `stop` or `tick` throws, the group is ended
// first.
ProcessResult run_process(const ProcessRequest& request, const ProcessWatch& watch = {});

}  // namespace strata::campaign
