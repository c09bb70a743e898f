// Files that are no plain files, and plain ones in trouble: pipes, links, permissions, stale
// temporaries, full disks.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "strata/io/matrix_market.hpp"
#include "strata/io/replace_file.hpp"
#include "tests/io/support.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;
using Matrix = Csr<double, std::int32_t>;

const Matrix kMatrix(2, 3, {0, 2, 3}, {0, 2, 1}, {0.5, -1, 3});
const std::string kText =
    "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n1 3 -1\n2 2 3\n";

// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  std::string name() const { return "/dev/fd/" + std::to_string(number_); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  std::string rest() const {
    std::string text;
    char bytes[1000];
    for (ssize_t count; (count = ::read(number_, bytes, sizeof(bytes))) > 0;) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int number_;
};

struct Pipe {
  Pipe() : Pipe(made()) {}
  Descriptor reading;
  Descriptor writing;

 private:
  struct Ends {
    int ends[2];
  };
  static Ends made() {
    Ends pipe{};
    if (::pipe(pipe.ends) != 0) throw std::runtime_error("no pipe");
    return pipe;
  }
  explicit Pipe(const Ends& pipe) : reading(pipe.ends[0]), writing(pipe.ends[1]) {}
};

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

ino_t inode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_ino;
}

std::string writing_error(const fs::path& path) {
  try {
    write_matrix_market(path, kMatrix);
  } catch (const FileError& failure) {
    EXPECT_EQ(failure.path(), path.string());
    return failure.what();
  }
  return "no error";
}

Matrix read(const fs::path& path) {
  return read_matrix_market<double, std::int32_t>(path);
}

TEST(OutputFiles, StaleTemporariesOfTheSameProcessNumberDoNotBlock) {
  const test::TemporaryFolder folder;
  const std::string prefix = "a.mtx.tmp-" + std::to_string(::getpid()) + "-";
  constexpr int kStale = 1000;
  for (int k = 0; k < kStale; ++k) folder.write(prefix + std::to_string(k), "stale");
  EXPECT_EQ(writing_error(folder.path() / "a.mtx"), "no error");
  EXPECT_EQ(read(folder.path() / "a.mtx"), kMatrix);
  EXPECT_EQ(folder.files(), kStale + 1);
  EXPECT_EQ(test::contents_of(folder.path() / (prefix + "0")), "stale");
}

TEST(OutputFiles, AFileKeepsItsPermissions) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.mtx", "old");
  for (const mode_t mode : {0600U, 0640U, 0666U, 0755U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_matrix_market(path, kMatrix);
    EXPECT_EQ(mode_of(path), mode);
    replace_file(path, "old");
    EXPECT_EQ(mode_of(path), mode);
  }
}

TEST(OutputFiles, ANewFileFollowsTheUmask) {
  const test::TemporaryFolder folder;
  for (const mode_t mask : {0022U, 0077U, 0000U}) {
    const mode_t before = ::umask(mask);
    write_matrix_market(folder.path() / std::to_string(mask), kMatrix);
    ::umask(before);
    EXPECT_EQ(mode_of(folder.path() / std::to_string(mask)), 0666 & ~mask);
  }
}

TEST(OutputFiles, AReadOnlyFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everything";
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.mtx", "precious");
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  EXPECT_EQ(writing_error(path), path.string() + ": cannot be written: Permission denied");
  EXPECT_EQ(test::contents_of(path), "precious");
  EXPECT_EQ(folder.files(), 1);
}

TEST(OutputFiles, NamesMayBeAsLongAsTheFileSystemAllows) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / (std::string(251, 'n') + ".mtx");
  EXPECT_EQ(writing_error(path), "no error");
  EXPECT_EQ(read(path), kMatrix);
}

TEST(OutputFiles, PipesAreWrittenInto) {
  Pipe pipe;
  write_matrix_market(pipe.writing.name(), kMatrix);
  replace_file("/proc/self/fd/" + std::to_string(pipe.writing.number()), "more");
  pipe.writing.close();
  EXPECT_EQ(pipe.reading.rest(), kText + "more");
}

TEST(OutputFiles, NamedPipesAreWrittenIntoAndStay) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "pipe.mtx";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string text;
  std::thread reader([&] { text = Descriptor(::open(path.c_str(), O_RDONLY)).rest(); });
  EXPECT_EQ(writing_error(path), "no error");
  reader.join();
  EXPECT_EQ(text, kText);
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(folder.files(), 1);
}

// As behind `command -o /dev/stdout > file` and `>> file`.
TEST(OutputFiles, OpenFilesOfThisProcessAreWrittenWhereTheyStand) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.mtx", "before\n");
  const ino_t inode = inode_of(path);
  {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND));
    fs::create_symlink(file.name(), folder.path() / "link");
    write_matrix_market(file.name(), kMatrix);
    write_matrix_market(folder.path() / "link", kMatrix);
    ASSERT_EQ(::write(file.number(), "after\n", 6), 6);
  }
  EXPECT_EQ(test::contents_of(path), "before\n" + kText + kText + "after\n");
  EXPECT_EQ(inode_of(path), inode);
  EXPECT_EQ(folder.files(), 2);
}

TEST(OutputFiles, DescriptorsThatAreNotOpenAreNamed) {
  Pipe pipe;
  const std::string name = pipe.writing.name();
  pipe.writing.close();
  EXPECT_EQ(writing_error(name), name + ": cannot be written: Bad file descriptor");
}

