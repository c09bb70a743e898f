#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "strata/base/error.hpp"
#include "strata/campaign/internal/started_process.hpp"

extern char** environ;

namespace strata::campaign::detail {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kErrorTail = 4096;
// Where the kernel cannot say that a process has ended, it is asked this often.
constexpr int kAskMilliseconds = 10;

// CLOSE_RANGE_CLOEXEC, which headers of older kernels lack.
constexpr unsigned kCloseOnExec = 4;
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

[[noreturn]] void fail(const std::string& what, int error) {
  throw FileError(what, "cannot be started: " + std::generic_category().message(error));
}

Descriptor checked(int number, const std::string& what) {
  if (number < 0) fail(what, errno);
  return Descriptor(number);
}

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Pipe make_pipe(const std::string& what) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(what, errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// The path that a shell would run.
std::string program_of(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const given = std::getenv("PATH");
  std::string path = given != nullptr ? given : "/usr/local/bin:/usr/bin:/bin";
  path += ':';
  for (std::size_t begin = 0, end = 0; (end = path.find(':', begin)) != std::string::npos;
       begin = end + 1) {
    std::string candidate = path.substr(begin, end - begin) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  fail(name, ENOENT);
}

std::vector<std::string> environment_with(const std::vector<Variable>& added) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::find(added, name, &Variable::name) == added.end()) all.emplace_back(text);
  }
  for (const Variable& variable : added) all.push_back(variable.name + "=" + variable.value);
  return all;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// All that the new process needs, made before it exists: between fork and exec nothing may be
// allocated, for another thread may hold the lock of the allocator.
struct Launch {
  const char* program = nullptr;
  char* const* words = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;
  int input = -1;
  int output = -1;
  int error = -1;
  int failure = -1;  // where errno goes if it cannot be started
  pid_t parent = -1;
};

[[noreturn]] void become(const Launch& launch) {
  const auto give_up = [&] {
    const int error = errno;
    (void)!::write(launch.failure, &error, sizeof error);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  // If the parent is killed, nobody else would end this process.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);
  if (::dup2(launch.input, STDIN_FILENO) < 0 || ::dup2(launch.output, STDOUT_FILENO) < 0 ||
      ::dup2(launch.error, STDERR_FILENO) < 0) {
    give_up();
  }
  // Where this process was started without some of them, a file may have their number already.
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::fcntl(number, F_SETFD, 0);
  }
  if (*launch.folder != '\0' && ::chdir(launch.folder) != 0) give_up();
  // What the parent blocks and ignores is its own business.
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) {
    ::signal(number, SIG_DFL);
  }
  // This process may have been started with open files that nobody meant for others.
  ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, kCloseOnExec);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(launch.program, launch.words, launch.environment);
  give_up();
  ::_exit(127);
}

// A file in memory where the kernel has such; otherwise one without a name.
Descriptor output_file(const std::string& what) {
  if (const int memory = ::memfd_create("strata-output", MFD_CLOEXEC); memory >= 0) {
    return Descriptor(memory);
  }
  std::string name = (fs::temp_directory_path() / "strata-output-XXXXXX").string();
  Descriptor file = checked(::mkostemp(name.data(), O_CLOEXEC), what);
  ::unlink(name.c_str());
  return file;
}

std::string contents_of(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return {};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t size =
        ::pread(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    done += static_cast<std::size_t>(size);
  }
  text.resize(done);
  return text;
}

}  // namespace

