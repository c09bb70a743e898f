// Parts of a Matrix Market file: whatever the number of parts, they are the file.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "strata/formats/coo.hpp"
#include "strata/io/internal/read_part.hpp"
#include "strata/io/matrix_market_part.hpp"
#include "tests/io/support.hpp"
#include "tests/support/matrix_folder.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;
using Complex = std::complex<double>;
constexpr std::string_view kBanner = "%%MatrixMarket matrix coordinate real general\n";

// The parts one after another, as the matrix that they are parts of.
template <Value V, Index I>
Csr<V, I> put_together(const fs::path& path, int parts, std::size_t block_bytes) {
  Array<I> rows;
  Array<I> columns;
  Array<V> values;
  MatrixMarketHeader header;
  Offset stored = 0;
  for (int part = 0; part < parts; ++part) {
    const MatrixPart<V, I> piece = detail::read_part<V, I>(path, part, parts, {}, block_bytes);
    EXPECT_EQ(piece.rows.size(), piece.values.size());
    EXPECT_EQ(piece.columns.size(), piece.values.size());
    rows.insert(rows.end(), piece.rows.begin(), piece.rows.end());
    columns.insert(columns.end(), piece.columns.begin(), piece.columns.end());
    values.insert(values.end(), piece.values.begin(), piece.values.end());
    header = piece.header;
    stored += piece.stored_entries;
  }
  require_all_entries(path, header, stored);
  return Coo<V, I>(static_cast<I>(header.rows), static_cast<I>(header.cols), std::move(rows),
                   std::move(columns), std::move(values))
      .to_csr();
}

// Bit by bit: −0 is not 0, and NaN is NaN.
template <Value V, Index I>
void expect_same(const Csr<V, I>& parts, const Csr<V, I>& whole) {
  EXPECT_EQ(parts.rows(), whole.rows());
  EXPECT_EQ(parts.cols(), whole.cols());
  EXPECT_TRUE(std::ranges::equal(parts.row_offsets(), whole.row_offsets()));
  EXPECT_TRUE(std::ranges::equal(parts.columns(), whole.columns()));
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(parts.values()), std::as_bytes(whole.values())));
}

template <Value V = Complex, Index I = std::int32_t>
void expect_parts_are_the_file(const fs::path& path, std::size_t block_bytes) {
  const Csr<V, I> whole = read_matrix_market<V, I>(path);
  for (const int parts : {1, 2, 3, 7, 64}) {
    SCOPED_TRACE(path.string() + " in " + std::to_string(parts));
    expect_same(put_together<V, I>(path, parts, block_bytes), whole);
  }
}

