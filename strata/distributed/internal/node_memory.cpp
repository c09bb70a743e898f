#include "strata/distributed/internal/node_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "strata/distributed/internal/mpi_check.hpp"

namespace strata::distributed::detail {

namespace {

// Closed with the object.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// In front of a block: by this others know that it is the one that they were told of.
struct alignas(64) BlockHead {
  std::uint64_t mark = 0;
};

// What the owner of a block tells a rank that writes into it.
struct Invitation {
  std::int64_t process = 0;
  std::int64_t file = 0;
  std::uint64_t mark = 0;
  std::uint64_t bytes = 0;  // of the block
  std::uint64_t slot = 0;   // number of the writer's
  std::uint64_t slots = 0;
  std::uint64_t place = 0;
  std::uint64_t element_bytes = 0;
};

std::size_t elements_begin(std::size_t slots) {
  return sizeof(BlockHead) + slots * sizeof(SharedSlot);
}

int make_file() {
#ifdef MFD_CLOEXEC
  return ::memfd_create("strata", MFD_CLOEXEC);
#else
  return -1;
#endif
}

SharedSlot* slot_in(std::byte* block, std::uint64_t slot) {
  return std::launder(reinterpret_cast<SharedSlot*>(block + sizeof(BlockHead)) + slot);
}

RemoteBlock accepted(const Invitation& invitation) {
  RemoteBlock remote;
  const File file(::open(fmt::format("/proc/{}/fd/{}", invitation.process, invitation.file).c_str(),
                         O_RDWR | O_CLOEXEC));
  struct stat found = {};
  if (!file || ::fstat(file.number(), &found) != 0 ||
      static_cast<std::uint64_t>(found.st_size) != invitation.bytes) {
    return remote;
  }
  MappedPages pages(file.number(), invitation.bytes);
  if (!pages) return remote;
  if (std::launder(reinterpret_cast<const BlockHead*>(pages.data()))->mark != invitation.mark) {
    return remote;
  }
  remote.slot = slot_in(pages.data(), invitation.slot);
  remote.elements = pages.data() + elements_begin(invitation.slots);
  remote.place = invitation.place;
  remote.element_bytes = invitation.element_bytes;
  remote.pages = std::move(pages);
  return remote;
}

}  // namespace

MappedPages::MappedPages(int file, std::size_t bytes) {
  void* const found = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (found == MAP_FAILED) return;
  data_ = static_cast<std::byte*>(found);
  bytes_ = bytes;
  // Larger pages, where the system has them for such memory.
#ifdef MADV_HUGEPAGE
  ::madvise(found, bytes, MADV_HUGEPAGE);
#endif
}

MappedPages::~MappedPages() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

MappedPages::MappedPages(MappedPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedPages& MappedPages::operator=(MappedPages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

NodeMemory::NodeMemory(const Communicator& ranks, std::size_t bytes,
                       std::span<const Writer> writers, std::span<const int> targets)
    : slots_(writers.size(), nullptr), remotes_(targets.size()) {
  const std::size_t begin = elements_begin(writers.size());
  const std::size_t all = begin + bytes;
  // Open until everybody has it, too.
  const File file(writers.empty() ? -1 : make_file());
  std::vector<std::vector<Invitation>> invitations(static_cast<std::size_t>(ranks.size()));
  // With all of its pages: a process that writes to one that is not there is ended.
  if (file && ::posix_fallocate(file.number(), 0, static_cast<off_t>(all)) == 0) {
    own_ = MappedPages(file.number(), all);
  }
  if (own_) {
    static std::atomic<std::uint32_t> made = 0;
    const std::uint64_t mark = (static_cast<std::uint64_t>(::getpid()) << 32) + ++made;
    new (own_.data()) BlockHead{mark};
    for (std::size_t i = 0; i < writers.size(); ++i) {
      new (own_.data() + sizeof(BlockHead) + i * sizeof(SharedSlot)) SharedSlot{};
      invitations[static_cast<std::size_t>(writers[i].rank)].push_back({.process = ::getpid(),
                                                                        .file = file.number(),
                                                                        .mark = mark,
                                                                        .bytes = all,
                                                                        .slot = i,
                                                                        .slots = writers.size(),
                                                                        .place = writers[i].place,
                                                                        .element_bytes = bytes});
    }
  }
  const auto invited = ranks.exchange(invitations);
  std::vector<std::vector<char>> answers(static_cast<std::size_t>(ranks.size()));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& from = invited[static_cast<std::size_t>(targets[i])];
    if (from.empty()) continue;
    remotes_[i] = accepted(from.front());
    answers[static_cast<std::size_t>(targets[i])].push_back(remotes_[i].pages ? 1 : 0);
  }
  const auto answered = ranks.exchange(answers);
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const auto& from = answered[static_cast<std::size_t>(writers[i].rank)];
    if (!from.empty() && from.front() != 0) slots_[i] = slot_in(own_.data(), i);
  }
  if (own_) elements_ = own_.data() + begin;
}

void wait_for(const Communicator& ranks, const std::atomic<std::uint64_t>& counter,
              std::uint64_t round) {
  constexpr int kPatience = 256;
  for (int looks = 0; counter.load(std::memory_order_acquire) < round; ++looks) {
    if (looks < kPatience) continue;
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks.handle(), &found, MPI_STATUS_IGNORE),
          "waiting for another rank");
    ::sched_yield();
  }
}

}  // namespace strata::distributed::detail
