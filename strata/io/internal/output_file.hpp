// OutputFile: a file that appears under its name only once it is complete.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <span>
#include <string>

namespace strata::detail {

class OutputFile {
 public:
  // Opens a temporary file in the folder of `path`, or of what it links to; the link stays. A file
  // that exists keeps its permissions, and its owner where that is allowed. What is no regular file
  // (a device, a pipe, /dev/stdout) is written to directly. Throws FileError, like all that
  // follows.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Removes the temporary file unless it was committed.
  ~OutputFile();

  void write(std::span<const char> bytes);
  // Closes the file and moves it into place.
  void commit();

 private:
  void open_temporary(mode_t mode);
  void keep_permissions(const struct stat& old) const;
  [[noreturn]] void fail(int error) const;

  std::string name_;                 // as the caller says it, for errors
  std::filesystem::path target_;     // behind symbolic links
  std::filesystem::path temporary_;  // empty when the target is written directly
  int descriptor_ = -1;
};

}  // namespace strata::detail
