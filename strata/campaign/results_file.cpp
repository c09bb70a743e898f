#include "strata/campaign/results_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "strata/base/error.hpp"

namespace strata::campaign {

namespace {

// What every line of a results file begins with, and so does a torn one if it is long enough.
constexpr std::string_view kBeginning = R"({"strata_results")";

[[noreturn]] void fail(const std::filesystem::path& path, const char* what, int error) {
  throw FileError(path.string(),
                  fmt::format("{}: {}", what, std::generic_category().message(error)));
}

// The process that has locked the file, by the list that the kernel keeps; 0 if it does not say.
// Lines are "1: FLOCK ADVISORY WRITE 1234 00:2f:5678 0 EOF".
long holder_of(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return 0;
  const std::string wanted =
      fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number;
    std::string kind;
    std::string advisory;
    std::string access;
    long process = 0;
    std::string inode;
    if (words >> number >> kind >> advisory >> access >> process >> inode && kind == "FLOCK" &&
        inode == wanted) {
      return process;
    }
  }
  return 0;
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path) : path_(path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw FileError(path.string(), "is no regular file, and results are kept in one");
  }
  file_ = detail::Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file_.is_open()) fail(path_, "cannot be written", errno);
  lock();
  std::array<char, kBeginning.size()> first{};
  const ssize_t size = ::pread(file_.number(), first.data(), first.size(), 0);
  if (size < 0) fail(path_, "cannot be read", errno);
  const std::string_view found(first.data(), static_cast<std::size_t>(size));
  // Of a line that was torn early and mended there is less.
  const std::string_view line = found.substr(0, found.find('\n'));
  if (!kBeginning.starts_with(line) || (line.empty() && !found.empty())) {
    throw FileError(path.string(), "is no results file of a campaign, and is left as it is");
  }
  mend();
}

void ResultsFile::lock() {
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) fail(path_, "cannot be locked", errno);
  const long process = holder_of(file_.number());
  throw FileError(path_.string(),
                  process > 0 ? fmt::format("another campaign is writing it: process {}", process)
                              : "another campaign is writing it");
}

// A campaign that was killed may have left half a line. It stays, as a line of its own: readers
// leave it out.
void ResultsFile::mend() {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) fail(path_, "cannot be read", errno);
  if (status.st_size == 0) return;
  char last = 0;
  if (::pread(file_.number(), &last, 1, status.st_size - 1) != 1) {
    fail(path_, "cannot be read", errno);
  }
  if (last != '\n') append("");
}

void ResultsFile::append(std::string_view line) {
  const off_t before = ::lseek(file_.number(), 0, SEEK_END);
  const std::string text = std::string(line) + "\n";
  std::size_t done = 0;
  int error = 0;
  // One call as a rule. It writes less only where space or a limit ends, and the next one says why.
  while (done < text.size() && error == 0) {
    const ssize_t written = ::write(file_.number(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error = errno;
    } else {
      done += static_cast<std::size_t>(written);
    }
  }
  if (error == 0 && ::fsync(file_.number()) != 0) error = errno;
  if (error == 0) return;
  (void)!::ftruncate(file_.number(), before);
  fail(path_, "cannot be written", error);
}

}  // namespace strata::campaign
