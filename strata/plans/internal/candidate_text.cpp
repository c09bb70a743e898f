#include "strata/plans/internal/candidate_text.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  if (candidate.strategy == PowerStrategy::spmv) return text;
  if (candidate.block < power) {
    text += " ";
    for (int done = 0; done < power; done += candidate.block) {
      text += fmt::format("{}{}", done == 0 ? "" : "+", std::min(candidate.block, power - done));
    }
  }
  if (candidate.bands > 1) text += fmt::format(", {} bands", candidate.bands);
  if (candidate.slack > 0) text += ", slack";
  return text;
}

namespace {

std::string candidate_line(const PowerCandidate& candidate, int power) {
  const std::string measured =
      candidate.measured_seconds > 0 ? time_text(candidate.measured_seconds) : std::string("-");
  return fmt::format("  {:<28}{:<32}{:<34}{:>10}{:>12}{:>12}{:>12}  {}\n",
                     method_text(candidate, power), candidate.order, candidate.format,
                     candidate.strategy == PowerStrategy::spmv
                         ? std::string("-")
                         : bytes_text(static_cast<double>(candidate.window_bytes)),
                     bytes_text(candidate.memory_bytes), time_text(candidate.predicted_seconds),
                     measured, candidate.bound);
}

}  // namespace

std::string gain_text(const PowerCandidate& plain, const PowerCandidate& best) {
  return fmt::format(" instead of {}: {:.2f} times as fast as plain products ({})",
                     bytes_text(plain.memory_bytes), plain.seconds() / best.seconds(),
                     best.measured_seconds > 0 ? "timed" : "predicted");
}

std::string candidate_table(std::span<const PowerCandidate> candidates, int power) {
  std::string text =
      fmt::format("  {:<28}{:<32}{:<34}{:>10}{:>12}{:>12}{:>12}  {}\n", "candidate", "rows",
                  "format", "window", "from memory", "predicted", "measured", "bound");
  for (const PowerCandidate& candidate : candidates) text += candidate_line(candidate, power);
  return text;
}

}  // namespace strata::detail
