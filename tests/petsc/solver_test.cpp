// The solvers of the plug-in, as the options of a tutorial of PETSc choose them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/petsc/launch.hpp"
#include "tests/petsc/tutorial.hpp"

namespace strata::test {
namespace {

class PetscSolvers : public FolderTest {
 protected:
  Launched solve(const std::string& options, int ranks = 1) {
    return launch_on(ranks, program_ + " -m 60 -n 50 -ksp_converged_reason " + options);
  }

  void SetUp() override {
    if (const std::string missing = why_no_tutorials(); !missing.empty()) GTEST_SKIP() << missing;
    program_ = compile_tutorial("ksp/ksp/tutorials/ex2.c", folder());
  }

 private:
  std::string program_;
};

// The number behind the last `words` of a text.
double last_number(const std::string& text, const std::string& words) {
  const std::size_t at = text.rfind(words);
  return at == std::string::npos ? -1 : std::atof(text.c_str() + at + words.size());
}

TEST_F(PetscSolvers, CaCgConvergesAsCg) {
  const Launched cg = solve("-ksp_type cg -pc_type none -ksp_norm_type unpreconditioned");
  for (const int ranks : {1, 3}) {
    if (!can_launch_on(ranks)) GTEST_SKIP() << "there is no mpirun";
    SCOPED_TRACE(fmt::format("{} ranks", ranks));
    const Launched ca_cg =
        solve("-ksp_type strata-cacg -pc_type none -mat_type strata" + loading_plug_in(), ranks);
    ASSERT_EQ(ca_cg.status, 0) << ca_cg.out;
    EXPECT_NE(ca_cg.out.find("converged due to CONVERGED_RTOL"), std::string::npos) << ca_cg.out;
    const double iterations = last_number(cg.out, "iterations ");
    EXPECT_GE(last_number(ca_cg.out, "iterations "), iterations);
    EXPECT_LE(last_number(ca_cg.out, "iterations "), 1.15 * iterations + 8) << cg.out << ca_cg.out;
    EXPECT_LE(last_number(ca_cg.out, "Norm of error "), 1e-3);
  }
}

TEST_F(PetscSolvers, CaGmresHasTheResidualsOfGmres) {
  const std::string common = " -pc_type none -ksp_monitor ";
  const Launched gmres = solve("-ksp_type gmres" + common);
  const Launched ca_gmres =
      solve("-ksp_type strata-cagmres -ksp_strata_powers 5" + common + loading_plug_in());
  ASSERT_EQ(ca_gmres.status, 0) << ca_gmres.out;
  for (const int iteration : {1, 10, 30, 31, 90, 200}) {
    const std::string words = fmt::format("\n{:3} KSP Residual norm ", iteration);
    const double wanted = last_number(gmres.out, words);
    ASSERT_GT(wanted, 0) << words << gmres.out;
    EXPECT_NEAR(last_number(ca_gmres.out, words), wanted, 1e-6 * wanted) << iteration;
  }
}

TEST_F(PetscSolvers, SayWhatTheyNeed) {
  const Launched with_ilu = solve("-ksp_type strata-cacg" + loading_plug_in());
  EXPECT_NE(with_ilu.status, 0);
  EXPECT_NE(with_ilu.out.find("strata-cacg has no preconditioner: -pc_type none is needed"),
            std::string::npos)
      << with_ilu.out;
  const Launched in_sell =
      solve("-ksp_type strata-cacg -pc_type none -mat_type sell" + loading_plug_in());
  EXPECT_NE(in_sell.status, 0);
  EXPECT_NE(in_sell.out.find("needs a matrix of type strata or aij, not seqsell"),
            std::string::npos)
      << in_sell.out;
}

}  // namespace
}  // namespace strata::test
