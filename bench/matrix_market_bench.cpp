// Reads one Matrix Market file with Strata and with Eigen's loadMarket, in one program and in
// turns, and measures the memory that Strata needs for it in a process of its own.
//
//   matrix_market_bench [--grid N] [--repetitions R] [--json FILE]
//
// The matrix is a 7-point stencil on N³ points with random values in full precision, as written by
// write_matrix_market: 118 MB of text for the default N = 80.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <unsupported/Eigen/SparseExtra>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/io/matrix_market.hpp"

namespace {

using strata::Offset;
using Matrix = strata::Csr<double, std::int32_t>;
using EigenMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct Arguments {
  int grid = 80;
  int repetitions = 5;
  std::string json;
};

Arguments parse_arguments(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; i += 2) {
    const std::string option = words[i];
    const std::string value = i + 1 < count ? words[i + 1] : "";
    if (option == "--grid") {
      arguments.grid = std::stoi(value);
    } else if (option == "--repetitions") {
      arguments.repetitions = std::stoi(value);
    } else if (option == "--json" && !value.empty()) {
      arguments.json = value;
    } else {
      throw strata::InvalidArgument("usage: [--grid N] [--repetitions R] [--json FILE]");
    }
  }
  return arguments;
}

// A 7-point stencil on n³ points with values in [−1, 1).
Matrix stencil(std::int32_t n) {
  const strata::Random random(1);
  strata::Array<Offset> offsets{0};
  strata::Array<std::int32_t> columns;
  strata::Array<double> values;
  const auto add = [&](bool inside, std::int32_t column) {
    if (!inside) return;
    columns.push_back(column);
    values.push_back(random.uniform(values.size(), -1, 1));
  };
  for (std::int32_t row = 0; row < n * n * n; ++row) {
    const std::int32_t x = row % n;
    const std::int32_t y = row / n % n;
    const std::int32_t z = row / n / n;
    add(z > 0, row - n * n);
    add(y > 0, row - n);
    add(x > 0, row - 1);
    add(true, row);
    add(x + 1 < n, row + 1);
    add(y + 1 < n, row + n);
    add(z + 1 < n, row + n * n);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return Matrix(n * n * n, n * n * n, std::move(offsets), std::move(columns), std::move(values));
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Timing {
  std::string what;
  double megabytes = 0;  // of text
  std::vector<double> seconds;

  double minimum() const { return std::ranges::min(seconds); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

// A line of /proc/self/status, in bytes.
double process_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return 1024 * std::stod(line.substr(key.size() + 1));
  }
  return 0;
}

struct Memory {
  double peak = 0;        // the most that was resident during the read beyond what was before
  double file_pages = 0;  // resident pages of files after the read, part of the same account
};

bool measure_and_send(const std::function<void()>& work, int pipe_end) {
  try {
    const double before = process_bytes("VmRSS");
    work();
    const Memory memory{process_bytes("VmHWM") - before, process_bytes("RssFile")};
    return ::write(pipe_end, &memory, sizeof memory) == sizeof memory;
  } catch (const std::exception& error) {
    std::cerr << "matrix_market_bench: " << error.what() << '\n';
    return false;
  }
}

// Forks, so that the peak is that of the read alone. A fork cannot use the threads of its parent:
// call it before any parallel work.
Memory memory_of(const std::function<void()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) throw strata::Unavailable("no pipe to a child process");
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(measure_and_send(work, ends[1]) ? 0 : 1);
  }
  ::close(ends[1]);
  Memory memory;
  const bool received = ::read(ends[0], &memory, sizeof memory) == sizeof memory;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (!received) throw strata::Unavailable("the child process failed");
  return memory;
}

