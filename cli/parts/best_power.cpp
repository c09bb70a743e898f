#include "cli/parts/best_power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/parts/measuring.hpp"
#include "cli/parts/terminal.hpp"

namespace strata::cli {

namespace {

constexpr int kWidth = 40;

// A bar of what was timed, and a line where the model has it.
std::string drawn(double timed, double predicted, double fastest) {
  if (!(fastest > 0)) return "";
  const auto mark = static_cast<int>(std::lround(predicted / fastest * (kWidth - 1)));
  const std::string solid = bar(timed / fastest, kWidth);
  const int cells = display_width(solid);
  if (mark >= cells) return solid + std::string(static_cast<std::size_t>(mark - cells), ' ') + "|";
  return bar(static_cast<double>(mark) / kWidth, kWidth) + "|" +
         bar(timed / fastest - (mark + 1.0) / kWidth, kWidth);
}

}  // namespace

std::string speeds_text(const PlanRecord& record, double flops_of_a_product) {
  const auto rate = [&](const PowerSpeed& speed, double seconds) {
    return seconds > 0 ? flops_of_a_product * speed.power / seconds : 0;
  };
  double fastest = 0;
  for (const PowerSpeed& speed : record.by_power) {
    fastest = std::max({fastest, rate(speed, speed.way.predicted_seconds),
                        rate(speed, speed.way.measured_seconds)});
  }
  Table table({"p", "strategy", "window", "model", "timed", ""}, 2);
  for (const PowerSpeed& speed : record.by_power) {
    const PowerCandidate& way = speed.way;
    const double timed = rate(speed, way.measured_seconds);
    const double predicted = rate(speed, way.predicted_seconds);
    std::string strategy{way.plain() ? "plain" : name_of(way.strategy)};
    if (way.block < speed.power) strategy += fmt::format(" by {}", way.block);
    table.add({std::to_string(speed.power), strategy,
               way.plain() ? "-" : bytes_text(way.window_bytes), giga_text(predicted),
               timed > 0 ? giga_text(timed) : "-",
               drawn(timed, predicted, fastest) +
                   (speed.power == record.choice().block ? "  <- chosen" : "")});
  }
  return "GF/s over p, the powers per sweep: as timed (bars) and by the model (|).\n" +
         table.text(2);
}

std::string show_best_power(const PlanRecord& record, const PowerContext& context,
                            ResultDocument& document) {
  document.add_result(best_power_json(record, context));
  return speeds_text(record, context.flops / context.options.power) + "\n" + power_reason(record) +
         "\n";
}

}  // namespace strata::cli
