#include "cli/parts/backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/parts/gpu.hpp"
#include "strata/base/error.hpp"

namespace strata::cli {

Backends choose_backends(const std::string& text, const std::vector<std::string>& known) {
  Backends chosen;
  for (const std::string& word : split_list(text)) {
    if (std::ranges::find(known, word) == known.end()) {
      throw InvalidArgument(fmt::format("'{}' is not one of {}", word, fmt::join(known, ", ")));
    }
    if (is_gpu_backend(word)) {
      require_gpu(word);
      chosen.gpu = true;
    }
    chosen.all = chosen.all || word == "all";
    chosen.cpu = chosen.cpu || word == "cpu";
    chosen.reference = chosen.reference || word == "reference";
    chosen.vendor = chosen.vendor || word == "vendor";
  }
  if (chosen.all) {
    chosen.why_no_gpu = why_no_gpu("");
    chosen.gpu = chosen.why_no_gpu.empty();
    chosen.cpu = chosen.reference = chosen.vendor = true;
  }
  return chosen;
}

Backends choose_power_backends(const std::string& text) {
  Backends chosen = choose_backends(text, {"cpu", "cuda", "hip", "vendor", "all"});
  if (chosen.all) {
    chosen.vendor = chosen.gpu && why_no_gpu_vendor().empty();
  } else if (chosen.vendor) {
    require_gpu("");
    if (const std::string why = why_no_gpu_vendor(); !why.empty()) throw Unavailable(why);
  }
  return chosen;
}

Backends choose_own_backends(const std::string& text) {
  const Backends chosen = choose_backends(text, {"cpu", "cuda", "hip", "vendor", "all"});
  if (chosen.vendor && !chosen.all) {
    throw Unavailable(
        "the library of the GPU's vendor can be timed ('strata mpk'), not predicted or explained");
  }
  return chosen;
}

bool is_on_gpu(const std::string& text) {
  const Backends chosen = choose_backends(text, {"cpu", "cuda", "hip"});
  if (chosen.cpu == chosen.gpu) throw InvalidArgument("--backend takes one place");
  return chosen.gpu;
}

void add_backend_option(CommandOptions& command, std::string& backend, const std::string& help) {
  command.add("--backend", backend, help).type_name("NAME,…").show_default();
}

}  // namespace strata::cli
