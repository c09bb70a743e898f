// Tables with numbers that are easy to recognise.
#pragma once

#include "strata/tune/block_table.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::test {

// number(r, c) everywhere.
template <class Number>
BlockTable table_of(Number&& number) {
  BlockTable table;
  for (const BlockSize block : all_block_sizes()) table.at(block) = number(block.rows, block.cols);
  return table;
}

}  // namespace strata::test
