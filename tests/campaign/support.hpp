// What tests of campaigns share.
#pragma once

#include <string>

#include "tests/support/temporary_folder.hpp"

namespace strata::test {

// The message of what `work` throws, which must be an Exception.
template <class Exception, class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Exception& failure) {
    return failure.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace strata::test
