// What people see: progress on standard error, tables and numbers on standard output.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"

namespace strata::cli {

// Writes all of it to standard output or throws a Failure: a full disk is not a success. Of several
// ranks the one that speaks does.
void write_to_stdout(std::string_view text);

// One line on standard error that says what is running, with a bar where the fraction is known.
// Shows nothing unless standard error is a terminal, and on the rank that speaks alone.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A new piece of work begins. Ends the command here if Ctrl-C was pressed.
  void start(std::string what);
  // Reports the fraction of the piece that is done; ends the command like start.
  std::function<void(double)> callback();
  void clear();

 private:
  void draw(std::optional<double> fraction);

  bool visible_;
  std::string what_;
  std::chrono::steady_clock::time_point drawn_;
};

// The number of characters that a terminal shows for UTF-8 text (all of them one cell wide).
int display_width(std::string_view text);

// 1234567 as "1 234 567".
std::string grouped(Offset number);

// "1.31 GB", in powers of 1000, as bandwidths are.
std::string bytes_text(Offset bytes);

// A bar of block characters, `width` cells long at fraction 1, in eighths of a cell.
std::string bar(double fraction, int width);

// "1.31 s", "24.0 ms", "3.10 us".
std::string seconds_text(double seconds);

// Rows of cells in aligned columns, two spaces apart. The first `text_columns` and those without a
// header are text, the others are numbers, aligned at the right. All rows have as many cells as the
// header.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::size_t text_columns = 1)
      : rows_{std::move(header)}, text_columns_(text_columns) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text(int indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t text_columns_;
};

// Two blocks of lines as two columns, `gap` spaces apart.
std::string in_two_columns(const std::vector<std::string>& left,
                           const std::vector<std::string>& right, int gap, int indent);

}  // namespace strata::cli
