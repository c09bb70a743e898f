#include <stdlib.h>

#include <sstream>
#include <system_error>

#include "strata/base/error.hpp"
#include "strata/campaign/internal/ssh.hpp"

namespace strata::campaign::detail {

namespace fs = std::filesystem;

namespace {

// The path of a socket has at most 107 characters, of which ssh takes some.
constexpr std::size_t kLongestFolder = 70;

std::vector<std::string> ssh_words() {
  const char* const given = std::getenv("STRATA_SSH");
  std::istringstream text(given != nullptr && *given != '\0' ? given : "ssh");
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

}  // namespace

SshConnection::SshConnection(std::string host) : host_(std::move(host)) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "strata-ssh-XXXXXX").string();
  // Without a socket every command has a connection of its own, which is slower and no more.
  if (!error && name.size() <= kLongestFolder && ::mkdtemp(name.data()) != nullptr) folder_ = name;
}

SshConnection::~SshConnection() {
  if (folder_.empty()) return;
  std::error_code ignored;
  if (fs::exists(folder_ / "socket", ignored)) {
    std::vector<std::string> words = words_before_command();
    words.insert(words.end() - 2, {"-O", "exit"});
    words.pop_back();
    try {
      run_process({.words = words, .limits = {.seconds = 5}});
    } catch (const std::exception&) {
      // The connection ends by itself after a minute.
    }
  }
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> SshConnection::words_before_command() const {
  std::vector<std::string> words = ssh_words();
  const auto option = [&](const std::string& text) { words.insert(words.end(), {"-o", text}); };
  option("BatchMode=yes");  // nobody is there to type a password
  option("ConnectTimeout=20");
  option("ServerAliveInterval=15");  // a machine that vanished is noticed after a minute
  option("ServerAliveCountMax=4");
  if (!folder_.empty()) {
    option("ControlMaster=auto");
    option("ControlPath=" + (folder_ / "socket").string());
    option("ControlPersist=60");
  }
  words.insert(words.end(), {host_, "--"});
  return words;
}

std::vector<std::string> SshConnection::words_for(const std::string& command) const {
  std::vector<std::string> words = words_before_command();
  words.push_back(command);
  return words;
}

ProcessResult SshConnection::run(const std::string& command, double seconds,
                                 const ProcessWatch& watch, const Input& input) {
  return run_process(
      {.words = words_for(command), .limits = {.seconds = seconds}, .input_file = input.file},
      watch);
}

}  // namespace strata::campaign::detail