TEST(OutputFiles, ALinkStaysALinkAndItsFileIsReplaced) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "far");
  const auto target = folder.write("far/target.mtx", "old");
  ASSERT_EQ(::chmod(target.c_str(), 0600), 0);
  fs::create_symlink("far/target.mtx", folder.path() / "link.mtx");
  fs::create_symlink("link.mtx", folder.path() / "chain.mtx");
  EXPECT_EQ(writing_error(folder.path() / "chain.mtx"), "no error");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "chain.mtx"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.mtx"));
  EXPECT_EQ(read(target), kMatrix);
  EXPECT_EQ(mode_of(target), 0600);
  EXPECT_EQ(folder.files(), 3);
}

TEST(OutputFiles, ADanglingLinkGetsItsFile) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "far");
  fs::create_symlink("far/target.mtx", folder.path() / "link.mtx");
  fs::create_symlink(folder.path() / "link.mtx", folder.path() / "chain.mtx");
  EXPECT_EQ(writing_error(folder.path() / "chain.mtx"), "no error");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "chain.mtx"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.mtx"));
  EXPECT_EQ(read(folder.path() / "far/target.mtx"), kMatrix);
  EXPECT_EQ(folder.files(), 3);
}

TEST(OutputFiles, ALinkIntoAMissingFolderOrACircleIsAnError) {
  const test::TemporaryFolder folder;
  const fs::path link = folder.path() / "link.mtx";
  fs::create_symlink("missing/target.mtx", link);
  EXPECT_EQ(writing_error(link), link.string() + ": cannot be written: No such file or directory");
  EXPECT_TRUE(fs::is_symlink(link));
  const fs::path circle = folder.path() / "circle.mtx";
  fs::create_symlink("circle.mtx", circle);
  EXPECT_EQ(writing_error(circle),
            circle.string() + ": cannot be written: Too many levels of symbolic links");
  EXPECT_TRUE(fs::is_symlink(circle));
  EXPECT_EQ(folder.files(), 2);
}

// Files cannot grow beyond a size for the time of a test: what a full disk looks like.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(OutputFiles, AFullDiskKeepsTheOldFileAndLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("old.mtx", "precious");
  const std::string large(2000, 'x');
  const auto error_of = [&](auto&& write) -> std::string {
    const FileSizeLimit limit(1000);
    try {
      write();
    } catch (const FileError& error) {
      return error.what();
    }
    return "no error";
  };
  const WriteOptions long_comment{.comment = large};
  for (const auto& name : {path, folder.path() / "new.mtx", folder.path() / "new.mtx.gz"}) {
    const bool compressed = name.extension() == ".gz";
    // Compressed it fits.
    EXPECT_EQ(error_of([&] { write_matrix_market(name, kMatrix, long_comment); }),
              compressed ? "no error" : name.string() + ": cannot be written: File too large");
    EXPECT_EQ(fs::exists(name), compressed || name == path);
  }
  EXPECT_EQ(error_of([&] { replace_file(path, large); }),
            path.string() + ": cannot be written: File too large");
  EXPECT_EQ(test::contents_of(path), "precious");
  EXPECT_EQ(folder.files(), 2);
}

TEST(OutputFiles, AProgressThatThrowsKeepsTheOldFile) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("old.mtx", "precious");
  const auto stop = [](double) { throw std::runtime_error("stop"); };
  EXPECT_THROW(write_matrix_market(path, kMatrix, {.progress = stop}), std::runtime_error);
  EXPECT_EQ(test::contents_of(path), "precious");
  EXPECT_EQ(folder.files(), 1);
}

TEST(InputFiles, PipesAreReadToTheirEndPlainAndCompressed) {
  for (const std::string& bytes : {kText, test::gzipped(kText)}) {
    Pipe pipe;
    ASSERT_EQ(::write(pipe.writing.number(), bytes.data(), bytes.size()), bytes.size());
    pipe.writing.close();
    EXPECT_EQ(read(pipe.reading.name()), kMatrix);
  }
}

TEST(InputFiles, NamedPipesAreOpenedOnce) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "pipe.mtx";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { write_matrix_market(path, kMatrix); });
  MatrixMarketFile file(path);
  EXPECT_EQ(file.header().cols, 3);
  EXPECT_EQ((file.read<double, std::int32_t>()), kMatrix);
  writer.join();
}

TEST(InputFiles, TheHeaderComesFirstAndTheMatrixOnce) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("a.mtx.gz", test::gzipped(kText));
  MatrixMarketFile file(path);
  EXPECT_EQ(file.header().rows, 2);
  EXPECT_EQ(file.header().stored_entries, 3);
  MatrixMarketFile moved(std::move(file));
  EXPECT_EQ((moved.read<double, std::int32_t>()), kMatrix);
  EXPECT_THROW((moved.read<double, std::int32_t>()), InvalidArgument);
  EXPECT_THROW((file.read<double, std::int32_t>()), InvalidArgument);
  EXPECT_THROW(MatrixMarketFile(folder.path() / "missing.mtx"), FileError);
  EXPECT_THROW(MatrixMarketFile(folder.write("b.mtx", "junk")), ParseError);
}

}  // namespace
}  // namespace strata
