#include "strata/base/array.hpp"

#include <sys/mman.h>

namespace strata::detail {

void ask_for_large_pages(void* block, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  // A hint: where the system does not follow it, nothing but speed is lost.
  madvise(block, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#else
  static_cast<void>(block);
  static_cast<void>(bytes);
#endif
}

}  // namespace strata::detail
