// Rows of a matrix are the same whoever makes them.
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/gen/coefficients.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/petsc_binary.hpp"
#include "tests/gen/gen_check.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::expect_error;
using test::make;
using test::Matrix;

// Matrix files for `extrude` and `blocks`, gone with the object.
class Files {
 public:
  Files() {
    add("symmetric", "pattern symmetric\n5 5 6\n1 1\n2 1\n3 2\n4 3\n5 4\n5 1\n");
    add("positive", "real symmetric\n4 4 6\n1 1 2\n2 1 -1.5\n2 2 3\n3 3 1\n4 4 1\n4 1 .25\n");
    add("skew", "real skew-symmetric\n4 4 2\n2 1 -1.5\n4 1 .25\n");
    add("general", "real general\n4 4 4\n1 1 2\n2 1 -1.5\n3 4 3\n3 3 1\n");
    add("rectangular", "real general\n3 4 4\n1 1 2\n2 1 -1.5\n3 4 3\n3 3 1\n");
    add("hermitian", "complex hermitian\n4 4 4\n1 1 2 0\n2 1 -1.5 1\n3 2 0 3\n4 4 1 0\n");
    add("imaginary", "complex hermitian\n4 4 3\n2 1 0 1\n3 2 0 3\n4 1 0 -2\n");
  }

  std::string path(const std::string& name) const { return folder_.file(name + ".mtx").string(); }

 private:
  void add(const std::string& name, const std::string& text) const {
    folder_.write(name + ".mtx", "%%MatrixMarket matrix coordinate " + text);
  }

  test::TemporaryFolder folder_;
};

const std::vector<std::string> kSpecs{
    "stencil5:9x7",
    "stencil5:5x4,dof=3",
    "stencil7:5x4x3",
    "stencil9:8x9",
    "stencil27:4x5x6",
    "stencil27:3x3x3,dof=2",
    "band:90,width=7",
    "hpcg:4x4x5",
    "fem:9x8,degree=1",
    "fem:4x5,degree=3",
    "graphene:9x11",
    "topi:3x2x4",
    "anderson:5x4x3",
    "random:90,nnzr=6",
    "random:30,nnzr=25",
    "rmat:7,edges=5",
    "arrow:80",
    "mesh:200,dim=2,nnzr=7",
    "mesh:200,dim=3,nnzr=15",
    "mesh:90,dim=3,nnzr=20,dof=2,aspect=1x1x8",
    "mesh:1,dim=2,nnzr=1",
};

TEST(GeneratedRows, AreTestedOfEveryGenerator) {
  std::set<std::string> sampled{"extrude", "blocks"};
  for (const std::string& spec : kSpecs) sampled.insert(spec.substr(0, spec.find(':')));
  std::set<std::string> known;
  for (const GeneratorHelp& help : generator_help()) known.insert(help.name);
  EXPECT_EQ(sampled, known);
}

// Pieces under one another, as what they are pieces of.
template <Value V, Index I>
Csr<V, I> stacked(const std::vector<Csr<V, I>>& pieces, I cols) {
  Array<Offset> offsets(1, 0);
  Array<I> columns;
  Array<V> values;
  for (const Csr<V, I>& piece : pieces) {
    EXPECT_EQ(piece.cols(), cols);
    for (I row = 0; row < piece.rows(); ++row) {
      offsets.push_back(offsets.back() + piece.pattern().row_length(row));
    }
    columns.insert(columns.end(), piece.columns().begin(), piece.columns().end());
    values.insert(values.end(), piece.values().begin(), piece.values().end());
  }
  const auto rows = static_cast<I>(offsets.size() - 1);
  return Csr<V, I>(rows, cols, std::move(offsets), std::move(columns), std::move(values));
}

