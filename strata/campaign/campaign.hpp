// Campaign: a file that says what to run, as the list of its cases. docs/campaigns.md describes the
// file.
//
//   const Campaign campaign = read_campaign("campaigns/formats.json", {{"spmv"}, {"machine",
//   false}}); for (const Case& each : campaign.cases) std::puts(each.key().c_str());
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/campaign/case.hpp"

namespace strata::campaign {

// The file is no campaign; what() names the file and the key.
class InvalidCampaign : public Error {
 public:
  using Error::Error;
};

// What a case may use. 0: no limit.
struct Limits {
  double seconds = 3600;  // of wall time
  // Resident, of all processes of the case together.
  std::int64_t memory_bytes = 0;
  bool operator==(const Limits&) const = default;
};

enum class Sending { nothing, binary, source };

// A machine that runs cases.
struct HostSpec {
  std::string name;                    // in results
  std::string ssh = {};                // user@host; empty: this machine
  Sending sending = Sending::nothing;  // what travels there before the first case
  std::string strata = {};             // the command there, if it does not travel; "strata"
  std::string folder = {};             // where cases run there; paths of matrices start from it
  std::filesystem::path source = {};   // the source tree to send
  std::string build = {};              // how to build it there, a shell command in `folder`
};

// How cases become the tasks of a job array.
struct SlurmSpec {
  int cases_per_task = 1;
  int at_once = 0;                   // tasks that may run at the same time; 0: any number
  std::string host = "slurm";        // the name of the machine in results, whichever node it was
  std::vector<std::string> options;  // for #SBATCH: "--partition=gpu"
  std::vector<std::string> setup;    // shell commands before the cases: "module load cuda"
};

struct Campaign {
  std::string name;
  std::filesystem::path file;    // absolute
  std::filesystem::path folder;  // of the file: cases run in it, and relative paths start from it
  std::vector<Case> cases;       // every one once, in the order of the file
  Limits limits;
  std::vector<HostSpec> hosts;  // none: this machine
  bool share = false;           // hosts share the cases; otherwise each runs all of them
  SlurmSpec slurm;
  std::filesystem::path results;  // empty: the file does not say
};

// A command that a campaign may run.
struct KnownCommand {
  std::string name;
  bool takes_matrix = true;
};

// Throws FileError if a file cannot be read, InvalidCampaign if it is not a campaign.
Campaign read_campaign(const std::filesystem::path& path,
                       const std::vector<KnownCommand>& commands);

}  // namespace strata::campaign
