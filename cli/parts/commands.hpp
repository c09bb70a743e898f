// The commands. Each `add_…` declares its options, and what is run when the command line asks for
// it.
#pragma once

#include "cli/parts/command_line.hpp"

namespace strata::cli {

void add_info(CommandLine& line);
void add_gen(CommandLine& line);
void add_convert(CommandLine& line);
void add_machine(CommandLine& line);
void add_mpk(CommandLine& line);
void add_explain(CommandLine& line);
void add_model(CommandLine& line);
void add_spmv(CommandLine& line);
void add_tune(CommandLine& line);
void add_bench(CommandLine& line);
void add_compare(CommandLine& line);
void add_report(CommandLine& line);
void add_solve(CommandLine& line);
void add_hpcg(CommandLine& line);
void add_fem(CommandLine& line);
void add_eig(CommandLine& line);
void add_expm(CommandLine& line);

}  // namespace strata::cli
