#include "strata/measure/power_result.hpp"

#include <cmath>

#include "strata/measure/product_result.hpp"

namespace strata {

namespace {

// GPUs overlap what plain products and wavefront sweeps do; the processor's model and that of
// groups of levels do not.
std::string_view model_of(const PowerCandidate& candidate, const PowerContext& context) {
  if (!context.device) return "without overlap";
  switch (candidate.strategy) {
    case PowerStrategy::spmv: return "roofline";
    case PowerStrategy::wavefront: return "wavefront";
    default: return "without overlap";
  }
}

Json parameters_json(const PowerCandidate& candidate, const PowerContext& context) {
  const PowerOptions& options = context.options;
  Json parameters{{"block", candidate.block},
                  {"bands", candidate.bands},
                  {"slack", candidate.slack},
                  {"vectors", options.vectors},
                  {"basis", options.basis.name()},
                  {"order", options.vector_order == VectorOrder::plan ? "plan" : "caller"}};
  if (candidate.product) {
    parameters.update(parameters_json(candidate.product->format.parameters()));
    if (!candidate.product->kernel.empty()) parameters["product"] = name_of(*candidate.product);
  } else if (is_sliced(candidate.format.format)) {
    parameters["slice_height"] = candidate.format.slice_height;
  }
  if (!candidate.product && candidate.format.format == Format::packed_sell) {
    parameters["values"] = static_cast<int>(candidate.format.values);
  }
  if (context.device && candidate.strategy == PowerStrategy::wavefront) {
    parameters["window"] = name_of(candidate.placement);
    parameters["flagged"] = candidate.flagged;
  }
  if (candidate.cache_share > 0) parameters["cache_share"] = candidate.cache_share;
  if (options.cache_bytes > 0) parameters["cache_bytes"] = options.cache_bytes;
  return parameters;
}

// The keys from "kernel" to "precision".
Json candidate_json(std::string_view kernel, const PowerCandidate& candidate,
                    const PowerContext& context) {
  Json result{{"kernel", kernel},
              {"backend", context.backend},
              {"format", name_of(candidate.format.format)},
              {"variant", "rows " + text_of(candidate.order)},
              {"strategy", name_of(candidate.strategy)},
              {"power", context.options.power},
              {"parameters", parameters_json(candidate, context)}};
  if (context.device) {
    result["device"] = *context.device;
  } else {
    result["threads"] = context.threads;
  }
  result["precision"] = name_of(context.precision);
  return result;
}

// "window_bytes" and "predicted".
void add_prediction(Json& result, const PowerCandidate& candidate, const PowerContext& context,
                    const std::optional<PowerFormulas>& formulas) {
  if (!candidate.plain()) result["window_bytes"] = candidate.window_bytes;
  Json predicted{
      {"gflops", context.flops / candidate.predicted_seconds / 1e9},
      {"bound", name_of(candidate.bound)},
      {"model", model_of(candidate, context)},
      {"overlapped_gflops", context.flops / candidate.predicted_overlapped_seconds / 1e9}};
  if (formulas) {
    if (formulas->sell > 0) predicted["sell_gflops"] = formulas->sell / 1e9;
    predicted["blocked_gflops"] = formulas->blocked / 1e9;
    if (formulas->with_latency > 0) predicted["with_latency_gflops"] = formulas->with_latency / 1e9;
  }
  result["predicted"] = std::move(predicted);
}

// More would make documents large, and no figure has room for them.
constexpr std::size_t kMostTraced = 10'000;

// "trace" and, if its tasks were joined, how many tiles went into one.
void add_trace(Json& result, const TaskTrace& trace) {
  const TaskTrace shown = joined(trace, kMostTraced);
  const auto whole_nanoseconds = [](double seconds) { return std::round(seconds * 1e9) / 1e9; };
  Json tasks = Json::array();
  for (const TracedTask& task : shown.tasks) {
    tasks.push_back({{"level", task.begin},
                     {"levels", task.end - task.begin},
                     {"power", task.power},
                     {"start", whole_nanoseconds(task.start_seconds)},
                     {"end", whole_nanoseconds(task.end_seconds)},
                     {"thread", task.thread}});
  }
  result["trace"] = std::move(tasks);
  if (shown.tiles_per_entry > 1) result["trace_levels_per_entry"] = shown.tiles_per_entry;
}

// "setup_parts": where the set-up went.
void add_parts(Json& result, const std::vector<PlanningPart>& parts) {
  if (parts.empty()) return;
  Json list = Json::array();
  for (const PlanningPart& part : parts) {
    Json one{{"part", name_of(part.kind)}, {"seconds", part.seconds}};
    if (!part.subject.empty()) one["of"] = part.subject;
    list.push_back(std::move(one));
  }
  result["setup_parts"] = std::move(list);
}

}  // namespace

Json json_of(const PowerResult& result) {
  Json json = candidate_json("mpk", result.choice, result.context);
  if (!result.library.empty()) json["variant"] = result.library;
  json["asked"] = name_of(result.asked());
  if (!result.refusal.empty()) {
    json["refused"] = result.refusal;
    return json;
  }
  json["setup_seconds"] = result.setup_seconds;
  add_measurement(json, result.measurement);
  json["percent_of_memory_bandwidth"] =
      100 * result.measurement.bytes_per_second() / result.memory_bandwidth;
  json["bytes"] = {{"minimum", result.minimum_bytes},
                   {"format", result.choice.format_bytes},
                   {"from_memory", result.choice.memory_bytes}};
  if (result.values) json["encodings"] = encodings_json(result.values->slices);
  if (result.speed_up > 0) json["speedup_over_spmv"] = result.speed_up;
  if (result.over_vendor > 0) json["speedup_over_vendor"] = result.over_vendor;
  if (result.break_even > 0) json["break_even_applications"] = result.break_even;
  if (result.levels > 0) json["levels"] = result.levels;
  add_parts(json, result.setup_parts);
  if (result.overflow) {
    json["overflow"] = {{"power", result.overflow->power}, {"element", result.overflow->element}};
  }
  add_prediction(json, result.choice, result.context, result.formulas);
  if (result.trace) add_trace(json, *result.trace);
  return json;
}

std::vector<Json> candidates_json(const PlanRecord& record, const PowerContext& context) {
  std::vector<Json> results;
  for (const PowerCandidate& candidate : record.candidates) {
    Json result = candidate_json("explain", candidate, context);
    result["chosen"] = &candidate == &record.choice();
    result["setup_seconds"] = record.setup_seconds;
    result["bytes"] = {{"format", candidate.format_bytes}, {"from_memory", candidate.memory_bytes}};
    if (&candidate == &record.choice()) add_parts(result, record.parts);
    if (&candidate == &record.choice() && record.values) {
      result["bytes"]["full_values"] = record.values->full_bytes;
      result["update_seconds"] = record.values->seconds;
      result["encodings"] = encodings_json(record.values->slices);
    }
    if (record.levels > 0) result["levels"] = record.levels;
    if (const double break_even = record.break_even(); break_even > 0) {
      result["break_even_applications"] = break_even;
    }
    if (candidate.measured_seconds > 0) result["measured_seconds"] = candidate.measured_seconds;
    add_prediction(result, candidate, context, std::nullopt);
    results.push_back(std::move(result));
  }
  return results;
}

Json best_power_json(const PlanRecord& record, const PowerContext& context) {
  Json result = candidate_json("best-power", record.choice(), context);
  result["products"] = record.products;
  result["setup_seconds"] = record.setup_seconds;
  result["reason"] = power_reason(record);
  Json speeds = Json::array();
  for (const auto& [power, way] : record.by_power) {
    PowerContext of_power = context;
    of_power.options.power = power;
    of_power.flops = context.flops / context.options.power * power;
    Json speed{{"power", power},
               {"strategy", name_of(way.strategy)},
               {"format", name_of(way.format.format)},
               {"variant", "rows " + text_of(way.order)},
               {"parameters", parameters_json(way, of_power)}};
    add_prediction(speed, way, of_power, std::nullopt);
    if (way.measured_seconds > 0) {
      speed["measured_seconds"] = way.measured_seconds;
      speed["gflops"] = of_power.flops / way.measured_seconds / 1e9;
    }
    speeds.push_back(std::move(speed));
  }
  result["speeds"] = std::move(speeds);
  return result;
}

}  // namespace strata
