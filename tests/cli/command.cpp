#include "tests/cli/command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace strata::test {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

CommandTest::CommandTest() {
  std::string name = (fs::temp_directory_path() / "strata-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
  folder_ = name;
  fs::create_directory(folder_ / "files");
}

CommandTest::~CommandTest() {
  fs::remove_all(folder_);
}

namespace {

// Whoever moves a build says where the command is now.
const char* command() {
  const char* moved = std::getenv("STRATA_COMMAND");
  return moved != nullptr ? moved : STRATA_COMMAND;
}

}  // namespace

pid_t CommandTest::start_program(const Words& words, const std::string& out) {
  const std::string out_path = out.empty() ? (folder_ / "out").string() : out;
  const std::string err_path = (folder_ / "err").string();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    const auto redirect = [](int descriptor, const std::string& path) {
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
    };
    // Tests run at the same time: threads that spin while they wait would slow down all of them.
    setenv("OMP_WAIT_POLICY", "passive", 0);
    redirect(STDOUT_FILENO, out_path);
    redirect(STDERR_FILENO, err_path);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  return process;
}

pid_t CommandTest::start(const Words& words, const std::string& out) {
  Words program{command()};
  program.insert(program.end(), words.begin(), words.end());
  return start_program(program, out);
}

Outcome CommandTest::wait_for(pid_t process) {
  int state = 0;
  waitpid(process, &state, 0);
  return {.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state),
          .out = contents_of(folder_ / "out"),
          .err = contents_of(folder_ / "err")};
}

Outcome CommandTest::run(const Words& words, const std::string& out) {
  return wait_for(start(words, out));
}

Outcome CommandTest::run_script(const std::string& script) {
  const Words program{"/bin/bash", "-c", "cd \"$0\" && strata=$1 && " + script,
                      (folder_ / "files").string(), fs::absolute(command()).string()};
  return wait_for(start_program(program, ""));
}

nlohmann::json CommandTest::json_of(Words words) {
  words.insert(words.end(), {"--json", "-"});
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

void CommandTest::expect_failure(const Words& words, int status, const std::string& part) {
  SCOPED_TRACE(testing::PrintToString(words));
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.out, "");
  expect_one_line_error(outcome, status, part);
}

int CommandTest::files() const {
  return static_cast<int>(
      std::distance(fs::directory_iterator(folder_ / "files"), fs::directory_iterator()));
}

void expect_one_line_error(const Outcome& outcome, int status, const std::string& part) {
  EXPECT_EQ(outcome.status, status);
  EXPECT_TRUE(outcome.err.starts_with("strata: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(": ", 8), std::string::npos) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with("\n"));
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "\nlacks: " << part;
}

}  // namespace strata::test
