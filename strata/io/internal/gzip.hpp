// The writing half of gzip; the reading half is `decompressed` in source.hpp.
#pragma once

#include <span>

#include "strata/base/array.hpp"

namespace strata::detail {

// The text as one gzip member. Members that stand one after the other are a gzip file of their
// texts together (RFC 1952, section 2.2), so pieces can be compressed independently.
Array<char> gzip_member(std::span<const char> text);

}  // namespace strata::detail
