#include "strata/plans/internal/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/power_choice.hpp"

namespace strata {

std::string text_of(const RowOrder& order) {
  switch (order.kind) {
    case RowOrder::Kind::given: return "given";
    case RowOrder::Kind::planes: return "given, planes";
    case RowOrder::Kind::rcm: return "RCM";
    case RowOrder::Kind::levels: break;
  }
  return fmt::format("levels, {}{}", name_of(order.inner),
                     order.sorted_by_length ? ", sorted by length" : "");
}

std::string format_text(const PowerCandidate& candidate) {
  if (candidate.product) return label_of(*candidate.product);
  std::string text = candidate.flagged ? "values as flags" : text_of(candidate.format);
  const bool on_gpu = candidate.placement == WindowPlacement::shared_memory ||
                      candidate.placement == WindowPlacement::l2;
  if (on_gpu && candidate.strategy == PowerStrategy::wavefront) {
    text += fmt::format(", {}", name_of(candidate.placement));
  }
  return text;
}

void PlanRecord::take_over(std::optional<ValueStorage> updated, double seconds) {
  if (!updated) return;
  updated->seconds = seconds;
  if (values) updated->bytes_before = values->footprint.bytes_per_entry();
  values = updated;
  candidates.front().format_bytes = updated->footprint.bytes();
}

double PlanRecord::break_even() const {
  const double saved = plain_seconds - choice().seconds();
  return saved > 0 ? setup_seconds / saved : 0;
}

}  // namespace strata

namespace strata::detail {

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes * 1e-9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes * 1e-6);
  return fmt::format("{:.0f} kB", bytes * 1e-3);
}

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

std::string method_text(const PowerCandidate& candidate, int power) {
  std::string text{name_of(candidate.strategy)};
  if (candidate.plain()) return text;
  if (candidate.block < power) {
    const char* before = " ";
    for (const int block : blocks_of(power, candidate.block)) {
      text += fmt::format("{}{}", before, block);
      before = "+";
    }
  }
  if (candidate.bands > 1) text += fmt::format(", {} bands", candidate.bands);
  if (candidate.slack > 0) text += ", slack";
  if (candidate.slack > 1) text += fmt::format(" {}", candidate.slack);
  if (candidate.cache_share > 0) text += fmt::format(", share {:.3g}", candidate.cache_share);
  return text;
}