template <Value V, Index I>
void expect_pieces_make_the_matrix(const std::string& spec) {
  SCOPED_TRACE(spec);
  const Csr<V, I> whole = generate<V, I>(spec);
  EXPECT_EQ(generated_shape(spec), (MatrixShape{whole.rows(), whole.cols()}));
  for (const int parts : {1, 2, 3, 7}) {
    // One generator for all pieces, and one for each of them, as in processes of their own.
    const RowGenerator<V, I> shared(spec);
    ASSERT_EQ(shared.shape(), (MatrixShape{whole.rows(), whole.cols()}));
    std::vector<Csr<V, I>> together;
    std::vector<Csr<V, I>> alone;
    for (int part = parts - 1; part >= 0; --part) {
      const Chunk rows = chunk_of(whole.rows(), part, parts);
      together.insert(together.begin(), shared.make_rows(rows.begin, rows.end));
      alone.insert(alone.begin(), RowGenerator<V, I>(spec).make_rows(rows.begin, rows.end));
    }
    EXPECT_EQ(stacked(together, whole.cols()), whole) << parts << " parts";
    EXPECT_EQ(stacked(alone, whole.cols()), whole) << parts << " parts alone";
  }
  // Uneven pieces: none, one row, the rest but one, none.
  const RowGenerator<V, I> generator(spec);
  const Offset rows = whole.rows();
  std::vector<Csr<V, I>> pieces{generator.make_rows(0, 0)};
  for (const Offset end : {Offset{1}, rows - 1, rows}) {
    Offset begin = 0;
    for (const auto& piece : pieces) begin += piece.rows();
    if (end > begin) pieces.push_back(generator.make_rows(begin, end));
  }
  pieces.push_back(generator.make_rows(rows, rows));
  EXPECT_EQ(stacked(pieces, whole.cols()), whole) << "uneven";
}

template <Value V, Index I>
void expect_pieces_make_the_matrices(const std::string& spec) {
  for (const char* keys : {"", ",shuffle=1", ",coefficients=random", ",coefficients=7",
                           ",coefficients=random,shuffle=1", ",coefficients=7,shuffle=1"}) {
    expect_pieces_make_the_matrix<V, I>(spec + keys);
  }
}

TEST(GeneratedRows, OfEveryGeneratorMakeItsMatrix) {
  for (const std::string& spec : kSpecs)
    expect_pieces_make_the_matrices<double, std::int32_t>(spec);
}

TEST(GeneratedRows, OfFilesMakeTheirMatrices) {
  const Files files;
  for (const char* name : {"symmetric", "positive", "skew", "general"}) {
    const std::string path = files.path(name);
    for (const char* layers : {"1", "4"}) {
      expect_pieces_make_the_matrices<double, std::int32_t>("extrude:" + path +
                                                            ",layers=" + layers);
      expect_pieces_make_the_matrices<double, std::int32_t>("blocks:" + path + ",dof=" + layers);
    }
  }
  for (const char* keys : {"", ",coefficients=random", ",coefficients=7"}) {
    const std::string path = files.path("rectangular");
    expect_pieces_make_the_matrix<double, std::int32_t>("blocks:" + path + ",dof=3" + keys);
  }
  expect_error<InvalidArgument>(
      [&] {
        (RowGenerator<double, std::int32_t>("extrude:" + files.path("rectangular") + ",layers=2"));
      },
      "extrude:" + files.path("rectangular") + ",layers=2: a 3 x 4 matrix cannot be extruded");
  expect_error<InvalidArgument>(
      [&] { generated_shape("extrude:" + files.path("rectangular") + ",layers=2"); },
      "extrude:" + files.path("rectangular") + ",layers=2: a 3 x 4 matrix cannot be extruded");
}

TEST(GeneratedRows, OfMatricesOfPetscAreThoseOfOtherFiles) {
  const Files files;
  const auto base = read_matrix_market<double, std::int32_t>(files.path("positive"));
  const std::string path = files.path("petsc");
  write_petsc_binary(path, base);
  for (const std::string keys : {",layers=3", ",layers=3,coefficients=7,shuffle=1"}) {
    expect_pieces_make_the_matrix<double, std::int32_t>("extrude:" + path + keys);
    EXPECT_EQ(make("extrude:" + path + keys), make("extrude:" + files.path("positive") + keys));
  }
}

