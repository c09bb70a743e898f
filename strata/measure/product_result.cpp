#include "strata/measure/product_result.hpp"

#include <numeric>

namespace strata {

namespace {

template <class Encoding, std::size_t count>
Json shares_json(const std::array<Offset, count>& slices,
                 const std::array<Encoding, count>& encodings) {
  const auto all = static_cast<double>(std::accumulate(slices.begin(), slices.end(), Offset{0}));
  Json shares = Json::object();
  for (const Encoding encoding : encodings) {
    const Offset with = slices[static_cast<std::size_t>(encoding)];
    if (with > 0) shares[name_of(encoding)] = static_cast<double>(with) / all;
  }
  return shares;
}

Json roofline_json(const ProductResult& result) {
  return {{"gflops", result.roofline->flops_per_second / 1e9},
          {"percent", 100 * result.roofline_share()},
          {"limit", result.roofline->limit}};
}

Json alpha_json(const ProductResult& result) {
  Json alpha = Json::object();
  if (result.predicted_alpha) alpha["predicted"] = *result.predicted_alpha;
  if (result.inferred_alpha) alpha["inferred"] = *result.inferred_alpha;
  return alpha;
}

}  // namespace

Json encodings_json(const SliceEncodings& encodings) {
  return Json::object({{"index", shares_json(encodings.columns, kSliceEncodings)},
                       {"value", shares_json(encodings.values, kValueEncodings)}});
}

Json parameters_json(const std::vector<NamedNumber>& parameters) {
  Json object = Json::object();
  for (const NamedNumber& parameter : parameters) object[parameter.name] = parameter.value;
  return object;
}

Json json_of(const ProductResult& result) {
  Json parameters = parameters_json(result.format.parameters());
  parameters.update(parameters_json(result.kernel_parameters));
  Json json{{"kernel", "spmv"},
            {"backend", result.backend},
            {"format", name_of(result.format)},
            {"variant", result.label},
            {"power", 1},
            {"parameters", parameters}};
  if (result.device) {
    json["device"] = *result.device;
  } else {
    json["threads"] = result.threads;
  }
  json["precision"] = name_of(result.precision);
  if (!result.refusal.empty()) {
    json["refused"] = result.refusal;
    return json;
  }
  json["setup_seconds"] = result.setup_seconds;
  add_measurement(json, result.measurement);
  json["percent_of_memory_bandwidth"] =
      100 * result.measurement.bytes_per_second() / result.memory_bandwidth;
  json["bytes"] = {{"minimum", result.minimum_bytes}, {"format", result.format_bytes}};
  if (result.encodings) json["encodings"] = encodings_json(*result.encodings);
  if (result.speed_up > 0) json["speedup_over_vendor"] = result.speed_up;
  if (result.compared_with_csr) {
    json["break_even_products"] = result.break_even ? Json(*result.break_even) : Json();
  }
  if (result.roofline) json["roofline"] = roofline_json(result);
  if (result.predicted_alpha || result.inferred_alpha) json["alpha"] = alpha_json(result);
  if (result.prediction) {
    json["predicted"] = {{"gflops", result.prediction->flops_per_second / 1e9},
                         {"bound", name_of(result.prediction->bound)},
                         {"model", "roofline"},
                         {"with_latency_gflops", result.prediction->with_latency / 1e9}};
  }
  return json;
}

}  // namespace strata
