#include "cli/parts/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include "cli/parts/exit_status.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/ranks.hpp"

namespace strata::cli {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr int kProgressWidth = 30;

// Whether standard error is a terminal. Launchers of ranks pass it on through a pipe: then theirs
// counts, if they run on this machine.
bool is_seen() {
  if (isatty(STDERR_FILENO) == 1) return true;
  if (rank_count() == 1) return false;
  std::error_code error;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), error);
  return !error &&
         (target.string().starts_with("/dev/pts/") || target.string().starts_with("/dev/tty"));
}

}  // namespace

void write_to_stdout(std::string_view text) {
  if (!speaks()) return;
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Failure(ExitStatus::failure,
                    "standard output: " + std::generic_category().message(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Progress::Progress(bool quiet) : visible_(!quiet && speaks() && is_seen()) {}

void Progress::start(std::string what) {
  check_interruption();
  what_ = std::move(what);
  draw(std::nullopt);
}

std::function<void(double)> Progress::callback() {
  return [this](double fraction) {
    check_interruption();
    if (std::chrono::steady_clock::now() - drawn_ >= kRedraw) draw(fraction);
  };
}

// \r starts over, ESC [K clears what was there.
void Progress::draw(std::optional<double> fraction) {
  if (!visible_) return;
  drawn_ = std::chrono::steady_clock::now();
  if (!fraction) {
    fmt::print(stderr, "\r\x1b[K{} …", what_);
  } else {
    const std::string done = bar(*fraction, kProgressWidth);
    fmt::print(stderr, "\r\x1b[K{}{:{}}▏{:3.0f} %  {}", done, "",
               kProgressWidth - display_width(done), 100 * std::clamp(*fraction, 0.0, 1.0), what_);
  }
  std::fflush(stderr);
}

void Progress::clear() {
  if (visible_ && !what_.empty()) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
  what_.clear();
}

int display_width(std::string_view text) {
  // Every byte but the continuation bytes 10xxxxxx begins a character.
  return static_cast<int>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string grouped(Offset number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3; end -= 3) digits.insert(end - 3, 1, ' ');
  return digits;
}

namespace {

// Three digits and the unit in which there are no more before the point.
std::string with_unit(double number, std::span<const char* const> units) {
  std::size_t unit = 0;
  // 999.5 and more would be shown with four digits.
  for (; number >= 999.5 && unit + 1 < units.size(); ++unit) number /= 1000;
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", number, decimals, units[unit]);
}

}  // namespace

std::string bytes_text(Offset bytes) {
  constexpr std::array kUnits{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return with_unit(static_cast<double>(bytes) / 1000, kUnits);
}

std::string seconds_text(double seconds) {
  constexpr std::array kUnits{"ns", "µs", "ms", "s"};
  return with_unit(seconds * 1e9, kUnits);
}

std::string bar(double fraction, int width) {
  constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * 8 * width));
  std::string text;
  for (int cell = 0; cell < eighths / 8; ++cell) text += "█";
  return text + kEighths[static_cast<std::size_t>(eighths % 8)];
}

std::string Table::text(int indent) const {
  std::vector<int> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(static_cast<std::size_t>(widths[i] - display_width(row[i])), ' ');
      if (i > 0) line += "  ";
      line += i < text_columns_ || rows_.front()[i].empty() ? row[i] + gap : gap + row[i];
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string in_two_columns(const std::vector<std::string>& left,
                           const std::vector<std::string>& right, int gap, int indent) {
  int width = 0;
  for (const std::string& line : left) width = std::max(width, display_width(line));
  std::string text;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string first = i < left.size() ? left[i] : "";
    const std::string second = i < right.size() ? right[i] : "";
    std::string line(static_cast<std::size_t>(indent), ' ');
    line += first;
    line.append(static_cast<std::size_t>(width - display_width(first) + gap), ' ');
    line += second;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace strata::cli