StartedProcess::StartedProcess(const ProcessRequest& request, Output output)
    : output_kind_(output) {
  const std::string name =
      request.program.empty() ? request.words.front() : request.program.string();
  const std::string program = program_of(name);
  const std::string folder = request.folder.string();
  const std::vector<std::string> variables = environment_with(request.environment);
  const std::vector<char*> words = pointers_to(request.words);
  const std::vector<char*> environment = pointers_to(variables);

  Descriptor input;
  if (!request.input.empty()) {
    // Not a pipe: a process that ends without reading must not kill this one by a signal.
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail(name, errno);
    input_ = Descriptor(ends[0]);
    input = Descriptor(ends[1]);
  } else {
    const std::string file = request.input_file.empty() ? "/dev/null" : request.input_file.string();
    input = checked(::open(file.c_str(), O_RDONLY | O_CLOEXEC), file);
  }
  Pipe through;
  if (output == Output::pipe) {
    through = make_pipe(name);
    output_ = std::move(through.reading);
    ::fcntl(output_.number(), F_SETFL, O_NONBLOCK);
  } else {
    output_ = output_file(name);
  }
  Pipe error = make_pipe(name);
  Pipe failure = make_pipe(name);
  ::fcntl(error.reading.number(), F_SETFL, O_NONBLOCK);

  const Launch launch{
      .program = program.c_str(),
      .words = words.data(),
      .environment = environment.data(),
      .folder = folder.c_str(),
      .input = input.number(),
      .output = output == Output::pipe ? through.writing.number() : output_.number(),
      .error = error.writing.number(),
      .failure = failure.writing.number(),
      .parent = ::getpid()};
  id_ = ::fork();
  if (id_ < 0) fail(name, errno);
  if (id_ == 0) become(launch);
  running_ = true;
  ::setpgid(id_, id_);  // whichever of the two comes first
  error_ = std::move(error.reading);
  failure.writing.close();
  int why = 0;
  ssize_t size = 0;
  do {
    size = ::read(failure.reading.number(), &why, sizeof why);
  } while (size < 0 && errno == EINTR);
  if (size == sizeof why) {
    ::waitpid(id_, nullptr, 0);
    running_ = false;
    fail(why == ENOENT && !folder.empty() && !fs::exists(folder) ? folder : name, why);
  }
  ended_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0)));
  tell(request.input);
}

void StartedProcess::tell(std::string_view text) const {
  while (!text.empty() && input_.is_open()) {
    const ssize_t size = ::send(input_.number(), text.data(), text.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;  // it has ended, which whoever waits for it learns
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

StartedProcess::~StartedProcess() {
  if (!running_) return;
  signal(SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

bool StartedProcess::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         info.si_pid == id_;
}

bool StartedProcess::wait(int milliseconds) {
  const int pipe = output_kind_ == Output::pipe ? output_.number() : -1;
  std::array<pollfd, 3> events{{{.fd = error_.number(), .events = POLLIN, .revents = 0},
                                {.fd = ended_.number(), .events = POLLIN, .revents = 0},
                                {.fd = pipe, .events = POLLIN, .revents = 0}}};
  const int most = ended_.is_open() ? milliseconds : std::min(milliseconds, kAskMilliseconds);
  ::poll(events.data(), events.size(), most);
  if (events[0].revents != 0) take_error();
  return has_ended();
}

// What is in a pipe, which is closed at its end.
std::string StartedProcess::take_from(Descriptor& pipe) {
  std::string text;
  std::array<char, 65536> block;
  while (pipe.is_open()) {
    const ssize_t size = ::read(pipe.number(), block.data(), block.size());
    if (size < 0) break;
    if (size == 0) pipe.close();
    text.append(block.data(), static_cast<std::size_t>(size));
  }
  return text;
}

void StartedProcess::take_error() {
  error_tail_ += take_from(error_);
  if (error_tail_.size() > kErrorTail) error_tail_.erase(0, error_tail_.size() - kErrorTail);
}

std::string StartedProcess::take_output() {
  return take_from(output_);
}

void StartedProcess::signal(int number) const {
  ::kill(-id_, number);
}

std::int64_t StartedProcess::output_bytes() const {
  struct stat status{};
  return ::fstat(output_.number(), &status) == 0 ? status.st_size : 0;
}

StartedProcess::End StartedProcess::finish() {
  // The process is still there for whoever asks by its number, so that the number is that of this
  // group and of no other.
  signal(SIGKILL);
  End end;
  rusage usage{};
  ::wait4(id_, &end.status, 0, &usage);
  running_ = false;
  take_error();
  end.peak_bytes = std::int64_t{1024} * usage.ru_maxrss;
  end.output = output_kind_ == Output::pipe ? take_from(output_) : contents_of(output_.number());
  end.error = std::move(error_tail_);
  return end;
}

}  // namespace strata::campaign::detail
