// campaign_bench STRATA [--json FILE]: what campaigns cost. How long 10 000 cases take to list; how
// much longer a short case takes in a campaign than started by hand, in turn; and how much
// processor time the campaign takes beside a case that computes for seconds.

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "strata/campaign/campaign.hpp"
#include "strata/campaign/host.hpp"
#include "strata/campaign/results_file.hpp"
#include "strata/campaign/runner.hpp"
#include "strata/measure/json.hpp"

extern char** environ;

namespace {

namespace fs = std::filesystem;
using namespace strata;
using namespace strata::campaign;
using Clock = std::chrono::steady_clock;

constexpr int kShortCases = 100;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_to_list(const fs::path& folder) {
  std::string values = "1";
  for (int i = 2; i <= 100; ++i) values += fmt::format(",{}", i);
  const fs::path file = folder / "many.json";
  std::ofstream(file) << fmt::format(
      R"({{"matrices": ["stencil5:{{a}}x{{b}}"], "parameters": {{"a": [{0}], "b": [{0}]}},
           "runs": [{{"command": "info"}}]}})",
      values);
  const auto begin = Clock::now();
  const Campaign many = read_campaign(file, {{"info"}});
  std::size_t bytes = 0;
  for (const SelectedCase& each : select_cases(many, {"h"}, {}, {})) {
    bytes += many.cases[each.index].key().size();
  }
  return bytes > 0 && many.cases.size() == 10000 ? seconds_since(begin) : -1;
}

// As a shell would, with the output thrown away.
double seconds_by_hand(const std::string& program, const std::vector<std::string>& words) {
  std::vector<std::string> all{program};
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), {"--json", "-", "--quiet"});
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto begin = Clock::now();
  pid_t process = 0;
  if (posix_spawn(&process, program.c_str(), &actions, nullptr, pointers.data(), environ) == 0) {
    waitpid(process, nullptr, 0);
  }
  posix_spawn_file_actions_destroy(&actions);
  return seconds_since(begin);
}

// A campaign of one case.
class OneCase {
 public:
  OneCase(const fs::path& folder, const std::string& program, std::vector<std::string> words)
      : results_(folder / fmt::format("{}.jsonl", words.front())) {
    campaign_.name = "bench";
    campaign_.folder = folder;
    campaign_.limits = {.seconds = 600, .memory_bytes = std::int64_t{1} << 36};
    campaign_.cases.push_back(
        {.words = std::move(words), .matrix = "", .settings = {}, .environment = {}});
    hosts_.push_back(make_local_host("h", folder, {.path = program, .identity = {"0", "0"}}));
  }
  double seconds() {
    const auto begin = Clock::now();
    run_cases(campaign_, {{.index = 0, .host = "h"}}, hosts_, results_, {});
    return seconds_since(begin);
  }

 private:
  Campaign campaign_;
  std::vector<std::unique_ptr<CaseHost>> hosts_;
  ResultsFile results_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "campaign_bench STRATA [--json FILE]\n");
    return 2;
  }
  const std::string program = fs::absolute(argv[1]).string();
  std::string name = (fs::temp_directory_path() / "strata-campaign-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 5;
  const fs::path folder = name;

  const double listing = seconds_to_list(folder);
  fmt::print("10 000 cases listed in {:.0f} ms\n", 1e3 * listing);

  const std::vector<std::string> short_words{"info", "stencil5:40x40"};
  OneCase short_case(folder, program, short_words);
  std::vector<double> by_hand;
  std::vector<double> in_campaign;
  for (int i = 0; i < kShortCases; ++i) {
    by_hand.push_back(seconds_by_hand(program, short_words));
    in_campaign.push_back(short_case.seconds());
  }
  const double per_case = median(in_campaign) - median(by_hand);
  const double slowest = *std::ranges::max_element(in_campaign) - median(by_hand);
  fmt::print(
      "a case takes {:.1f} ms by hand and {:.1f} ms in a campaign: {:.1f} ms more, {:.1f} at worst "
      "of {}\n",
      1e3 * median(by_hand), 1e3 * median(in_campaign), 1e3 * per_case, 1e3 * slowest, kShortCases);

  OneCase long_case(
      folder, program,
      {"spmv", "stencil27:32x32x64", "--format", "csr", "--backend", "cpu", "--min-time", "10"});
  const double before = processor_seconds();
  const double seconds = long_case.seconds();
  const double share = (processor_seconds() - before) / seconds;
  fmt::print("beside a case of {:.1f} s the campaign takes {:.3f} % of one processor\n", seconds,
             100 * share);
  fs::remove_all(folder);

  if (argc > 3 && std::string(argv[2]) == "--json") {
    const Json json{
        {"listing_seconds", listing},         {"cases", kShortCases},
        {"by_hand_seconds", median(by_hand)}, {"in_campaign_seconds", median(in_campaign)},
        {"overhead_seconds", per_case},       {"largest_overhead_seconds", slowest},
        {"long_case_seconds", seconds},       {"processor_share", share}};
    std::ofstream(argv[3]) << text_of(json, 1) << "\n";
  }
}