namespace {

std::string window_text(Offset bytes) {
  return bytes_text(static_cast<double>(bytes));
}

std::string candidate_line(const PowerCandidate& candidate, int power) {
  return fmt::format("  {:<28}{:<32}{:<38}{:>10}{:>12}{:>12}{:>12}  {}\n",
                     method_text(candidate, power), text_of(candidate.order),
                     format_text(candidate),
                     candidate.plain() ? "-" : window_text(candidate.window_bytes),
                     bytes_text(candidate.memory_bytes), time_text(candidate.predicted_seconds),
                     candidate.measured_seconds > 0 ? time_text(candidate.measured_seconds) : "-",
                     name_of(candidate.bound));
}

// A line per candidate, with a heading.
std::string candidate_table(std::span<const PowerCandidate> candidates, int power) {
  std::string text =
      fmt::format("  {:<28}{:<32}{:<38}{:>10}{:>12}{:>12}{:>12}  {}\n", "candidate", "rows",
                  "format", "window", "from memory", "predicted", "measured", "bound");
  for (const PowerCandidate& candidate : candidates) text += candidate_line(candidate, power);
  return text;
}

// ": 1.50 times as fast as plain products (timed)"
std::string gain_text(const PowerCandidate& plain, const PowerCandidate& best) {
  const bool timed = best.measured_seconds > 0;
  return fmt::format(
      ": {:.2f} times as fast as plain products{} ({})", plain.seconds() / best.seconds(),
      timed && plain.measured_seconds == 0 ? " should be" : "", timed ? "timed" : "predicted");
}

std::string blocked_reason(const PlanRecord& record, int power) {
  const PowerCandidate& best = record.choice();
  const auto plain = std::ranges::find_if(record.candidates, &PowerCandidate::plain);
  const bool known = plain != record.candidates.end();
  const std::string gain = known ? gain_text(*plain, best) : "";
  if (best.cache_share > 1) {
    return fmt::format(
        "Chosen: {} in {}, rows {}. Groups of levels are cut for {:.3g} times the cache, so that "
        "their kernels fill the device better{}.",
        method_text(best, power), format_text(best), text_of(best.order), best.cache_share, gain);
  }
  if (known && best.memory_bytes >= plain->memory_bytes) {
    return fmt::format("Chosen: {} in {}, rows {}, as asked for. No window fits in a cache.",
                       method_text(best, power), format_text(best), text_of(best.order));
  }
  return fmt::format(
      "Chosen: {} in {}, rows {}. A window of {} stays in the cache, so that {} come from "
      "memory{}{}{}.",
      method_text(best, power), format_text(best), text_of(best.order),
      window_text(best.window_bytes), bytes_text(best.memory_bytes),
      known ? fmt::format(" instead of {}", bytes_text(plain->memory_bytes)) : "",
      best.asks_ahead ? ", asked for while powers of other rows are computed" : "", gain);
}

std::string product_reason(const PlanRecord& record) {
  const PowerCandidate& best = record.choice();
  const auto csr = std::ranges::find_if(record.candidates, is_csr_product);
  if (best.measured_seconds == 0 || csr == record.candidates.end() || csr->measured_seconds == 0 ||
      is_csr_product(best)) {
    return "One product reads the matrix once in any case.";
  }
  const auto timed = std::ranges::count_if(record.candidates, [](const PowerCandidate& candidate) {
    return candidate.measured_seconds > 0;
  });
  return fmt::format("The fastest of {} that were timed: {:.2f} times as fast as CSR.", timed,
                     csr->measured_seconds / best.measured_seconds);
}

std::string plain_reason(const PlanRecord& record, const Subject& subject) {
  switch (record.plain_reason) {
    case PlainReason::none: break;
    case PlainReason::asked_for: return "As asked for.";
    case PlainReason::one_power: return product_reason(record);
    case PlainReason::few_processors: return "Wavefront sweeps need a processor for every thread.";
    case PlainReason::slower_otherwise: {
      const auto other = std::ranges::find_if_not(record.candidates, &PowerCandidate::plain);
      return fmt::format(
          "The best of the others, {} with a window of {}, would take {:.2f} times as long; its "
          "bound is {}.",
          method_text(*other, subject.power), window_text(other->window_bytes),
          other->seconds() / record.choice().seconds(), name_of(other->bound));
    }
    case PlainReason::few_levels:
      return fmt::format("With {} levels of up to {} of {} rows no window fits in a cache.",
                         record.levels, record.largest_level_rows, subject.rows);
    case PlainReason::fast_expansion:
      return "What a row reaches grows as fast from step to step as in a random graph: the levels "
             "of this matrix are too few and too wide for a window that fits in a cache.";
    case PlainReason::in_cache: return "The matrix stays in the cache as it is.";
  }
  return {};
}

std::string reason(const PlanRecord& record, const Subject& subject) {
  const PowerCandidate& best = record.choice();
  if (!best.plain()) return blocked_reason(record, subject.power);
  return fmt::format("Chosen: plain products in {}, rows {}. {}", format_text(best),
                     text_of(best.order), plain_reason(record, subject));
}

// ", 93.1 % of the slices constant, 6.9 % masked"; nothing where the slices were not counted.
std::string encodings_text(const ValueStorage& values) {
  const auto& counts = values.slices.values;
  const auto slices = std::accumulate(counts.begin(), counts.end(), Offset{0});
  std::string text;
  for (const ValueEncoding encoding : kValueEncodings) {
    const Offset count = counts[static_cast<std::size_t>(encoding)];
    if (count == 0) continue;
    text += fmt::format(", {:.1f} %{} {}",
                        100 * static_cast<double>(count) / static_cast<double>(slices),
                        text.empty() ? " of the slices" : "", name_of(encoding));
  }
  return text;
}

// How values are stored, and what new ones cost.
std::string values_text(const ValueStorage& values) {
  const double bytes = values.footprint.bytes_per_entry();
  std::string text;
  if (values.encoded()) {
    const double full = static_cast<double>(values.full_bytes) /
                        static_cast<double>(std::max<Offset>(values.footprint.entries, 1));
    text = fmt::format(
        "Values are encoded{}{}: the matrix takes {:.2f} bytes per nonzero instead of {:.2f} "
        "with full values. New values are encoded again, which takes about {}; matrices whose "
        "values change often may ask for full values.\n",
        encodings_text(values),
        values.distinct > 0 ? fmt::format(", codes for {} distinct ones", values.distinct) : "",
        bytes, full, time_text(values.seconds));
  } else {
    text = fmt::format(
        "Values are stored in full: the matrix takes {:.2f} bytes per nonzero. New values are "
        "written in about {}.\n",
        bytes, time_text(values.seconds));
  }
  constexpr double kOther = 0.02;
  if (values.bytes_before > 0 &&
      std::abs(bytes - values.bytes_before) > kOther * values.bytes_before) {
    text += fmt::format(
        "The last update stored the values in another encoding: {:.2f} -> {:.2f} bytes per "
        "nonzero. What was predicted and timed above is of the old ones.\n",
        values.bytes_before, bytes);
  }
  return text;
}

// ". Of that, 0.82 s for storing packed-sell C=32, rows given; 0.12 s for levels": what took a
// tenth of the time or more.
std::string parts_text(const PlanRecord& record) {
  constexpr double kMuch = 0.1;
  std::string text;
  for (const PlanningPart& part : record.parts) {
    if (part.seconds < kMuch * record.setup_seconds) continue;
    text +=
        fmt::format("{}{} for {}{}{}", text.empty() ? ". Of that, " : "; ", time_text(part.seconds),
                    name_of(part.kind), part.subject.empty() ? "" : " ", part.subject);
  }
  return text;
}

std::string setup_text(const PlanRecord& record, const Subject& subject) {
  std::string text = fmt::format("Planning took {}", time_text(record.setup_seconds));
  if (record.break_even() > 0) {
    const bool csr = subject.power == 1 && std::ranges::any_of(record.candidates, is_csr_product);
    text += fmt::format(", as long as {:.0f} {}; it pays off after {:.0f} applications",
                        record.setup_seconds / (record.plain_seconds / subject.power),
                        csr ? "products in CSR" : "plain products", std::ceil(record.break_even()));
  }
  return text + parts_text(record) + ".\n";
}

}  // namespace

std::string explain(const PlanRecord& record, const Subject& subject) {
  std::string text = fmt::format("{} of a matrix with {} rows and {} entries, {} vector{}, {}.\n",
                                 subject.task, subject.rows, subject.entries, subject.vectors,
                                 subject.vectors == 1 ? "" : "s", subject.device);
  text += fmt::format("{}\n", subject.machine);
  for (const std::string& remark : record.remarks) text += fmt::format("Remark: {}.\n", remark);
  if (record.levels > 0) {
    text += fmt::format("The rows form {} levels of at most {} rows.\n", record.levels,
                        record.largest_level_rows);
  }
  return text + "\n" + candidate_table(record.candidates, subject.power) + "\n" +
         reason(record, subject) + "\n" +
         (record.by_power.empty() ? "" : power_reason(record) + "\n") +
         (record.values ? values_text(*record.values) : "") + setup_text(record, subject);
}

}  // namespace strata::detail