template <class T>
class GeneratedRowsTyped : public testing::Test {};
TYPED_TEST_SUITE(GeneratedRowsTyped, test::AllTypes);

TYPED_TEST(GeneratedRowsTyped, MakeTheMatrix) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const char* spec : {"stencil7:5x4x3", "graphene:7x8", "random:60,nnzr=6", "rmat:6,edges=4",
                           "mesh:90,dim=3,nnzr=12,dof=2"}) {
    expect_pieces_make_the_matrices<V, I>(spec);
  }
  const Files files;
  for (const char* name : {"hermitian", "imaginary"}) {
    if constexpr (is_complex<V>) {
      expect_pieces_make_the_matrices<V, I>("extrude:" + files.path(name) + ",layers=3");
      expect_pieces_make_the_matrices<V, I>("blocks:" + files.path(name) + ",dof=2");
    }
  }
}

// Larger than a piece of the passes for few values, and than what stays on one thread.
TEST(GeneratedRows, OfLargeMatricesMakeThemOnAnyNumberOfThreads) {
  for (const std::string spec :
       {"stencil27:30x30x30,coefficients=200,shuffle=1", "mesh:20000,dim=3,nnzr=15,coefficients=30",
        "rmat:13,edges=8", "rmat:13,edges=8,shuffle=1"}) {
    const Matrix whole = make(spec);
    for (const int threads : {1, 3}) {
      const ThreadCountScope scope(threads);
      std::vector<Matrix> pieces;
      for (int part = 0; part < 3; ++part) {
        const Chunk rows = chunk_of(whole.rows(), part, 3);
        pieces.push_back(RowGenerator<double, std::int32_t>(spec).make_rows(rows.begin, rows.end));
      }
      EXPECT_EQ(stacked(pieces, whole.cols()), whole) << spec << " on " << threads << " threads";
    }
  }
}

// The facts that generators declare are those that their matrices have.
TEST(GeneratedRows, AreOfTheDeclaredCharacter) {
  const auto expect_character = [](const std::string& spec, const auto& type) {
    using V = std::remove_cvref_t<decltype(type)>;
    const RowSource<V, std::int32_t> source = prepare<V, std::int32_t>(spec).open();
    EXPECT_EQ(source.character(), character_of(source.make({0, source.shape.rows}))) << spec;
  };
  for (const std::string& spec : kSpecs) {
    expect_character(spec, double{});
    expect_character(spec, float{});
    expect_character(spec, std::complex<double>{});
  }
  const Files files;
  for (const char* name : {"symmetric", "positive", "skew", "general", "hermitian", "imaginary"}) {
    for (const char* layers : {"1", "3"}) {
      expect_character("extrude:" + files.path(name) + ",layers=" + layers, std::complex<double>{});
      expect_character("blocks:" + files.path(name) + ",dof=" + layers, std::complex<double>{});
    }
  }
}

