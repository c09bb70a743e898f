// A machine that runs cases: this one, or another one over ssh.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "strata/base/error.hpp"
#include "strata/campaign/campaign.hpp"
#include "strata/campaign/process.hpp"
#include "strata/campaign/record.hpp"

namespace strata::campaign {

// A host does not answer, or stopped doing so; what() says why. Its cases stay open.
class HostLost : public Error {
 public:
  using Error::Error;
};

class CaseHost {
 public:
  virtual ~CaseHost() = default;

  virtual const std::string& name() const = 0;
  // Sends what has to travel and finds out what runs there. Throws HostLost. Stopping is losing.
  virtual BuildIdentity prepare(const ProcessWatch& watch) = 0;
  // None if it was stopped. Throws HostLost.
  virtual std::optional<Outcome> run(const Case& each, const Limits& limits,
                                     const ProcessWatch& watch) = 0;
};

// What this machine runs cases with.
struct LocalProgram {
  std::filesystem::path path;  // strata
  BuildIdentity identity;
};

std::unique_ptr<CaseHost> make_local_host(std::string name, std::filesystem::path folder,
                                          LocalProgram program);
// `program` is what travels if the host asks for a binary. The command ssh is replaced by the words
// of the variable STRATA_SSH.
std::unique_ptr<CaseHost> make_ssh_host(const HostSpec& spec, const LocalProgram& program);

// Those of the campaign, or this machine under the name `here`.
std::vector<std::unique_ptr<CaseHost>> make_hosts(const Campaign& campaign, const std::string& here,
                                                  const LocalProgram& program);

}  // namespace strata::campaign
