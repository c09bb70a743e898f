// The exceptions Strata throws. The library never prints and never exits: whatever goes wrong
// arrives here, with the file, line or row that caused it in the message.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace strata {

// Base of every exception thrown on purpose by Strata.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An option, size or specification that the caller gave makes no sense.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

// Arrays or a file describe something that is not a valid matrix.
class InvalidMatrix : public Error {
 public:
  using Error::Error;
};

// A number does not fit the integer type that has to hold it.
class OverflowError : public Error {
 public:
  using Error::Error;
};

// A file cannot be opened, read, decompressed or written.
class FileError : public Error {
 public:
  FileError(const std::string& path, const std::string& why)
      : Error(path + ": " + why), path_(path) {}
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A file's text is wrong at a known line; what() reads "FILE:LINE: what is wrong".
class ParseError : public InvalidMatrix {
 public:
  ParseError(const std::string& path, std::int64_t line, const std::string& why)
      : InvalidMatrix(path + ":" + std::to_string(line) + ": " + why), path_(path), line_(line) {}
  const std::string& path() const { return path_; }
  std::int64_t line() const { return line_; }

 private:
  std::string path_;
  std::int64_t line_;
};

// A device or an optional part was asked for that this build or machine does not have.
class Unavailable : public Error {
 public:
  using Error::Error;
};

}  // namespace strata
