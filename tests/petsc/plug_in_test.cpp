// The matrix type strata beside PETSc's own, in processes that load the plug-in.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/petsc/launch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::test {
namespace {

std::string check_program() {
  return fmt::format("'{}' ", STRATA_PETSC_CHECK);
}

using Petsc = FolderTest;

class PetscRanks : public FolderTest, public testing::WithParamInterface<int> {};

TEST_P(PetscRanks, ProductsAndPowersAreThoseOfAijAfterEveryChange) {
  if (!can_launch_on(GetParam())) GTEST_SKIP() << "there is no mpirun";
  const Launched check =
      launch_on(GetParam(), check_program() + loading_plug_in() + "-folder " + folder().string());
  EXPECT_EQ(check.status, 0) << check.out;
  EXPECT_NE(check.out.find("0 differences"), std::string::npos) << check.out;
}

TEST_F(Petsc, BlocksOfAijMatricesMayBeOfTheType) {
  if (!can_launch_on(3)) GTEST_SKIP() << "there is no mpirun";
  const Launched check =
      launch_on(3, check_program() + loading_plug_in() + "-blocks -mat_seqaij_type seqaijstrata");
  EXPECT_EQ(check.status, 0) << check.out;
  EXPECT_NE(check.out.find("0 differences"), std::string::npos) << check.out;
}

INSTANTIATE_TEST_SUITE_P(Ranks, PetscRanks, testing::Values(1, 2, 3, 4, 7),
                         testing::PrintToStringParamName());

TEST_F(Petsc, ALinkedProgramRegistersTheTypeItself) {
  const Launched check = launch(check_program() + "-register -folder " + folder().string());
  EXPECT_EQ(check.status, 0) << check.out;
}

TEST_F(Petsc, WithoutThePlugInTheTypeIsUnknown) {
  const Launched check = launch(check_program() + "-show");
  EXPECT_NE(check.status, 0);
  EXPECT_NE(check.out.find("Unknown Mat type given: strata"), std::string::npos) << check.out;
}

TEST_F(Petsc, ProductsCanBeLeftToPetscUntilValuesStay) {
  const Launched check = launch(check_program() + loading_plug_in() +
                                "-mat_strata_delay 2 -folder " + folder().string());
  EXPECT_EQ(check.status, 0) << check.out;
}

TEST_F(Petsc, ProductsInFormatsThatAreAskedForAreThoseOfAij) {
  for (const char* format : {"csr", "sell:slice_height=4", "jds"}) {
    const Launched check = launch(check_program() + loading_plug_in() + "-folder " +
                                  folder().string() + " -mat_strata_format " + format);
    EXPECT_EQ(check.status, 0) << format << '\n' << check.out;
  }
}

TEST_F(Petsc, AViewExplainsThePlan) {
  const Launched shown = launch(check_program() + loading_plug_in() + "-show");
  EXPECT_EQ(shown.status, 0) << shown.out;
  EXPECT_NE(shown.out.find("type: seqaijstrata"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("The product of a matrix with 143 rows and 667 entries"),
            std::string::npos)
      << shown.out;
  const Launched in_csr = launch(check_program() + loading_plug_in() +
                                 "-show -case 1 -mat_strata_format csr -mat_strata_threads 2");
  EXPECT_NE(in_csr.out.find("Chosen: plain products in csr"), std::string::npos) << in_csr.out;
  EXPECT_NE(in_csr.out.find("2 threads"), std::string::npos) << in_csr.out;
}

TEST_F(Petsc, AViewInDetailExplainsThePlansOfAllRanks) {
  if (!can_launch_on(2)) GTEST_SKIP() << "there is no mpirun";
  const Launched shown = launch_on(2, check_program() + loading_plug_in() + "-show");
  EXPECT_EQ(shown.status, 0) << shown.out;
  EXPECT_NE(shown.out.find("type: mpiaijstrata"), std::string::npos) << shown.out;
  for (const char* text : {"Rank 0\n", "Columns of its own, 72 x 72, 322 nonzeros",
                           "Columns of other ranks, 72 x 13, 14 nonzeros", "Rank 1\n",
                           "Columns of its own, 71 x 71, 317 nonzeros"}) {
    EXPECT_NE(shown.out.find(text), std::string::npos) << text << '\n' << shown.out;
  }
}

TEST_F(Petsc, WhatStrataThrowsIsAnErrorOfPetscWithTheMessage) {
  const struct {
    const char* options;
    const char* message;
  } wrong[] = {{"-mat_strata_format nonsense", "there is no format 'nonsense'"},
               {"-mat_strata_values many", "not 'many'"},
               {"-mat_strata_threads 5000", "-mat_strata_threads is 0 to 1024, not 5000"},
               {"-mat_strata_format symmetric-csr", "symmetric"}};
  for (const auto& [options, message] : wrong) {
    const Launched shown = launch(check_program() + loading_plug_in() + "-show " + options);
    EXPECT_NE(shown.status, 0) << options;
    EXPECT_NE(shown.out.find("Strata: "), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find(message), std::string::npos) << shown.out;
  }
}

}  // namespace
}  // namespace strata::test
