// Memory that is not there. Linux promises more than it has and kills the process that uses it;
// with a limit at what the machine has, too large a matrix is an exception and an error message.
#pragma once

namespace strata::cli {

// Limits this process to the memory of the machine, or of its container if that is less.
void limit_memory();

}  // namespace strata::cli
