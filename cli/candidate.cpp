#include "cli/candidate.hpp"

#include "cli/measuring.hpp"

namespace strata::cli {

Json candidate_json(std::string_view kernel, const PowerCandidate& candidate,
                    const CandidateContext& context) {
  const PowerOptions& plan = context.settings.plan;
  const FormatName format = split_format(candidate.format);
  Json parameters{{"block", candidate.block},
                  {"bands", candidate.bands},
                  {"slack", candidate.slack},
                  {"vectors", plan.vectors},
                  {"basis", plan.basis.name()},
                  {"order", plan.vector_order == VectorOrder::plan ? "plan" : "caller"}};
  if (format.slice_height > 0) parameters["slice_height"] = format.slice_height;
  if (context.cache_bytes > 0) parameters["cache_bytes"] = context.cache_bytes;
  return {{"kernel", kernel},
          {"backend", "cpu"},
          {"format", format.name},
          {"variant", "rows " + candidate.order},
          {"strategy", name_of(candidate.strategy)},
          {"power", context.power},
          {"parameters", parameters},
          {"threads", context.threads},
          {"precision", name_of(context.precision)}};
}

void add_prediction(Json& result, const PowerCandidate& candidate,
                    const CandidateContext& context) {
  if (candidate.strategy != PowerStrategy::spmv) result["window_bytes"] = candidate.window_bytes;
  result["predicted"] = {
      {"gflops", context.flops / candidate.predicted_seconds / 1e9},
      {"bound", candidate.bound},
      {"model", "without overlap"},
      {"overlapped_gflops", context.flops / candidate.predicted_overlapped_seconds / 1e9}};
}

}  // namespace strata::cli
