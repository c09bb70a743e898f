#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include "strata/campaign/case_run.hpp"
#include "strata/campaign/host.hpp"
#include "strata/campaign/internal/ssh.hpp"
#include "strata/campaign/internal/worker.hpp"

namespace strata::campaign {

namespace fs = std::filesystem;

namespace {

constexpr double kAnswerSeconds = 60;   // to say which Strata is there, and around a case
constexpr double kSendSeconds = 1800;   // for a file to travel
constexpr double kBuildSeconds = 7200;  // to compile

constexpr const char* kBuild =
    "cmake -S source -B build -DCMAKE_BUILD_TYPE=Release -DSTRATA_BUILD_TESTS=OFF "
    "-DSTRATA_BUILD_BENCH=OFF && cmake --build build --target strata_cli --parallel";

// FNV-1a of the contents: another program gets another name there.
std::string name_by_contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325;
  std::vector<char> block(1 << 16);
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      hash =
          (hash ^ static_cast<unsigned char>(block[static_cast<std::size_t>(i)])) * 0x100000001b3;
    }
  } while (file);
  return fmt::format("strata-{:016x}", hash);
}

// A file that is gone with the object.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = (fs::temp_directory_path() / "strata-source-XXXXXX").string();
    const int file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) throw FileError(name, "cannot be made");
    ::close(file);
    path_ = name;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// ssh starts in the home folder, and a quoted ~ is none.
std::string folder_there(const HostSpec& spec) {
  if (spec.folder.starts_with("~/")) return spec.folder.substr(2);
  return spec.folder.empty() ? std::string(".cache/strata/campaign") : spec.folder;
}

class SshHost : public CaseHost {
 public:
  SshHost(const HostSpec& spec, const LocalProgram& program)
      : spec_(spec),
        program_(program),
        folder_(folder_there(spec)),
        strata_(spec.strata.empty() ? "strata" : spec.strata),
        ssh_(spec.ssh) {}

  const std::string& name() const override { return spec_.name; }

  BuildIdentity prepare(const ProcessWatch& watch) override {
    if (spec_.sending == Sending::binary) send_binary(watch);
    if (spec_.sending == Sending::source) send_source(watch);
    const std::string answer = require(strata_there("--identify"), kAnswerSeconds, watch, {});
    worker_.emplace(ssh_.words_for(strata_there("--run-cases")));
    try {
      return parse_identity(answer);
    } catch (const InvalidArgument& wrong) {
      throw HostLost(
          fmt::format("{} does not tell its version: what it wrote {}", strata_, wrong.what()));
    }
  }

  std::optional<Outcome> run(const Case& each, const Limits& limits,
                             const ProcessWatch& watch) override {
    const std::string request = text_of(CaseRequest{.words = each.words,
                                                    .environment = each.environment,
                                                    .limits = limits,
                                                    .launcher = each.launcher});
    std::optional<std::string> answer;
    try {
      answer = worker_->ask(request, limits.seconds + kAnswerSeconds, watch);
    } catch (const FileError& no_ssh) {
      throw HostLost(no_ssh.what());
    }
    if (!answer) return std::nullopt;
    try {
      return parse_outcome(*answer);
    } catch (const InvalidArgument& wrong) {
      throw HostLost(fmt::format("its answer {}", wrong.what()));
    }
  }

 private:
  using Input = detail::SshConnection::Input;

  std::string in_folder(const std::string& command) const {
    return fmt::format("mkdir -p {0} && cd {0} && {1}", shell_text({folder_}), command);
  }

  std::string strata_there(const std::string& option) const {
    return in_folder(fmt::format("exec {} bench {}", shell_text({strata_}), option));
  }

  ProcessResult ask(const std::string& command, double seconds, const ProcessWatch& watch,
                    const Input& input) {
    try {
      return ssh_.run(command, seconds, watch, input);
    } catch (const FileError& no_ssh) {
      throw HostLost(no_ssh.what());
    }
  }

  static void require_success(const ProcessResult& result) {
    if (result.ending == Ending::exited && result.status == 0) return;
    std::string why = last_line(result.error);
    if (result.ending == Ending::stopped) why = "stopped";
    if (result.ending == Ending::timeout)
      why = fmt::format("no answer in {:.0f} s", result.seconds);
    throw HostLost(why.empty() ? fmt::format("ssh ended with status {}", result.status) : why);
  }

  std::string require(const std::string& command, double seconds, const ProcessWatch& watch,
                      const Input& input) {
    ProcessResult result = ask(command, seconds, watch, input);
    require_success(result);
    return std::move(result.output);
  }

  // Once: it is known there by its contents.
  void send_binary(const ProcessWatch& watch) {
    const std::string name = name_by_contents(program_.path);
    strata_ = "./" + name;
    const std::string there =
        require(in_folder(fmt::format("if test -x {0}; then echo yes; fi", name)), kAnswerSeconds,
                watch, {});
    if (there.starts_with("yes")) return;
    require(in_folder(fmt::format("cat > {0}.part && chmod +x {0}.part && mv {0}.part {0}", name)),
            kSendSeconds, watch, {.file = program_.path});
  }

  // What is committed, so that results can be measured again.
  void send_source(const ProcessWatch& watch) {
    const TemporaryFile archive;
    const auto git = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"git", "-C", spec_.source.string()});
      const ProcessResult result = run_process({.words = words}, watch);
      if (result.ending == Ending::exited && result.status == 0) return last_line(result.output);
      throw HostLost(fmt::format("the source cannot be sent: {}", last_line(result.error)));
    };
    const std::string commit = git({"describe", "--always"});
    git({"archive", "--format=tar", "--output=" + archive.path().string(), "HEAD"});
    require(in_folder("rm -rf source && mkdir source && tar -x -f - -C source"), kSendSeconds,
            watch, {.file = archive.path()});
    const std::string build = spec_.build.empty() ? kBuild : spec_.build;
    require(in_folder(
                fmt::format("export STRATA_COMMIT={} && ( {} ) >&2", shell_text({commit}), build)),
            kBuildSeconds, watch, {});
    strata_ = "build/cli/strata";
  }

  HostSpec spec_;
  LocalProgram program_;
  std::string folder_;
  std::string strata_;
  detail::SshConnection ssh_;
  std::optional<detail::Worker> worker_;  // of all cases; before ssh_ it is gone
};

}  // namespace

std::unique_ptr<CaseHost> make_ssh_host(const HostSpec& spec, const LocalProgram& program) {
  return std::make_unique<SshHost>(spec, program);
}

}  // namespace strata::campaign
