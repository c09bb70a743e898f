// PETSc's own tutorials, compiled as they are, with matrices of type aij and of type strata: the
// same iterations, and the same norms up to rounding.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/petsc/launch.hpp"
#include "tests/petsc/tutorial.hpp"

namespace strata::test {
namespace {

// How far norms may differ: by this much of themselves, and by so much of the first one, which is
// where Newton's method ends.
constexpr double kRelative = 1e-9;
constexpr double kOfFirst = 1e-13;

struct Tutorial {
  const char* name;
  const char* source;
  const char* type_option;
  const char* options;

  // For names of tests.
  friend std::ostream& operator<<(std::ostream& out, const Tutorial& tutorial) {
    return out << tutorial.name;
  }
};

constexpr Tutorial kTutorials[] = {
    {"KspEx2", "ksp/ksp/tutorials/ex2.c", "-mat_type", "-m 60 -n 50 -ksp_monitor"},
    {"KspEx2WithGamg", "ksp/ksp/tutorials/ex2.c", "-mat_type",
     "-m 60 -n 50 -ksp_monitor -ksp_type cg -pc_type gamg"},
    {"KspEx45", "ksp/ksp/tutorials/ex45.c", "-dm_mat_type", "-da_refine 2 -ksp_monitor"},
    {"KspEx45WithMultigrid", "ksp/ksp/tutorials/ex45.c", "-dm_mat_type",
     "-da_refine 2 -ksp_monitor -pc_type mg"},
    {"SnesEx5", "snes/tutorials/ex5.c", "-dm_mat_type", "-da_refine 2 -snes_monitor -ksp_monitor"}};

// What follows "norm" or "iterations" in a line; the words before are kept with it.
struct Line {
  std::string words;
  double number = 0;
};

std::vector<Line> numbers_in(const std::string& out) {
  std::vector<Line> lines;
  std::size_t begin = 0;
  while (begin < out.size()) {
    const std::size_t end = std::min(out.find('\n', begin), out.size());
    const std::string line = out.substr(begin, end - begin);
    for (const std::string word : {"norm ", "iterations "}) {
      const std::size_t at = line.rfind(word);
      if (at == std::string::npos) continue;
      const std::size_t number = at + word.size();
      lines.push_back({line.substr(0, number), std::atof(line.c_str() + number)});
    }
    begin = end + 1;
  }
  return lines;
}

class PetscTutorials : public FolderTest, public testing::WithParamInterface<Tutorial> {
 protected:
  // With both types on so many ranks.
  void compare(const std::string& program, int ranks) {
    const Tutorial& tutorial = GetParam();
    const std::string command =
        fmt::format("{} {} {} ", program, tutorial.options, tutorial.type_option);
    const std::filesystem::path log = folder() / fmt::format("log{}", ranks);
    const Launched aij = launch_on(ranks, command + "aij");
    const Launched strata = launch_on(
        ranks, command + "strata" + loading_plug_in() + fmt::format("-log_view :{}", log.string()));
    ASSERT_EQ(aij.status, 0) << aij.out;
    ASSERT_EQ(strata.status, 0) << strata.out;
    EXPECT_NE(contents_of(log).find("MatStrataPlan"), std::string::npos) << contents_of(log);

    const std::vector<Line> wanted = numbers_in(aij.out);
    const std::vector<Line> found = numbers_in(strata.out);
    ASSERT_GT(wanted.size(), 3U) << aij.out;
    ASSERT_EQ(found.size(), wanted.size()) << aij.out << strata.out;
    double first = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      first = std::max(first, std::abs(wanted[i].number));
      EXPECT_EQ(found[i].words.substr(0, 24), wanted[i].words.substr(0, 24));
      EXPECT_NEAR(found[i].number, wanted[i].number,
                  kRelative * std::abs(wanted[i].number) + kOfFirst * first)
          << wanted[i].words;
    }
  }
};

using PetscTutorial = FolderTest;

TEST_P(PetscTutorials, HaveTheIterationsAndNormsOfAij) {
  if (const std::string missing = why_no_tutorials(); !missing.empty()) GTEST_SKIP() << missing;
  const std::string program = compile_tutorial(GetParam().source, folder());
  for (const int ranks : {1, 2, 4}) {
    if (!can_launch_on(ranks)) GTEST_SKIP() << "there is no mpirun";
    SCOPED_TRACE(fmt::format("{} ranks", ranks));
    compare(program, ranks);
  }
}
TEST_F(PetscTutorial, AnOptionOfAijGivesTheType) {
  if (const std::string missing = why_no_tutorials(); !missing.empty()) GTEST_SKIP() << missing;
  const Launched shown = launch(compile_tutorial("ksp/ksp/tutorials/ex2.c", folder()) +
                                " -mat_type aij -mat_seqaij_type seqaijstrata -ksp_view_mat "
                                "::ascii_info" +
                                loading_plug_in());
  EXPECT_EQ(shown.status, 0);
  EXPECT_NE(shown.out.find("type: seqaijstrata"), std::string::npos) << shown.out;
}

INSTANTIATE_TEST_SUITE_P(Each, PetscTutorials, testing::ValuesIn(kTutorials),
                         [](const auto& tutorial) { return std::string(tutorial.param.name); });

}  // namespace
}  // namespace strata::test
