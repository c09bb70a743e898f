#include "cli/candidate.hpp"

#include "cli/measuring.hpp"

namespace strata::cli {

namespace {

// GPUs overlap what plain products and waves do; the processor's model and that of groups of levels
// do not.
std::string_view model_of(const PowerCandidate& candidate, const CandidateContext& context) {
  if (!context.device) return "without overlap";
  switch (candidate.strategy) {
    case PowerStrategy::spmv: return "roofline";
    case PowerStrategy::wavefront: return "wave";
    default: return "without overlap";
  }
}

}  // namespace

Json candidate_json(std::string_view kernel, const PowerCandidate& candidate,
                    const CandidateContext& context) {
  const PowerOptions& plan = context.settings.plan;
  Json parameters{{"block", candidate.block},
                  {"bands", candidate.bands},
                  {"slack", candidate.slack},
                  {"vectors", plan.vectors},
                  {"basis", plan.basis.name()},
                  {"order", plan.vector_order == VectorOrder::plan ? "plan" : "caller"}};
  if (is_sliced(candidate.format.format)) {
    parameters["slice_height"] = candidate.format.slice_height;
  }
  if (context.device && candidate.strategy == PowerStrategy::wavefront) {
    parameters["window"] = name_of(candidate.placement);
  }
  if (context.cache_bytes > 0) parameters["cache_bytes"] = context.cache_bytes;
  Json result{{"kernel", kernel},
              {"backend", context.backend},
              {"format", name_of(candidate.format.format)},
              {"variant", "rows " + text_of(candidate.order)},
              {"strategy", name_of(candidate.strategy)},
              {"power", context.power},
              {"parameters", parameters}};
  if (context.device) {
    result["device"] = *context.device;
  } else {
    result["threads"] = context.threads;
  }
  result["precision"] = name_of(context.precision);
  return result;
}

void add_prediction(Json& result, const PowerCandidate& candidate, const CandidateContext& context,
                    const std::optional<PowerFormulas>& formulas) {
  if (candidate.strategy != PowerStrategy::spmv) result["window_bytes"] = candidate.window_bytes;
  Json predicted{
      {"gflops", context.flops / candidate.predicted_seconds / 1e9},
      {"bound", name_of(candidate.bound)},
      {"model", model_of(candidate, context)},
      {"overlapped_gflops", context.flops / candidate.predicted_overlapped_seconds / 1e9}};
  if (formulas) {
    if (formulas->sell > 0) predicted["sell_gflops"] = formulas->sell / 1e9;
    predicted["blocked_gflops"] = formulas->blocked / 1e9;
    if (formulas->with_latency > 0) predicted["ramp_up_gflops"] = formulas->with_latency / 1e9;
  }
  result["predicted"] = predicted;
}

}  // namespace strata::cli
