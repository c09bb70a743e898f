#include "cli/parts/product_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parts/measuring.hpp"
#include "cli/parts/terminal.hpp"

namespace strata::cli {

namespace {

// Peers and the kernels of the device are told apart by their names.
std::string label_of(const ProductResult& run) {
  return run.backend == "reference" ? run.label + ", reference" : run.label;
}

std::string roofline_text(const ProductResult& run) {
  return run.roofline ? percent_text(run.roofline_share()) + " " + run.roofline->limit : "-";
}

std::string inferred_text(const ProductResult& run) {
  return run.inferred_alpha ? fmt::format("{:.2f}", *run.inferred_alpha) : "-";
}

std::string break_even_text(const ProductResult& run) {
  if (!run.compared_with_csr) return "-";
  return run.break_even ? grouped(*run.break_even) : "never";
}

std::string verdict(const Measurement& measured) {
  if (!measured.check) return "-";
  return measured.check->passed ? "ok" : "wrong";
}

std::vector<std::string> cells_of(const ProductResult& run) {
  const Measurement& measured = run.measurement;
  return {label_of(run),
          bytes_text(run.format_bytes),
          fmt::format("{:.3f}", 1e3 * measured.timing.median),
          giga_text(measured.flops_per_second()),
          giga_text(measured.bytes_per_second()),
          roofline_text(run),
          inferred_text(run),
          run.speed_up > 0 ? fmt::format("{:.2f}", run.speed_up) : "-",
          seconds_text(run.setup_seconds),
          break_even_text(run),
          verdict(measured),
          ""};
}

std::vector<std::string> refused_cells(const ProductResult& run, std::size_t count) {
  std::vector<std::string> cells(count, "-");
  cells.front() = label_of(run);
  cells.back() = run.refusal;
  return cells;
}

}  // namespace

std::string product_table(const std::vector<ProductResult>& runs, bool with_threads) {
  const auto line = [&](std::vector<std::string> cells, std::string threads) {
    if (with_threads) cells.insert(cells.begin() + 1, std::move(threads));
    return cells;
  };
  const std::vector<std::string> header{"product", "bytes",       "ms",    "GF/s",
                                        "GB/s",    "of roofline", "α",     "over peers",
                                        "set-up",  "pays after",  "check", ""};
  Table table(line(header, "threads"));
  for (const ProductResult& run : runs) {
    table.add(run.refusal.empty() ? line(cells_of(run), std::to_string(run.threads))
                                  : line(refused_cells(run, header.size()), "-"));
  }
  return table.text(2);
}

std::vector<Scaling> scaling_of(const std::vector<ProductResult>& runs) {
  std::vector<Scaling> scalings;
  for (const ProductResult& run : runs) {
    if (!run.refusal.empty() || run.backend == "reference") continue;
    const auto same = [&](const Scaling& scaling) {
      return scaling.product.backend == run.backend && scaling.product.label == run.label &&
             scaling.product.format == run.format;
    };
    auto found = std::ranges::find_if(scalings, same);
    if (found == scalings.end()) found = scalings.insert(found, Scaling{run, {}, {}});
    found->bytes.push_back({run.threads, run.measurement.bytes_per_second()});
    found->flops.push_back({run.threads, run.measurement.flops_per_second()});
  }
  // Libraries that always have one thread do not scale.
  std::erase_if(scalings, [](const Scaling& scaling) {
    return scaling.flops.front().threads == scaling.flops.back().threads;
  });
  return scalings;
}

std::string scaling_text(const std::vector<Scaling>& scalings) {
  if (scalings.empty()) return "";
  std::vector<int> counts;
  for (const Scaling& scaling : scalings) {
    for (const ScalingPoint& point : scaling.bytes) counts.push_back(point.threads);
  }
  std::ranges::sort(counts);
  counts.erase(std::ranges::unique(counts).begin(), counts.end());

  std::vector<std::string> header{"GB/s by threads"};
  for (const int threads : counts) header.push_back(std::to_string(threads));
  header.emplace_back("95 % with");
  Table table(std::move(header));
  for (const Scaling& scaling : scalings) {
    std::vector<std::string> cells{scaling.product.label};
    for (const int threads : counts) {
      const auto point = std::ranges::find(scaling.bytes, threads, &ScalingPoint::threads);
      cells.push_back(point == scaling.bytes.end() ? "-" : giga_text(point->per_second));
    }
    cells.push_back(std::to_string(scaling.saturated_at()));
    table.add(std::move(cells));
  }
  return table.text(2);
}

Json json_of(const Scaling& scaling) {
  const auto rates = [](const std::vector<ScalingPoint>& points) {
    Json array = Json::array();
    for (const ScalingPoint& point : points) array.push_back(point.per_second / 1e9);
    return array;
  };
  Json counts = Json::array();
  for (const ScalingPoint& point : scaling.flops) counts.push_back(point.threads);
  return {{"kernel", "scaling"},
          {"backend", scaling.product.backend},
          {"format", name_of(scaling.product.format)},
          {"variant", scaling.product.label},
          {"power", 1},
          {"parameters", parameters_json(scaling.product.format.parameters())},
          {"precision", name_of(scaling.product.precision)},
          {"thread_counts", counts},
          {"gflops_by_threads", rates(scaling.flops)},
          {"gbytes_per_second_by_threads", rates(scaling.bytes)},
          {"saturated_at_threads", scaling.saturated_at()}};
}

std::string conclusion_text(const std::vector<ProductResult>& runs) {
  const auto rate = [](const ProductResult& run) {
    return run.refusal.empty() ? run.measurement.flops_per_second() : 0.0;
  };
  const auto best = std::ranges::max_element(runs, {}, rate);
  if (rate(*best) == 0) return "";
  std::string text = fmt::format("Fastest: {} with {} GF/s", best->label, giga_text(rate(*best)));
  const auto peer = std::ranges::max_element(
      runs, {}, [&](const ProductResult& run) { return run.of_peer() ? rate(run) : 0.0; });
  if (peer->of_peer() && peer != best) {
    text += fmt::format(", {:.2f} times as fast as {}", rate(*best) / rate(*peer), peer->label);
  }
  return text + ".\n";
}

std::string alpha_text(const AlphaPrediction& predicted, const ProductDevice& device,
                       const ProductWork& work) {
  constexpr const char* kMeaning = "α, the elements of x that come from memory per entry: ";
  if (predicted.alpha == 0 && predicted.sampled_share == 0) {
    return fmt::format("{}predicted are 0, for caches of {} hold the matrix.\n", kMeaning,
                       bytes_text(device.cached_bytes()));
  }
  const double loads =
      predicted.alpha * static_cast<double>(work.entries) / static_cast<double>(work.cols);
  std::string text =
      fmt::format("{}predicted are {:.3f} with {} of cache (x is loaded {:.2f} times)", kMeaning,
                  predicted.alpha, bytes_text(device.cache.bytes), loads);
  if (predicted.sampled_share > 0 && predicted.sampled_share < 1) {
    text += fmt::format(" from {} of the rows", percent_text(predicted.sampled_share));
  }
  return text + ".\n";
}

}  // namespace strata::cli