std::string error_of_parts(const fs::path& path, int parts) {
  try {
    put_together<double, std::int32_t>(path, parts, detail::kBlockBytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The seeds of the fuzzer: every layout, field and symmetry, and files that are wrong.
TEST(Part, OfEveryKindOfFileMakeItsMatrix) {
  int read = 0;
  int refused = 0;
  for (const auto& entry : fs::directory_iterator(STRATA_CORPUS)) {
    if (entry.path().string().find(".mtx") == std::string::npos) continue;
    try {
      read_matrix_market<Complex, std::int64_t>(entry.path());
    } catch (const Error&) {
      ++refused;
      EXPECT_THROW((put_together<Complex, std::int64_t>(entry.path(), 3, 64)), Error)
          << entry.path();
      continue;
    }
    ++read;
    for (const std::size_t block_bytes : {std::size_t{5}, detail::kBlockBytes}) {
      expect_parts_are_the_file<Complex, std::int64_t>(entry.path(), block_bytes);
    }
  }
  EXPECT_GT(read, 15);
  EXPECT_GT(refused, 5);
}

TEST(Part, OfRealMatricesMakeThem) {
  const fs::path folder = test::matrix_folder();
  if (!fs::exists(folder / "MANIFEST.md")) GTEST_SKIP() << "there are no matrices in " << folder;
  const test::TemporaryFolder temporary;
  for (const std::string name : {"steam2", "bcsstk16", "fs_760_1", "mhd1280b", "plsk1919",
                                 "bcspwr10", "well1850", "G9", "Goodwin_013"}) {
    const fs::path compressed = folder / (name + ".mtx.gz");
    expect_parts_are_the_file<>(compressed, 4096);
    // The same text as it is.
    const auto bytes = detail::decompressed(detail::open_file(compressed), name);
    std::string text;
    std::string buffer(1 << 16, '\0');
    while (const std::size_t count = bytes->read(buffer)) text.append(buffer, 0, count);
    expect_parts_are_the_file<>(temporary.write(name + ".mtx", text), detail::kBlockBytes);
  }
  for (const auto& entry : fs::directory_iterator(folder / "edge")) {
    if (entry.path().string().find(".mtx") == std::string::npos) continue;
    try {
      read_matrix_market<Complex, std::int32_t>(entry.path());
    } catch (const Error&) {
      continue;
    }
    expect_parts_are_the_file<>(entry.path(), 16);
  }
}

// Every cut of a text with all that may stand between entries.
TEST(Part, MayBeCutAnywhere) {
  const std::string text = std::string(kBanner) +
                           "% before\n\n4 5 7\n1 1 1.5\r\n\n% in the middle\n2 3 -2\r\n   \n"
                           "4 5 1e3\n%\n% longer than the others: 1 1 1\n1 1 0.25\n1 1 1e-17\n"
                           "3 2 7\n4 4 -0\n\n";
  const test::TemporaryFolder folder;
  const test::ThreadCount one(1);
  for (const bool newline_at_the_end : {true, false}) {
    std::string bytes = text;
    if (!newline_at_the_end) bytes.resize(text.size() - 2);
    const fs::path path = folder.write("cut.mtx", bytes);
    const Csr<double, std::int32_t> whole = read_matrix_market<double, std::int32_t>(path);
    ASSERT_EQ(whole.nnz(), 5);
    for (int parts = 1; parts <= static_cast<int>(bytes.size()) + 2; ++parts) {
      SCOPED_TRACE(parts);
      expect_same(put_together<double, std::int32_t>(path, parts, 16), whole);
    }
    const fs::path zipped = folder.write("cut.mtx.gz", test::gzipped(bytes));
    for (int parts = 1; parts < 20; ++parts) {
      expect_same(put_together<double, std::int32_t>(zipped, parts, 16), whole);
    }
  }
}

template <class T>
class PartTyped : public testing::Test {};
TYPED_TEST_SUITE(PartTyped, test::AllTypes);

TYPED_TEST(PartTyped, AreTheFile) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const test::TemporaryFolder folder;
  const auto expect_parts = [&](const std::string& text) {
    expect_parts_are_the_file<V, I>(folder.write("a.mtx", "%%MatrixMarket matrix " + text), 8);
  };
  expect_parts("coordinate real symmetric\n3 3 4\n1 1 0.1\n2 1 -2\n3 2 1e-3\n3 3 4\n");
  expect_parts("coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n");
  expect_parts("coordinate integer skew-symmetric\n3 3 2\n2 1 -2\n3 2 5\n");
  expect_parts("array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  expect_parts("array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  expect_parts("array real skew-symmetric\n3 3\n1\n2\n3\n");
  expect_parts("array real skew-symmetric\n1 1\n");
  expect_parts("array real general\n0 3\n");
  expect_parts("coordinate real general\n0 0 0\n");
  expect_parts("coordinate real general\n5 5 0\n");
  if constexpr (is_complex<V>) {
    expect_parts("coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 1 -3\n");
    expect_parts("array complex hermitian\n2 2\n1 0\n2 3\n4 0\n");
  }
}

TEST(Part, ReadsItsOwnBytesAlone) {
  // What is wrong elsewhere is not seen by the parts that do not have it.
  std::string text = std::string(kBanner) + "1000 1000 1000\n";
  for (int row = 1; row <= 1000; ++row) {
    text += std::to_string(row) + (row == 900 ? " x 1\n" : " 1 1\n");
  }
  const test::TemporaryFolder folder;
  const fs::path path = folder.write("wrong.mtx", text);
  Offset entries = 0;
  for (int part = 0; part < 3; ++part) {
    entries += read_matrix_market_part<double, std::int32_t>(path, part, 4).stored_entries;
  }
  EXPECT_GT(entries, 700);
  EXPECT_LT(entries, 800);
  EXPECT_THROW((read_matrix_market_part<double, std::int32_t>(path, 3, 4)), InvalidMatrix);
}

TEST(Part, ErrorsNameTheByteOrTheLine) {
  const test::TemporaryFolder folder;
  const std::string text = std::string(kBanner) + "4 4 4\n1 1 1\n2 2 2\n3 x 3\n4 4 4\n";
  const fs::path path = folder.write("wrong.mtx", text);
  std::string serial;
  try {
    read_matrix_market<double, std::int32_t>(path);
  } catch (const ParseError& error) {
    serial = error.what();
    EXPECT_EQ(error.line(), 5);
  }
  EXPECT_EQ(error_of_parts(path, 1), serial);
  const std::string why = serial.substr(serial.find(":5: ") + 4);
  const std::size_t byte = text.find("3 x");
  EXPECT_EQ(error_of_parts(path, 2),
            path.string() + ": at byte " + std::to_string(byte) + ": " + why);
  EXPECT_EQ(error_of_parts(path, 64),
            path.string() + ": at byte " + std::to_string(byte) + ": " + why);
  // Lines of compressed files are counted.
  const fs::path zipped = folder.write("wrong.mtx.gz", test::gzipped(text));
  EXPECT_EQ(error_of_parts(zipped, 3), zipped.string() + ":5: " + why);
}

// Parts whose text breaks off before any of it is theirs, too.
TEST(Part, DamagedCompressedFilesAreRefused) {
  const test::TemporaryFolder folder;
  std::string bytes = test::gzipped(std::string(kBanner) + "4 4 4\n1 1 1\n2 2 2\n3 3 3\n4 4 4\n");
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // its check sum
  const fs::path path = folder.write("damaged.mtx.gz", bytes);
  std::string serial;
  try {
    read_matrix_market<double, std::int32_t>(path);
  } catch (const Error& error) {
    serial = error.what();
  }
  ASSERT_NE(serial, "");
  for (const int parts : {1, 2, 3, 7}) {
    for (int part = 0; part < parts; ++part) {
      try {
        read_matrix_market_part<double, std::int32_t>(path, part, parts);
        ADD_FAILURE() << "part " << part << " of " << parts;
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), serial);
      }
    }
  }
}

TEST(Part, TooFewAndTooManyEntriesAreFoundTogether) {
  const test::TemporaryFolder folder;
  const std::string entries = "1 1 1\n2 2 2\n3 3 3\n4 4 4\n";
  const fs::path few = folder.write("few.mtx", std::string(kBanner) + "4 4 5\n" + entries);
  const fs::path many = folder.write("many.mtx", std::string(kBanner) + "4 4 3\n" + entries);
  for (const int parts : {1, 2, 7}) {
    EXPECT_EQ(error_of_parts(few, parts),
              few.string() + ": there are 4 of the 5 entries that its header promises");
    EXPECT_EQ(error_of_parts(many, parts),
              many.string() + ": there are more than the 3 entries that its header promises");
  }
}

TEST(Part, RefusesWhatHasNoParts) {
  const test::TemporaryFolder folder;
  const fs::path path =
      folder.write("a.mtx", std::string(kBanner) + "70000 70000 1\n70000 70000 1\n");
  const auto read = [&](int part, int parts) {
    return read_matrix_market_part<double, std::int32_t>(path, part, parts);
  };
  EXPECT_EQ(read(0, 1).rows[0], 69999);
  for (const auto& [part, parts] : {std::pair{0, 0}, {1, 1}, {-1, 2}, {3, 2}, {0, -1}}) {
    EXPECT_THROW(read(part, parts), InvalidArgument) << part << " of " << parts;
  }
  EXPECT_THROW((read_matrix_market_part<double, std::int32_t>(folder.file("none.mtx"), 0, 1)),
               FileError);
  EXPECT_THROW((read_matrix_market_part<double, std::int32_t>(folder.path(), 0, 1)), FileError);
  const fs::path pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW((read_matrix_market_part<double, std::int32_t>(pipe, 0, 1)), FileError);
  const fs::path complex =
      folder.write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
  EXPECT_THROW((read_matrix_market_part<double, std::int32_t>(complex, 0, 2)), InvalidMatrix);
  const fs::path large =
      folder.write("l.mtx", std::string(kBanner) + "1 3000000000 1\n1 3000000000 1\n");
  EXPECT_THROW((read_matrix_market_part<double, std::int32_t>(large, 0, 2)), OverflowError);
  EXPECT_EQ((read_matrix_market_part<double, std::int64_t>(large, 0, 1)).columns[0], 2999999999);
}

TEST(Part, SayHowFarTheyAre) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.write("a.mtx", std::string(kBanner) + "1 1 1\n1 1 1\n");
  std::vector<double> fractions;
  read_matrix_market_part<double, std::int32_t>(
      path, 0, 2, {.progress = [&](double fraction) { fractions.push_back(fraction); }});
  ASSERT_FALSE(fractions.empty());
  EXPECT_EQ(fractions.back(), 1);
}

// The same on any number of threads, with more than one block.
TEST(Part, AreTheSameOnAnyNumberOfThreads) {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n50000 50000 99999\n";
  for (int row = 1; row <= 50000; ++row) {
    text += std::to_string(row) + " " + std::to_string(row) + " 4.5\n";
    if (row > 1) text += std::to_string(row) + " " + std::to_string(row - 1) + " -1.25\n";
  }
  const test::TemporaryFolder folder;
  const fs::path path = folder.write("a.mtx", text);
  for (const int threads : {1, 2, 5}) {
    const test::ThreadCount scope(threads);
    const auto whole = read_matrix_market<float, std::int32_t>(path);
    expect_same(put_together<float, std::int32_t>(path, 3, detail::kBlockBytes), whole);
    expect_same(put_together<float, std::int32_t>(path, 2, 1000), whole);
  }
}

}  // namespace
}  // namespace strata
