// How much memory the processes of a group have.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace strata::campaign::detail {

// Resident bytes of one process; 0 if it is gone.
std::int64_t resident_bytes(pid_t process);
// Of all processes of the group together. Looks through all processes of the machine, which takes
// some milliseconds: not for every tick.
std::int64_t group_resident_bytes(pid_t group);

}  // namespace strata::campaign::detail
