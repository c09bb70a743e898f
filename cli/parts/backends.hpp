// --backend: where a command runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/parts/options.hpp"

namespace strata::cli {

struct Backends {
  bool cpu = false;
  bool reference = false;
  bool gpu = false;
  bool vendor = false;     // other libraries
  bool all = false;        // whatever there is
  std::string why_no_gpu;  // if all were asked for and there is none
};

// The backends of a list such as "cpu,cuda". Throws InvalidArgument for words that are not `known`,
// and Unavailable for GPUs that are not available.
Backends choose_backends(const std::string& text, const std::vector<std::string>& known);

// The backends of powers: cpu, cuda, hip, vendor, all. The vendor is that of the GPU, which has to
// be available.
Backends choose_power_backends(const std::string& text);
// The same without the vendor, for commands that predict or explain what Strata itself does.
Backends choose_own_backends(const std::string& text);

// Whether the one place of cpu, cuda and hip is a GPU. Throws as choose_backends does, and
// InvalidArgument for several.
bool is_on_gpu(const std::string& text);

// --backend for powers
void add_backend_option(CommandOptions& command, std::string& backend, const std::string& help);

}  // namespace strata::cli
