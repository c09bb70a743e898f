#include "strata/campaign/case_run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "strata/base/cgroup.hpp"
#include "strata/campaign/internal/json_text.hpp"

namespace strata::campaign {

using detail::Json;

namespace {

std::string signal_text(int number) {
  switch (number) {
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGKILL: return "SIGKILL";
    case SIGSEGV: return "SIGSEGV";
    case SIGTERM: return "SIGTERM";
    default: return fmt::format("signal {}", number);
  }
}

// What a case may have that was given no limit: nine tenths of the machine or its container. The
// rest is for the system, which would otherwise choose whom to end.
std::int64_t memory_of_machine() {
  std::int64_t bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (const Offset of_container = cgroup_limits().memory_bytes; of_container > 0) {
    bytes = std::min<std::int64_t>(bytes, of_container);
  }
  return bytes / 10 * 9;
}

std::string bytes_text(std::int64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

// The document on one line; empty if there is none.
std::string document_in(const std::string& output) {
  const Json json = Json::parse(output, nullptr, false);
  return json.is_object() ? detail::one_line(json) : std::string();
}

// Strata's own messages begin with its name, which says nothing here. Launchers have words of their
// own for a rank that fails, and speak last.
std::string message_in(const std::string& error) {
  constexpr std::string_view kName = "strata: ";
  const std::size_t own = error.starts_with(kName) && error.find("\nstrata: ") == std::string::npos
                              ? 0
                              : error.rfind("\nstrata: ");
  if (own == std::string::npos) return last_line(error);
  const std::size_t begin = own == 0 ? kName.size() : own + 1 + kName.size();
  return error.substr(begin, error.find('\n', begin) - begin);
}

// The program by a name that processes find it by which this one does not start itself: of
// /proc/self/exe what it points to.
std::filesystem::path for_others(const std::filesystem::path& program) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(program, error);
  return error ? program : found;
}

void judge_exit(Outcome& outcome, const ProcessResult& result) {
  if (result.status == 0 && !outcome.document.empty()) return;
  outcome.status = Status::failed;
  outcome.reason = result.status == 0 ? "wrote no JSON" : message_in(result.error);
  if (outcome.reason.empty()) outcome.reason = fmt::format("ended with status {}", result.status);
}

void judge_signal(Outcome& outcome, const ProcessResult& result) {
  outcome.status = Status::crashed;
  outcome.reason = fmt::format("died of {}", signal_text(result.signal));
  if (result.signal == SIGKILL) outcome.reason += ", perhaps of the system for lack of memory";
  if (const std::string said = message_in(result.error); !said.empty()) {
    outcome.reason += fmt::format(": {}", said);
  }
}

}  // namespace

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return {};
  const std::size_t before = text.find_last_of("\r\n", end);
  return text.substr(before == std::string::npos ? 0 : before + 1,
                     end - (before == std::string::npos ? 0 : before + 1) + 1);
}

std::optional<Outcome> run_case(const CaseRequest& request, const ProcessWatch& watch) {
  ProcessRequest process{.words = request.launcher,
                         .program = request.launcher.empty() ? request.program : "",
                         .folder = request.folder,
                         .environment = request.environment,
                         .limits = request.limits};
  process.words.push_back(request.launcher.empty() ? "strata"
                                                   : for_others(request.program).string());
  process.words.insert(process.words.end(), request.words.begin(), request.words.end());
  process.words.insert(process.words.end(), {"--json", "-", "--quiet"});
  if (process.limits.memory_bytes == 0) process.limits.memory_bytes = memory_of_machine();
  const ProcessResult result = run_process(process, watch);
  if (result.ending == Ending::stopped) return std::nullopt;
  Outcome outcome{.exit = result.status,
                  .signal = result.signal,
                  .seconds = result.seconds,
                  .peak_bytes = result.peak_bytes,
                  .document = document_in(result.output)};
  switch (result.ending) {
    case Ending::exited: judge_exit(outcome, result); break;
    case Ending::signalled: judge_signal(outcome, result); break;
    case Ending::timeout:
      outcome.status = Status::timeout;
      outcome.reason = fmt::format("took more than {:g} s", request.limits.seconds);
      break;
    case Ending::memory:
      outcome.status = Status::memory;
      outcome.reason = fmt::format("took more than {}", bytes_text(process.limits.memory_bytes));
      break;
    case Ending::output:
      outcome.status = Status::failed;
      outcome.reason = "wrote more than a gigabyte";
      outcome.document.clear();
      break;
    case Ending::stopped: break;
  }
  return outcome;
}

std::string text_of(const CaseRequest& request) {
  Json variables = Json::object();
  for (const Variable& variable : request.environment) variables[variable.name] = variable.value;
  Json json{{"words", request.words},
            {"environment", variables},
            {"seconds", request.limits.seconds},
            {"memory_bytes", request.limits.memory_bytes}};
  if (!request.launcher.empty()) json["launcher"] = request.launcher;
  return detail::one_line(json);
}

CaseRequest parse_case_request(std::string_view text) {
  const Json json = detail::parse_json_text(text);
  if (!json.is_object()) throw InvalidArgument("a case is a JSON object");
  CaseRequest request;
  request.words = detail::member<std::vector<std::string>>(json, "words", {});
  if (request.words.empty()) throw InvalidArgument("a case needs 'words'");
  request.launcher = detail::member<std::vector<std::string>>(json, "launcher", {});
  request.limits.seconds = detail::member(json, "seconds", request.limits.seconds);
  request.limits.memory_bytes = detail::member<std::int64_t>(json, "memory_bytes", 0);
  if (const auto variables = json.find("environment"); variables != json.end()) {
    for (const auto& [name, value] : variables->items()) {
      if (value.is_string()) request.environment.push_back({name, value.get<std::string>()});
    }
  }
  return request;
}

}  // namespace strata::campaign
