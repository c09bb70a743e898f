// ResultsFile: where a campaign keeps its results, one JSON object per line.
//
// A line is written by one call and is on the disk when append() returns; what was there before is
// never touched, whatever happens: after a crash in the middle of a line the next writer begins a
// new one, and a line that does not fit on the disk is taken back.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "strata/campaign/internal/descriptor.hpp"

namespace strata::campaign {

class ResultsFile {
 public:
  // Opens or makes the file and locks it for this process, until the object is gone. Throws
  // FileError: if another campaign has it (naming the process where the system tells), if it is no
  // regular file, or if there is something else in it than results.
  explicit ResultsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  // The line comes without its line break. Throws FileError, and leaves the file as it was, if it
  // cannot be written whole.
  void append(std::string_view line);

 private:
  void lock();
  void mend();

  std::filesystem::path path_;
  detail::Descriptor file_;
};

}  // namespace strata::campaign
