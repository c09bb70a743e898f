// Runs the strata command as a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::test {

using Words = std::vector<std::string>;

struct Outcome {
  int status = -1;  // the exit status; 128 + signal when it was killed
  std::string out;
  std::string err;
};

std::string contents_of(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& contents);

// A test with a folder of its own, removed at the end.
class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  // Standard output goes to `out` when that is given, as `> out` would have it.
  Outcome run(const Words& words, const std::string& out = "");
  // The same in two steps, for tests that send signals in between.
  pid_t start(const Words& words, const std::string& out = "");
  Outcome wait_for(pid_t process);

  // Runs a script of bash in the folder of the test's files, for pipes and limits; in it $strata is
  // the command.
  Outcome run_script(const std::string& script);

  // Runs with `--json -`, expects success and nothing but JSON.
  nlohmann::json json_of(Words words);

  // Expects this status and one line "strata: what: why" that contains `part`.
  void expect_failure(const Words& words, int status, const std::string& part);

  // A file of the test's folder, and how many there are.
  std::string file(const std::string& name) const { return (folder_ / "files" / name).string(); }
  int files() const;

 private:
  // The program and its arguments.
  pid_t start_program(const Words& words, const std::string& out);

  std::filesystem::path folder_;
};

void expect_one_line_error(const Outcome& outcome, int status, const std::string& part);

}  // namespace strata::test
