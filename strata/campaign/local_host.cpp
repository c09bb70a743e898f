#include "strata/campaign/case_run.hpp"
#include "strata/campaign/host.hpp"

namespace strata::campaign {

namespace {

class LocalHost : public CaseHost {
 public:
  LocalHost(std::string name, std::filesystem::path folder, LocalProgram program)
      : name_(std::move(name)), folder_(std::move(folder)), program_(std::move(program)) {}

  const std::string& name() const override { return name_; }
  BuildIdentity prepare(const ProcessWatch&) override { return program_.identity; }
  std::optional<Outcome> run(const Case& each, const Limits& limits,
                             const ProcessWatch& watch) override {
    return run_case({.program = program_.path,
                     .folder = folder_,
                     .words = each.words,
                     .environment = each.environment,
                     .limits = limits,
                     .launcher = each.launcher},
                    watch);
  }

 private:
  std::string name_;
  std::filesystem::path folder_;
  LocalProgram program_;
};

}  // namespace

std::unique_ptr<CaseHost> make_local_host(std::string name, std::filesystem::path folder,
                                          LocalProgram program) {
  return std::make_unique<LocalHost>(std::move(name), std::move(folder), std::move(program));
}

std::vector<std::unique_ptr<CaseHost>> make_hosts(const Campaign& campaign, const std::string& here,
                                                  const LocalProgram& program) {
  std::vector<std::unique_ptr<CaseHost>> hosts;
  for (const HostSpec& spec : campaign.hosts) {
    hosts.push_back(spec.ssh.empty() ? make_local_host(spec.name, campaign.folder, program)
                                     : make_ssh_host(spec, program));
  }
  if (hosts.empty()) hosts.push_back(make_local_host(here, campaign.folder, program));
  return hosts;
}

}  // namespace strata::campaign
