// What every file that talks to MPI needs.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"

namespace strata::distributed::detail {

// Throws Error saying what failed, unless the code is MPI_SUCCESS.
void check(int code, const char* what);

// Requests that are waited for together.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // Room for one more, before any are started.
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void wait() {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "messages");
  }

 private:
  std::vector<MPI_Request> requests_;
};

// Messages of bytes, cut where they are longer than a message may be: at multiples of elements.
class Pieces {
 public:
  Pieces(const Communicator& ranks, std::size_t element_bytes) {
    const auto most = static_cast<Offset>(std::numeric_limits<int>::max() / element_bytes);
    bytes_ = static_cast<std::size_t>(std::min(ranks.largest_message(), most)) * element_bytes;
  }

  template <class Byte, class Visit>
  void visit(std::span<Byte> bytes, const Visit& piece) const {
    while (!bytes.empty()) {
      const std::size_t length = std::min(bytes.size(), bytes_);
      piece(bytes.first(length));
      bytes = bytes.subspan(length);
    }
  }

 private:
  std::size_t bytes_;
};

}  // namespace strata::distributed::detail
