// Tests that run on several ranks: every rank runs all of them, rank 0 reports, and a test fails if
// it fails on any rank. The other ranks print their failures alone.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>

namespace {

// After every test all ranks hear whether one of them failed.
class Agreement : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    int failed = test.result()->Failed() ? 1 : 0;
    int anywhere = 0;
    MPI_Allreduce(&failed, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (anywhere != 0 && failed == 0) {
      ADD_FAILURE() << test.test_suite_name() << "." << test.name() << " failed on another rank";
    }
  }
};

// Failures of ranks that do not report.
class Failures : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_,
                 part.file_name() == nullptr ? "" : part.file_name(), part.line_number(),
                 part.message());
  }
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(rank));
  }
  listeners.Append(new Agreement);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