// The whole matrix has 2·10¹¹ entries: what took its time or memory would not end.
TEST(GeneratedRows, OfAHugeMatrixTakeTheirOwnTimeAndMemory) {
  using I = std::int64_t;
  const auto last_rows = [](const char* spec, Offset count) {
    const RowGenerator<float, I> generator(spec);
    return generator.make_rows(generator.rows() - count, generator.rows());
  };
  constexpr Offset kOrder = Offset{2000} * 2000 * 2000;
  const Csr<float, I> box = last_rows("stencil27:2000x2000x2000", 8000);
  EXPECT_EQ(box.rows(), 8000);
  EXPECT_EQ(box.cols(), kOrder);
  EXPECT_EQ(box.nnz(), 4 * (2000 * 18 - 12) - (2000 * 18 - 12) + (2000 * 12 - 8));
  EXPECT_EQ(box.columns().back(), kOrder - 1);
  EXPECT_EQ(box.values().back(), 26);
  EXPECT_EQ(last_rows("stencil27:2000x2000x2000,coefficients=random", 10).rows(), 10);
  const Csr<float, I> mesh = last_rows("mesh:8000000000,dim=3,nnzr=27,dof=2", 1000);
  EXPECT_EQ(mesh.columns().back(), 2 * kOrder - 1);
  EXPECT_EQ(last_rows("anderson:2000x2000x2000", 1000).cols(), kOrder);
  EXPECT_EQ(last_rows("band:8000000000,width=25", 1000).cols(), kOrder);
  EXPECT_EQ(last_rows("fem:90000x90000,degree=1", 1000).cols(), Offset{89999} * 89999);
  EXPECT_EQ(last_rows("graphene:90000x90000", 1000).nnz() > 8000, true);
  EXPECT_EQ(last_rows("topi:2000x2000x500", 1000).cols(), kOrder);
  EXPECT_EQ(last_rows("arrow:8000000000", 1000).nnz(), 2000);
  EXPECT_EQ(last_rows("random:8000000000,nnzr=9", 1000).nnz(), 9000);
}

TEST(GeneratedRows, OutsideTheMatrixAreErrors) {
  const RowGenerator<double, std::int32_t> generator("stencil5:4x4");
  expect_error<InvalidArgument>([&] { generator.make_rows(0, 17); },
                                "stencil5:4x4: there are no rows [0, 17) of 16");
  expect_error<InvalidArgument>([&] { generator.make_rows(-1, 3); },
                                "stencil5:4x4: there are no rows [-1, 3) of 16");
  expect_error<InvalidArgument>([&] { generator.make_rows(5, 4); },
                                "stencil5:4x4: there are no rows [5, 4) of 16");
  EXPECT_THROW(generator.make_rows(17, 17), InvalidArgument);
  EXPECT_THROW(
      generator.make_rows(std::numeric_limits<Offset>::min(), std::numeric_limits<Offset>::max()),
      InvalidArgument);
}

TEST(GeneratedRows, NeedIndicesThatHoldTheColumns) {
  expect_error<OverflowError>([] { (RowGenerator<double, std::int32_t>("stencil5:90000x90000")); },
                              "stencil5:90000x90000: the number of rows is 8100000000, which does "
                              "not fit in a 32-bit integer");
  EXPECT_EQ(generated_shape("stencil5:90000x90000"),
            (MatrixShape{Offset{90000} * 90000, Offset{90000} * 90000}));
  EXPECT_THROW((RowGenerator<double, std::int32_t>("extrude:no/such/file.mtx,layers=2")),
               FileError);
  EXPECT_THROW(generated_shape("extrude:no/such/file.mtx,layers=2"), FileError);
  EXPECT_THROW(generated_shape("stencil6:3x3"), InvalidArgument);
  EXPECT_THROW(generated_shape("stencil5:3x3,colour=2"), InvalidArgument);
}

// A matrix with more rows than 32 bits count, but fewer columns.
TEST(GeneratedRows, MayBeMoreThanTheIndicesHold) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.write(
      "tall.mtx", "%%MatrixMarket matrix coordinate real general\n1000 1 2\n1 1 1\n1000 1 2\n");
  const std::string spec = "blocks:" + path.string() + ",dof=4000000";
  const RowGenerator<double, std::int32_t> generator(spec);
  EXPECT_EQ(generator.rows(), Offset{4000000000});
  EXPECT_EQ(generator.cols(), 4000000);
  EXPECT_EQ(generator.make_rows(generator.rows() - 1, generator.rows()).nnz(), 4000000);
  EXPECT_THROW((generate<double, std::int32_t>(spec)), OverflowError);
}

}  // namespace
}  // namespace strata
