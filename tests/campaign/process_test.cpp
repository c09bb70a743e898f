// Processes within limits: how they end, and that nothing of them is left.

#include "strata/campaign/process.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "strata/base/internal/sanitizers.hpp"
#include "strata/campaign/internal/group_memory.hpp"
#include "tests/campaign/support.hpp"

namespace strata::campaign {
namespace {

ProcessRequest shell(const std::string& script, Limits limits = {.seconds = 600}) {
  return {.words = {"/bin/bash", "-c", script}, .limits = limits};
}

// With a limit of time that lets the script say "ready" first, however slow the machine is.
ProcessResult run_beyond_time(const std::string& script) {
  for (double seconds = 0.1;; seconds *= 2) {
    ProcessResult result = run_process(shell(script, {.seconds = seconds}));
    if (result.output.find("ready\n") != std::string::npos) return result;
  }
}

bool is_running(pid_t process) {
  return kill(process, 0) == 0;
}

// Of a process that is a child of another one: it is gone when that has waited for it.
void wait_until_gone(pid_t process) {
  while (is_running(process)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int open_descriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

class Processes : public test::FolderTest {};

TEST_F(Processes, TellStatusAndOutput) {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.ending, Ending::exited);
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.error, "err\n");
  EXPECT_GT(result.seconds, 0);
  EXPECT_GT(result.peak_bytes, 0);
}

TEST_F(Processes, KeepAllOfTheOutputAndTheEndOfErrors) {
  const ProcessResult result =
      run_process(shell("head -c 3000000 /dev/zero; head -c 100000 /dev/zero >&2; echo end >&2"));
  EXPECT_EQ(result.output.size(), 3000000u);
  EXPECT_EQ(result.error.size(), 4096u);
  EXPECT_TRUE(result.error.ends_with("end\n"));
}

TEST_F(Processes, TellTheSignalTheyDieOf) {
  const ProcessResult result = run_process(shell("kill -ABRT $$"));
  EXPECT_EQ(result.ending, Ending::signalled);
  EXPECT_EQ(result.signal, SIGABRT);
}

TEST_F(Processes, RunWhereAndWithWhatTheyAreTold) {
  ProcessRequest request = shell("pwd; echo $STRATA_TEST $HOME; cat");
  request.folder = folder();
  request.environment = {{"STRATA_TEST", "a b"}, {"HOME", "nowhere"}};
  request.input_file = write("in", "input");
  EXPECT_EQ(run_process(request).output,
            std::filesystem::canonical(folder()).string() + "\na b nowhere\ninput");
}

TEST_F(Processes, InputStaysOpenUntilTheEnd) {
  ProcessRequest request = shell("read -r line; echo \"$line\"; read -t 0.05 -r more; echo $?");
  request.input = "hello\n";
  // bash: more than 128 after the time, 1 after the end of the input.
  const std::string output = run_process(request).output;
  EXPECT_TRUE(output.starts_with("hello\n")) << output;
  EXPECT_GT(std::stoi(output.substr(6)), 128);
  request = shell("exit 0");
  request.input = std::string(100, 'x');
  EXPECT_EQ(run_process(request).status, 0);
}

TEST_F(Processes, SignalsThatThisOneBlocksReachThem) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const ProcessResult result = run_process(shell("kill -TERM $$; sleep 600"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST_F(Processes, ThatCannotBeStartedAreNamed) {
  const auto message = [](ProcessRequest request) {
    return test::message_of<FileError>([&] { run_process(request); });
  };
  EXPECT_NE(message({.words = {"/no/such/program"}}).find("/no/such/program: cannot be started"),
            std::string::npos);
  EXPECT_NE(message({.words = {"no-such-program"}}).find("no-such-program"), std::string::npos);
  ProcessRequest elsewhere = shell("true");
  elsewhere.folder = "/no/such/folder";
  EXPECT_NE(message(elsewhere).find("/no/such/folder"), std::string::npos);
}

TEST_F(Processes, EndWithAllTheirChildrenWhenTimeIsUp) {
  const ProcessResult result =
      run_beyond_time("trap '' TERM; sleep 600 & echo $! $$; echo ready; wait; sleep 600");
  EXPECT_EQ(result.ending, Ending::timeout);
  EXPECT_EQ(result.signal, SIGKILL);
  std::istringstream output(result.output);
  pid_t child = 0;
  pid_t parent = 0;
  output >> child >> parent;
  ASSERT_GT(child, 0);
  wait_until_gone(child);
  EXPECT_FALSE(is_running(parent));
}

TEST_F(Processes, MayWriteWhatTheyHaveWhenTimeIsUp) {
  const ProcessResult result =
      run_beyond_time("trap 'echo partial; exit 5' TERM; sleep 600 & echo ready; wait");
  EXPECT_EQ(result.ending, Ending::timeout);
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(result.output, "ready\npartial\n");
}

TEST_F(Processes, LeaveNoChildrenBehind) {
  const ProcessResult result = run_process(shell("sleep 600 >/dev/null 2>&1 & echo $!"));
  EXPECT_EQ(result.ending, Ending::exited);
  wait_until_gone(static_cast<pid_t>(std::stoi(result.output)));
}

#ifndef STRATA_ADDRESS_SANITIZER  // whose processes have terabytes of shadow
TEST_F(Processes, EndWhenTheyTakeTooMuchMemory) {
  // The first process of the group, and one that it has started.
  const Limits limits{.seconds = 600, .memory_bytes = 100 << 20};
  const std::string hog = "x=$(head -c 200000000 /dev/zero | tr '\\0' x)";
  for (const std::string& script :
       {hog + "; sleep 600", "bash -c \"" + hog + "; sleep 600\"; true"}) {
    SCOPED_TRACE(script);
    const ProcessResult result = run_process(shell(script, limits));
    EXPECT_EQ(result.ending, Ending::memory);
    EXPECT_EQ(result.signal, SIGKILL);
  }
}
#endif

TEST_F(Processes, MemoryOfAGroupIsThatOfItsProcesses) {
  EXPECT_GT(detail::resident_bytes(getpid()), 0);
  EXPECT_GE(detail::group_resident_bytes(getpgrp()), detail::resident_bytes(getpid()) / 2);
  EXPECT_EQ(detail::group_resident_bytes(1 << 30), 0);
}

TEST_F(Processes, EndWhenTheCallerSaysSo) {
  int ticks = 0;
  const ProcessResult result = run_process(
      shell("sleep 600"), {.stop = [&] { return ticks > 2; }, .tick = [&](double) { ++ticks; }});
  EXPECT_EQ(result.ending, Ending::stopped);
}

TEST_F(Processes, EndWhenTheCallerThrows) {
  const std::filesystem::path file = folder() / "pid";
  ProcessRequest request = shell("echo $$ > pid; sleep 600");
  request.folder = folder();
  EXPECT_THROW(run_process(request, {.tick =
                                         [&](double) {
                                           if (!contents_of(file).empty()) {
                                             throw std::runtime_error("enough");
                                           }
                                         }}),
               std::runtime_error);
  EXPECT_FALSE(is_running(static_cast<pid_t>(std::stoi(contents_of(file)))));
}

TEST_F(Processes, EndWhenTheirParentIsKilled) {
  const pid_t parent = fork();
  if (parent == 0) {
    ProcessRequest request = shell("echo $$ > pid.part; mv pid.part pid; exec sleep 600");
    request.folder = folder();
    try {
      run_process(request);
    } catch (...) {
    }
    _exit(0);
  }
  while (contents_of(folder() / "pid").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto child = static_cast<pid_t>(std::stoi(contents_of(folder() / "pid")));
  EXPECT_TRUE(is_running(child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  wait_until_gone(child);
}

TEST_F(Processes, LeaveNoDescriptorsAndNoZombies) {
  run_process(shell("true"));
  const int before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    run_process(shell("echo x; echo y >&2"));
    EXPECT_THROW(run_process({.words = {"/no/such/program"}}), FileError);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Processes, InheritNothingButTheirInputAndOutputs) {
  EXPECT_EQ(run_process(shell("ls /proc/self/fd | wc -l")).output, "4\n");  // and that of ls
}

}  // namespace
}  // namespace strata::campaign