// Does the work in a process of its own, which leaves the threads of this one untouched.
void in_child(const std::function<void()>& work) {
  memory_of(work);
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "strata-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw strata::FileError(name, "cannot be created");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

double megabytes_of(const std::filesystem::path& path) {
  return 1e-6 * static_cast<double>(std::filesystem::file_size(path));
}

struct Report {
  double megabytes = 0;
  double compressed_megabytes = 0;
  double csr_bytes = 0;
  Memory plain;
  Memory compressed;
  std::vector<Timing> timings;  // Strata, Strata from gzip, Eigen

  double ratio() const { return timings[2].median() / timings[0].median(); }
};

Report measure(const Arguments& arguments) {
  const Folder folder;
  const auto path = folder.path() / "stencil.mtx";
  const auto packed = folder.path() / "stencil.mtx.gz";
  in_child([&] {
    const Matrix matrix = stencil(arguments.grid);
    strata::write_matrix_market(path, matrix);
    strata::write_matrix_market(packed, matrix);
  });
  const auto read = [](const std::filesystem::path& file) {
    return strata::read_matrix_market<double, std::int32_t>(file);
  };
  Report report;
  report.megabytes = megabytes_of(path);
  report.compressed_megabytes = megabytes_of(packed);
  report.plain = memory_of([&] { read(path); });
  report.compressed = memory_of([&] { read(packed); });

  Matrix matrix;
  EigenMatrix eigen;
  const std::vector<std::function<void()>> readers{[&] { matrix = read(path); },
                                                   [&] { matrix = read(packed); },
                                                   [&] {
                                                     if (!Eigen::loadMarket(eigen, path.string()))
                                                       throw strata::InvalidMatrix("loadMarket");
                                                   }};
  report.timings = {{"Strata, plain", report.megabytes, {}},
                    {"Strata, gzip", report.megabytes, {}},
                    {"Eigen loadMarket, plain", report.megabytes, {}}};
  for (int repetition = 0; repetition < arguments.repetitions; ++repetition) {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      report.timings[i].seconds.push_back(seconds_of(readers[i]));
    }
  }
  report.csr_bytes = static_cast<double>(matrix.footprint().bytes());
  if (eigen.nonZeros() != matrix.nnz() ||
      !std::equal(matrix.values().begin(), matrix.values().end(), eigen.valuePtr())) {
    throw strata::InvalidMatrix("Eigen and Strata read different matrices");
  }
  return report;
}

void print(const Report& report) {
  fmt::print("{:.0f} MB of text ({:.0f} MB as gzip), {} threads\n\n", report.megabytes,
             report.compressed_megabytes, strata::thread_count());
  fmt::print("{:<26}{:>10}{:>10}{:>14}{:>10}\n", "reader", "median s", "min s", "MB/s of text",
             "speedup");
  for (const Timing& timing : report.timings) {
    fmt::print("{:<26}{:>10.3f}{:>10.3f}{:>14.0f}{:>10.2f}\n", timing.what, timing.median(),
               timing.minimum(), timing.megabytes / timing.median(),
               report.timings[2].median() / timing.median());
  }
  const auto print_memory = [&](const char* what, const Memory& memory) {
    fmt::print("{}: peak {:.1f} MB = {:.2f} x CSR ({:.1f} MB); {:.1f} MB are pages of files\n",
               what, 1e-6 * memory.peak, memory.peak / report.csr_bytes, 1e-6 * report.csr_bytes,
               1e-6 * memory.file_pages);
  };
  fmt::print("\n");
  print_memory("memory, plain", report.plain);
  print_memory("memory, gzip ", report.compressed);
}

void write_json(const Report& report, const std::string& path) {
  std::ofstream file(path);
  file << fmt::format("{{\"megabytes\": {}, \"threads\": {}, \"readers\": [", report.megabytes,
                      strata::thread_count());
  for (std::size_t i = 0; i < report.timings.size(); ++i) {
    const Timing& timing = report.timings[i];
    file << fmt::format(
        "{}{{\"name\": \"{}\", \"seconds\": {{\"median\": {}, \"min\": {}, \"repetitions\": {}}}}}",
        i == 0 ? "" : ", ", timing.what, timing.median(), timing.minimum(), timing.seconds.size());
  }
  file << fmt::format(
      "], \"speedup_over_eigen\": {}, \"csr_bytes\": {}, \"peak_bytes\": {{\"plain\": {}, "
      "\"gzip\": {}}}}}\n",
      report.ratio(), report.csr_bytes, report.plain.peak, report.compressed.peak);
  if (!file) throw strata::FileError(path, "cannot be written");
}

}  // namespace

int main(int count, char** words) {
  try {
    const Arguments arguments = parse_arguments(count, words);
    const Report report = measure(arguments);
    print(report);
    if (!arguments.json.empty()) write_json(report, arguments.json);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "matrix_market_bench: " << error.what() << '\n';
    return 1;
  }
}
