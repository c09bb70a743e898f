#include "cli/parts/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "cli/parts/options.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/kernels/gpu/csr_options.hpp"
#include "strata/measure/product_device.hpp"

namespace strata::cli {

namespace {

constexpr Offset kTallestSlice = 65536;
constexpr Offset kLargestWindow = Offset{1} << 31;
constexpr Offset kMostCoop = gpu::kMostCoop;
constexpr Offset kMostRepeat = 65536;
constexpr Offset kLargestBlock = gpu::kMostRegulyThreads;

Offset parse_value(std::string_view text, Offset most) {
  Offset value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InvalidArgument(fmt::format("'{}' is not a number", text));
  }
  if (value < 1 || value > most) {
    throw InvalidArgument(fmt::format("{} is outside 1 … {}", value, most));
  }
  return value;
}

struct Ends {
  Offset first = 0;
  Offset last = 0;
};

bool is_range(const std::string& text) {
  return text.find(':') != std::string::npos;
}

Ends parse_ends(const std::string& text, Offset most) {
  const std::size_t colon = text.find(':');
  const Ends ends{parse_value(std::string_view(text).substr(0, colon), most),
                  parse_value(std::string_view(text).substr(colon + 1), most)};
  if (ends.last < ends.first) {
    throw InvalidArgument(fmt::format("'{}' ends before it begins", text));
  }
  return ends;
}

// The numbers of every word between commas, each once. `range` has those from one to another.
std::vector<Offset> parse_words(const std::string& text, Offset most,
                                const std::function<std::vector<Offset>(const Ends&)>& range) {
  std::vector<Offset> values;
  for (const std::string& word : split_list(text)) {
    const std::vector<Offset> of_word = is_range(word)
                                            ? range(parse_ends(word, most))
                                            : std::vector<Offset>{parse_value(word, most)};
    if (of_word.empty()) {
      throw InvalidArgument(fmt::format("'{}' has no power of two in it", word));
    }
    for (const Offset value : of_word) {
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
  }
  return values;
}

void add_sweep(CommandOptions& command, const std::string& names, std::vector<Offset>& values,
               Offset most, const std::string& help) {
  command
      .add_parsed(
          names, [&values, most](const std::string& text) { values = parse_sweep(text, most); },
          help)
      .type_name("N,…|A:B");
}

constexpr std::string_view kHeight = "slice_height";
constexpr std::string_view kWindow = "sort_window";

// What two specs have in common that differ in their slices alone.
FormatSpec without_slices(const FormatSpec& spec) {
  std::vector<NamedNumber> others;
  for (const NamedNumber& parameter : spec.parameters()) {
    if (parameter.name != kHeight && parameter.name != kWindow) others.push_back(parameter);
  }
  return FormatSpec(spec.format(), others);
}

FormatSpec with_slices(const FormatSpec& spec, Offset height, Offset window) {
  std::vector<NamedNumber> parameters = spec.parameters();
  for (NamedNumber& parameter : parameters) {
    if (parameter.name == kHeight) parameter.value = height;
    if (parameter.name == kWindow) parameter.value = window;
  }
  return FormatSpec(spec.format(), parameters);
}

// What is swept over, or the only value that was asked for, or the default.
std::vector<Offset> values_of(const std::vector<Offset>& swept, std::string_view parameter,
                              const FormatSpec& common, const std::vector<ProductSpec>& products) {
  if (!swept.empty()) return swept;
  std::vector<Offset> asked;
  for (const ProductSpec& product : products) {
    if (without_slices(product.format) != common) continue;
    const Offset value = product.format.parameter(parameter).value_or(1);
    if (std::ranges::find(asked, value) == asked.end()) asked.push_back(value);
  }
  return asked.size() == 1 ? asked : std::vector<Offset>{common.parameter(parameter).value_or(1)};
}

bool possible(Format format, Offset height) {
  return format != Format::packed_sell || kPackedSliceHeights.contain(height);
}

}  // namespace

std::vector<Offset> parse_sweep(const std::string& text, Offset most) {
  return parse_words(text, most, [](const Ends& ends) {
    std::vector<Offset> powers;
    for (Offset power = 1; power <= ends.last; power *= 2) {
      if (power >= ends.first) powers.push_back(power);
    }
    return powers;
  });
}

std::vector<int> parse_thread_sweep(const std::string& text) {
  const std::vector<Offset> values = parse_words(text, kMaxThreads, [](const Ends& ends) {
    const std::vector<int> counts =
        scaling_thread_counts(static_cast<int>(ends.first), static_cast<int>(ends.last));
    return std::vector<Offset>(counts.begin(), counts.end());
  });
  return {values.begin(), values.end()};
}

void add_product_sweep(CommandOptions& command, ProductSweep& sweep) {
  add_sweep(command, "-C,--slice-height", sweep.slice_heights, kTallestSlice,
            "Rows of the slices of SELL and packed SELL: one, a list, or A:B, which doubles");
  command
      .add_parsed(
          "--sigma",
          [&sweep](const std::string& text) {
            sweep.sort_windows = parse_sweep(text, kLargestWindow);
            sweep.range_of_windows = is_range(text);
          },
          "Rows that are sorted by length together, of SELL and packed SELL, likewise")
      .type_name("N,…|A:B");
  add_sweep(command, "--coop", sweep.coop, kMostCoop,
            "Threads per row of Reguly's CSR kernel on GPUs, likewise");
  add_sweep(command, "--repeat", sweep.repeat, kMostRepeat,
            "Rows that these threads do one after another, likewise");
  add_sweep(command, "--block-size", sweep.block_sizes, kLargestBlock,
            "Threads per block of that kernel, multiples of the warp, likewise");
}

void add_thread_sweep(CommandOptions& command, std::vector<int>& threads) {
  command
      .add_parsed(
          "--threads", [&threads](const std::string& text) { threads = parse_thread_sweep(text); },
          "Threads to use, all cores when not given; several, as 1,2,6 or 1:8, show how products "
          "scale")
      .type_name("N,…|A:B");
}

std::vector<ProductSpec> swept_over_slices(const std::vector<ProductSpec>& products,
                                           const ProductSweep& sweep, KernelTarget target) {
  if (!sweep.over_slices()) return products;
  std::vector<ProductSpec> swept;
  std::vector<FormatSpec> done;
  bool any = false;
  for (const ProductSpec& product : products) {
    if (!is_sliced(product.format.format())) {
      swept.push_back(product);
      continue;
    }
    const FormatSpec common = without_slices(product.format);
    if (std::ranges::find(done, common) != done.end()) continue;
    done.push_back(common);
    for (const Offset height : values_of(sweep.slice_heights, kHeight, common, products)) {
      if (!possible(common.format(), height)) continue;
      for (const Offset window : values_of(sweep.sort_windows, kWindow, common, products)) {
        if (sweep.range_of_windows && window > 1 && window < height) continue;
        const FormatSpec spec = with_slices(common, height, window);
        if (!has_kernel(spec, target)) continue;
        swept.push_back({spec, product.kernel});
        any = true;
      }
    }
  }
  if (!any) {
    throw InvalidArgument(
        "-C and --sigma: none of the formats asked for has a kernel for such slices");
  }
  return swept;
}

std::vector<CoopKernel> swept_over_reguly(const ProductSweep& sweep, const CoopKernel& rule) {
  std::vector<CoopKernel> kernels;
  if (!sweep.over_reguly()) return kernels;
  const auto or_rule = [](const std::vector<Offset>& values, int of_rule) {
    return values.empty() ? std::vector<Offset>{of_rule} : values;
  };
  for (const Offset coop : or_rule(sweep.coop, rule.coop)) {
    for (const Offset repeat : or_rule(sweep.repeat, rule.repeat)) {
      for (const Offset block_size : or_rule(sweep.block_sizes, rule.block_size)) {
        CoopKernel kernel = rule;
        kernel.coop = static_cast<int>(coop);
        kernel.repeat = static_cast<int>(repeat);
        kernel.block_size = static_cast<int>(block_size);
        kernels.push_back(kernel);
      }
    }
  }
  return kernels;
}

}  // namespace strata::cli
