#include "cli/parts/campaign_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/parts/campaign_text.hpp"
#include "cli/parts/terminal.hpp"

namespace strata::cli {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(500);
constexpr int kBarWidth = 20;

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// As many characters as fit, which may have several bytes each.
std::string cut_to(std::string text, int width) {
  if (display_width(text) <= width) return text;
  while (!text.empty() && display_width(text) > width - 1) {
    while ((text.back() & 0xc0) == 0x80) text.pop_back();
    text.pop_back();
  }
  return text + "…";
}

}  // namespace

CampaignProgress::CampaignProgress(bool quiet) : visible_(!quiet && isatty(STDERR_FILENO) == 1) {}

void CampaignProgress::show(const campaign::RunProgress& progress) {
  if (!visible_) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress.running == running_ && now - drawn_ < kRedraw) return;
  drawn_ = now;
  running_ = progress.running;
  const double share = static_cast<double>(progress.finished) /
                       static_cast<double>(std::max<std::size_t>(progress.total, 1));
  const std::string done = bar(share, kBarWidth);
  fmt::print(stderr, "\r\x1b[K{}{:{}}▏ {}", done, "", kBarWidth - display_width(done),
             cut_to(campaign_progress_text(progress), terminal_width() - kBarWidth - 3));
  std::fflush(stderr);
}

void CampaignProgress::clear() {
  if (!visible_ || running_.empty()) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

std::string campaign_progress_text(const campaign::RunProgress& progress) {
  const std::string left =
      progress.seconds_left ? fmt::format(", {} left", duration_text(*progress.seconds_left)) : "";
  return fmt::format("{} of {}{}, {}", progress.finished, progress.total, left,
                     printable(progress.running));
}

std::string duration_text(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48.0 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

}  // namespace strata::cli
