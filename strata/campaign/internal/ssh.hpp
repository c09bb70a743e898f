// SshConnection: commands on another machine, over one connection that all of them share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "strata/campaign/process.hpp"

namespace strata::campaign::detail {

class SshConnection {
 public:
  explicit SshConnection(std::string host);
  // Closes the connection.
  ~SshConnection();
  SshConnection(const SshConnection&) = delete;
  SshConnection& operator=(const SshConnection&) = delete;

  // The words of a process that runs a command of the shell there.
  std::vector<std::string> words_for(const std::string& command) const;

  // What goes to standard input there; empty: nothing.
  struct Input {
    std::filesystem::path file = {};
  };
  // Runs a command of the shell there. Throws FileError if there is no ssh.
  ProcessResult run(const std::string& command, double seconds, const ProcessWatch& watch,
                    const Input& input);

 private:
  std::vector<std::string> words_before_command() const;

  std::string host_;
  std::filesystem::path folder_;  // of the socket that connections share; empty: they do not
};

}  // namespace strata::campaign::detail
