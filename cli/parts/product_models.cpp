#include "cli/parts/product_models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parts/measuring.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/kernels/gpu/csr_options.hpp"
#include "strata/measure/product_result.hpp"

namespace strata::cli {

namespace {

// Every result of `strata model` has these.
Json model_json(const std::string& backend, const std::string& variant) {
  return {{"kernel", "model"}, {"backend", backend}, {"variant", variant}, {"power", 1}};
}

Json giga_json(const std::vector<ScalingPoint>& points) {
  Json array = Json::array();
  for (const ScalingPoint& point : points) array.push_back(point.per_second / 1e9);
  return array;
}

// A level that nothing passes has no limit of its own.
double ceiling_of(const MemoryCeiling& level, const ProductWork& work) {
  return level.bytes > 0 ? work.flops() * level.bytes_per_second / level.bytes : 0;
}

Multiprocessor multiprocessor_of(const gpu::DeviceProperties& device, const CoopKernel& kernel) {
  constexpr Offset kFirstLevelOfAmd = 16 << 10;
  constexpr Offset kWays = 4;
  constexpr Offset kLine = 128;
  constexpr int kMostBlocks = 32;
  const Offset bytes =
      device.api == gpu::Api::hip ? kFirstLevelOfAmd : device.shared_bytes_per_multiprocessor;
  const Offset sets = std::max<Offset>(1, bytes / (kWays * kLine));
  return {.cache = {.bytes = sets * kWays * kLine, .ways = kWays, .line_bytes = kLine},
          .resident_blocks =
              std::clamp(device.threads_per_multiprocessor / kernel.block_size, 1, kMostBlocks),
          .count = std::max(1, device.multiprocessors)};
}

}  // namespace

ElementSizes sizes_of(const ProductWork& work) {
  return {static_cast<double>(work.value_bytes), static_cast<double>(work.index_bytes)};
}

AlphaPrediction alpha_of(const AnyMatrix& matrix, const ProductDevice& device) {
  const ElementSizes sizes = sizes_of(work_of(matrix));
  return std::visit([&](const auto& csr) { return predict_alpha(csr.pattern(), device, sizes); },
                    matrix);
}

std::string levels_text(const ProductDevice& device, const ProductWork& work,
                        const ModelledFormat& best) {
  Table table({"roofline of " + best.label, "holds", "GB/s", "moved", "GF/s at most"});
  if (device.peak_flops > 0) {
    table.add({"peak", "-", "-", "-", giga_text(device.peak_of(work))});
  }
  const auto ceilings = product_ceilings(device, work, best.format, best.bytes);
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    const double at_most = ceiling_of(ceilings[i], work);
    const Offset holds = device.levels[i].bytes;
    table.add({ceilings[i].name, holds > 0 ? bytes_text(holds) : "-",
               giga_text(ceilings[i].bytes_per_second),
               bytes_text(static_cast<Offset>(ceilings[i].bytes)),
               at_most > 0 ? giga_text(at_most) : "-"});
  }
  return table.text(2);
}

std::vector<Json> levels_json(const std::string& backend, const ProductDevice& device,
                              const ProductWork& work, const ModelledFormat& best) {
  std::vector<Json> results;
  if (device.peak_flops > 0) {
    Json json = model_json(backend, "roofline, peak");
    json["format"] = name_of(best.format);
    json["predicted"] = {
        {"gflops", device.peak_of(work) / 1e9}, {"bound", "peak"}, {"model", "roofline"}};
    results.push_back(std::move(json));
  }
  const auto ceilings = product_ceilings(device, work, best.format, best.bytes);
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    Json json = model_json(backend, "roofline, " + ceilings[i].name);
    json["format"] = name_of(best.format);
    json["parameters"] = {{"level_bytes", device.levels[i].bytes}};
    json["level_gbytes_per_second"] = ceilings[i].bytes_per_second / 1e9;
    json["bytes"] = {{"moved", ceilings[i].bytes}};
    const double at_most = ceiling_of(ceilings[i], work);
    if (at_most > 0) {
      json["predicted"] = {
          {"gflops", at_most / 1e9}, {"bound", ceilings[i].name}, {"model", "roofline"}};
    }
    results.push_back(std::move(json));
  }
  return results;
}

RegulyTraffic reguly_traffic(const AnyMatrix& matrix, Offset block_rows, Offset line_bytes,
                             double seconds) {
  const ProductWork work = work_of(matrix);
  const ElementSizes sizes = sizes_of(work);
  const CsrTraffic traffic{static_cast<double>(work.entries), static_cast<double>(work.rows),
                           sizes};
  return {.block_rows = block_rows,
          .line_bytes = line_bytes,
          .effective = traffic.effective_bytes(),
          .worst = traffic.worst_bytes(static_cast<double>(line_bytes)),
          .minimum = traffic.minimum_bytes(),
          .caching = std::visit(
              [&](const auto& csr) {
                return caching_bytes(csr.pattern(), block_rows, line_bytes, sizes);
              },
              matrix),
          .seconds = seconds};
}

std::string text_of(const RegulyTraffic& traffic, const ProductWork& work) {
  Table table({"traffic of CSR (Reguly)", "bytes", "per entry", "GB/s, if B_C(α) holds"});
  const auto add = [&](const std::string& assumed, double bytes) {
    table.add({assumed, bytes_text(static_cast<Offset>(bytes)),
               fmt::format("{:.2f} B", bytes / static_cast<double>(work.entries)),
               giga_text(bytes / traffic.seconds)});
  };
  add("effective: x for every entry", traffic.effective);
  add(fmt::format("worst: a line of {} B for every access", traffic.line_bytes), traffic.worst);
  add("minimum: x once", traffic.minimum);
  add(fmt::format("caching: lines of x once per {} rows", grouped(traffic.block_rows)),
      traffic.caching);
  return table.text(2);
}

