#include "strata/machine/internal/profile_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "strata/base/random.hpp"
#include "strata/io/replace_file.hpp"

namespace strata::detail {

namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char letter : text) hash = mix_bits(hash + static_cast<unsigned char>(letter) + 1);
  return hash;
}

// With all folders around it that do not exist yet, for this user alone.
void make_folder(const fs::path& folder) {
  std::error_code ignored;  // making it reports what is wrong
  if (folder.empty() || fs::exists(folder, ignored)) return;
  make_folder(folder.parent_path());
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    throw FileError(folder.string(), std::generic_category().message(errno));
  }
}

}  // namespace

std::string profile_file_name(std::string_view kind, std::string_view identity) {
  return fmt::format("{}-{:016x}.json", kind, hash_of(identity));
}

std::optional<std::string> read_profile_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (status.type() != fs::file_type::regular) {
    throw FileError(path.string(), error ? error.message() : "is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw FileError(path.string(), "cannot be read");
  return text;
}

void write_profile_file(const fs::path& path, const std::string& text) {
  make_folder(path.parent_path());
  replace_file(path, text);
}

std::string why_not_private(const fs::path& folder) {
  struct stat found{};
  if (lstat(folder.c_str(), &found) != 0) return "";
  if (S_ISLNK(found.st_mode)) return "is a link, behind which profiles are not stored";
  if (!S_ISDIR(found.st_mode)) return "is not a folder";
  if (found.st_uid != geteuid()) return "belongs to another user";
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others";
  return "";
}

void require_private_folder(const fs::path& folder) {
  make_folder(folder);
  const std::string why = why_not_private(folder);
  if (!why.empty()) throw FileError(folder.string(), why);
}

ProfileJson parse_profile(std::string_view text, const std::string& source, int format) {
  ProfileJson document = ProfileJson::parse(text, nullptr, false);
  const ProfileReader reader(document, source);
  if (document.is_discarded()) reader.refuse("is not JSON, or not all of it");
  const Offset found = reader.count("format", Offset{1} << 60);
  if (found != format) {
    reader.refuse(fmt::format("has a profile of version {}, not {}", found, format));
  }
  return document;
}

std::string text_of(const ProfileJson& document) {
  return document.dump(2, ' ', false, ProfileJson::error_handler_t::replace) + "\n";
}

ProfileJson json_of(const MachineFingerprint& fingerprint) {
  return {{"host", fingerprint.host},
          {"kernel", fingerprint.kernel},
          {"memory_bytes", fingerprint.memory_bytes},
          {"processors", fingerprint.processors},
          {"processor_limit", fingerprint.limits.processors},
          {"memory_limit_bytes", fingerprint.limits.memory_bytes}};
}

MachineFingerprint fingerprint_from(const ProfileReader& reader) {
  return {.host = reader.text("host"),
          .kernel = reader.text("kernel"),
          .memory_bytes = reader.bytes("memory_bytes"),
          .processors = reader.small_count("processors"),
          .limits = {.processors = reader.number("processor_limit"),
                     .memory_bytes = reader.limit_bytes("memory_limit_bytes")}};
}

std::string what_changed(const MachineFingerprint& stored, const MachineFingerprint& now) {
  std::vector<std::string> changes;
  const auto compare = [&](const auto& before, const auto& after, std::string_view what) {
    if (before != after) changes.push_back(fmt::format("{} {}, now {}", what, before, after));
  };
  compare(stored.host, now.host, "host");
  compare(stored.kernel, now.kernel, "kernel");
  compare(stored.memory_bytes, now.memory_bytes, "bytes of memory");
  compare(stored.processors, now.processors, "processors");
  compare(stored.limits.processors, now.limits.processors, "limit of processors");
  compare(stored.limits.memory_bytes, now.limits.memory_bytes, "limit of memory in bytes");
  return fmt::format("{}", fmt::join(changes, "; "));
}

}  // namespace strata::detail
