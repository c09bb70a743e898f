#include "cli/parts/writing.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/version.hpp"
#include "strata/measure/matrix_analysis.hpp"

namespace strata::cli {

namespace {

constexpr Symmetry kSymmetries[] = {Symmetry::general, Symmetry::symmetric,
                                    Symmetry::skew_symmetric, Symmetry::hermitian};

Symmetry symmetry_to_write(const WritingOptions& options, const MatrixSource& source,
                           const AnyMatrix& matrix) {
  if (options.symmetry.empty()) {
    return source.header ? source.header->symmetry : Symmetry::general;
  }
  if (options.symmetry == "auto") return statistics_of(matrix).value_symmetry;
  for (const Symmetry symmetry : kSymmetries) {
    if (options.symmetry == name_of(symmetry)) return symmetry;
  }
  throw InvalidArgument(fmt::format("there is no symmetry {}", options.symmetry));
}

struct Shape {
  Offset rows = 0;
  Offset cols = 0;
  Offset entries = 0;
};

Shape shape_of(const AnyMatrix& matrix) {
  return std::visit([](const auto& csr) { return Shape{csr.rows(), csr.cols(), csr.nnz()}; },
                    matrix);
}

struct WrittenFile {
  Symmetry symmetry = Symmetry::general;
  Offset bytes = 0;  // 0 when it is no regular file
  double seconds = 0;
};

WrittenFile write_file(const MatrixSource& source, const AnyMatrix& matrix,
                       const WritingOptions& writing, Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const bool no_values =
      source.header && source.header->field == MatrixMarketHeader::Field::pattern;
  const std::string comment = fmt::format("{}, {} by Strata {}", source.name,
                                          source.generated() ? "generated" : "converted", kVersion);
  WriteOptions options;
  options.symmetry = symmetry_to_write(writing, source, matrix);
  options.pattern = writing.pattern || no_values;
  options.comment = comment;
  options.progress = progress.callback();

  progress.start("writing " + writing.output);
  const auto begin = Clock::now();
  {
    const CleanUpTemporary clean_up(writing.output);
    std::visit([&](const auto& csr) { write_matrix_market(writing.output, csr, options); }, matrix);
  }
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  std::error_code no_size;
  const auto bytes = std::filesystem::file_size(writing.output, no_size);
  return {.symmetry = options.symmetry,
          .bytes = no_size ? 0 : static_cast<Offset>(bytes),
          .seconds = seconds.count()};
}

// Whether what is written to this name comes out on standard output, as with /dev/stdout.
bool is_standard_output(const std::string& name) {
  struct stat file{};
  struct stat standard{};
  return stat(name.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
         file.st_dev == standard.st_dev && file.st_ino == standard.st_ino;
}

}  // namespace

CleanUpTemporary::CleanUpTemporary(const std::string& output) {
  std::error_code error;
  const auto status = std::filesystem::status(output, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    clean_up_.emplace();
  }
}

void add_writing_options(CommandOptions& command, WritingOptions& options) {
  command
      .add("--symmetry", options.symmetry,
           "Store one half, all (general), or what the values allow (auto); when not given, as "
           "the input is stored, and all of a generated matrix")
      .type_name("KIND")
      .one_of({"auto", "general", "symmetric", "skew-symmetric", "hermitian"});
  command.add_flag("--pattern", options.pattern, "Leave the values out");
}

void run_writing(const std::string& matrix, const WritingOptions& writing,
                 const CommonOptions& common, const std::vector<std::string>& words) {
  // Found out before anything is written: writing replaces a regular file by another one, which is
  // no longer the file of standard output.
  const bool on_stdout = is_standard_output(writing.output);
  if (on_stdout && common.json_on_stdout()) {
    throw InvalidArgument("the matrix and --json cannot both go to standard output");
  }
  run_command(common, words, [&](ResultDocument& document, Progress& progress) {
    const MatrixSource source = find_matrix(matrix);
    document.describe_matrix(describe(source));
    const AnyMatrix loaded = load_matrix(source, common, progress);
    const Shape shape = shape_of(loaded);
    document.describe_matrix({{"rows", shape.rows}, {"cols", shape.cols}, {"nnz", shape.entries}});

    const WrittenFile file = write_file(source, loaded, writing, progress);
    document.add_result({{"kernel", "write"},
                         {"output", writing.output},
                         {"symmetry", name_of(file.symmetry)},
                         {"file_bytes", file.bytes},
                         {"write_seconds", file.seconds}});
    if (common.quiet || on_stdout) return std::string();
    return fmt::format("{}: {} x {}, {} entries, {} as {}, {:.2f} s\n", writing.output,
                       grouped(shape.rows), grouped(shape.cols), grouped(shape.entries),
                       bytes_text(file.bytes), name_of(file.symmetry), file.seconds);
  });
}

}  // namespace strata::cli
