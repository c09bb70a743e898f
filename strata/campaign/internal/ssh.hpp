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

  // What goes to standard input there; the rest is as in a ProcessRequest.
  struct Input {
    std::string text = {};
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