Json json_of(const RegulyTraffic& traffic, const std::string& backend) {
  Json json = model_json(backend, "CSR traffic (Reguly)");
  json["format"] = "csr";
  json["parameters"] = {{"block_rows", traffic.block_rows}, {"line_bytes", traffic.line_bytes}};
  json["bytes"] = {{"effective", traffic.effective},
                   {"worst", traffic.worst},
                   {"minimum", traffic.minimum},
                   {"caching", traffic.caching}};
  const double scale = 1e-9 / traffic.seconds;
  json["csr_gbytes_per_second"] = {{"effective", traffic.effective * scale},
                                   {"worst", traffic.worst * scale},
                                   {"minimum", traffic.minimum * scale},
                                   {"caching", traffic.caching * scale}};
  json["predicted"] = {{"seconds", traffic.seconds}, {"model", "B_C(α)"}};
  return json;
}

CoopKernel reguly_kernel(const ProductWork& work, int warp) {
  const gpu::RegulyParameters rule = gpu::reguly_rule(work.rows, work.entries, warp);
  return {.coop = rule.coop, .repeat = rule.repeat, .block_size = rule.block_size, .warp = warp};
}

WarpModel warp_model(const AnyMatrix& matrix, const gpu::GpuProfile& profile) {
  const ProductWork work = work_of(matrix);
  WarpModel model;
  model.kernel = reguly_kernel(work, profile.device.warp);
  model.multiprocessor = multiprocessor_of(profile.device, model.kernel);
  std::visit(
      [&](const auto& csr) {
        model.divergence = predicted_divergence(csr.pattern(), model.kernel);
        model.hit_rate =
            predicted_hit_rate(csr.pattern(), model.kernel, model.multiprocessor, sizes_of(work));
      },
      matrix);
  return model;
}

std::string text_of(const WarpModel& model) {
  return fmt::format(
      "  Warps of CSR by Reguly's rule (coop {}, repeat {}, blocks of {}; his Table 2): {:.1f} % "
      "of "
      "the branches\n"
      "  diverge, {:.1f} % of the lanes idle in the loop, and a first-level cache of {} serves "
      "{:.1f} % of the loads.\n",
      model.kernel.coop, model.kernel.repeat, model.kernel.block_size,
      100 * model.divergence.branch_share, 100 * model.divergence.idle_share,
      bytes_text(model.multiprocessor.cache.bytes), 100 * model.hit_rate);
}

Json json_of(const WarpModel& model, const std::string& backend) {
  Json json = model_json(backend, "warps (Reguly, Table 2)");
  json["format"] = "csr";
  json["parameters"] = {{"coop", model.kernel.coop},
                        {"repeat", model.kernel.repeat},
                        {"block_size", model.kernel.block_size},
                        {"cache_bytes", model.multiprocessor.cache.bytes},
                        {"resident_blocks", model.multiprocessor.resident_blocks}};
  json["divergent_branch_share"] = model.divergence.branch_share;
  json["idle_lane_share"] = model.divergence.idle_share;
  json["first_level_hit_rate"] = model.hit_rate;
  return json;
}

PredictedScaling predicted_scaling(const MachineProfile& profile, const ProductWork& work,
                                   const ModelledFormat& best) {
  PredictedScaling scaling;
  for (const int threads : scaling_thread_counts(1, std::max(1, profile.cores))) {
    const ProductDevice device = product_device(profile, threads);
    const Roofline roof = product_roofline(device, work, best.format, best.bytes);
    scaling.bytes.push_back({threads, device.memory_bandwidth()});
    scaling.flops.push_back({threads, roof.flops_per_second});
    scaling.limits.push_back(roof.limit);
  }
  return scaling;
}

std::string text_of(const PredictedScaling& scaling, const ModelledFormat& best) {
  Table table({"threads, " + best.label, "GB/s from memory", "GF/s", "limit", "speed-up"});
  for (std::size_t i = 0; i < scaling.flops.size(); ++i) {
    const ScalingPoint& point = scaling.flops[i];
    table.add({std::to_string(point.threads), giga_text(scaling.bytes[i].per_second),
               giga_text(point.per_second), scaling.limits[i],
               fmt::format("{:.2f}", point.per_second / scaling.flops.front().per_second)});
  }
  return table.text(2) + fmt::format("  95 % of the best with {} of {} threads.\n",
                                     saturating_threads(scaling.flops),
                                     scaling.flops.back().threads);
}

Json json_of(const PredictedScaling& scaling, const std::string& backend,
             const ModelledFormat& best) {
  Json counts = Json::array();
  for (const ScalingPoint& point : scaling.flops) counts.push_back(point.threads);
  Json json = model_json(backend, "scaling");
  json["format"] = name_of(best.format);
  json["parameters"] = parameters_json(best.format.parameters());
  json["thread_counts"] = counts;
  json["gflops_by_threads"] = giga_json(scaling.flops);
  json["memory_gbytes_per_second_by_threads"] = giga_json(scaling.bytes);
  json["saturated_at_threads"] = saturating_threads(scaling.flops);
  return json;
}

}  // namespace strata::cli
