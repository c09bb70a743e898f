// A generator's specification taken apart: "mesh:600000,dim=3,nnzr=27,aspect=1x1x8" has the name
// "mesh", the argument "600000" and three keys.
//
// The argument ends at the first comma that is followed by letters and '=', so that a path may
// contain commas and colons.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"

namespace strata {

// Every function throws InvalidArgument with the part that is wrong, and OverflowError for a number
// beyond 64 bits.
class Spec {
 public:
  explicit Spec(std::string_view text);

  const std::string& name() const { return name_; }
  const std::string& argument() const { return argument_; }

  // The argument as one positive number up to `high`, or as several: "4x5x6".
  Offset size(Offset high = std::numeric_limits<Offset>::max()) const;
  template <std::size_t dimensions>
  std::array<Offset, dimensions> sizes() const;

  // The value of a key, which lies in [low, high].
  Offset integer(std::string_view key, Offset low, Offset high);
  Offset integer_or(std::string_view key, Offset fallback, Offset low, Offset high);
  // A number from `low` on, or a word that stands for `meaning`; nothing where the key is absent.
  std::optional<Offset> integer_or_word(std::string_view key, std::string_view word, Offset meaning,
                                        Offset low);
  // A finite number that is not negative.
  double real_or(std::string_view key, double fallback);
  // "AxBxC", all 1 where the key is absent.
  template <std::size_t dimensions>
  std::array<Offset, dimensions> proportions(std::string_view key);

  // To be called when all keys that mean something have been asked for.
  void refuse_unread_keys() const;

 private:
  struct Key {
    std::string name;
    std::string value;
    bool read = false;
  };

  void add_key(std::string_view text);
  // Marks the key as read; null where it is absent.
  const Key* find(std::string_view key);

  std::string name_;
  std::string argument_;
  std::vector<Key> keys_;
};

}  // namespace strata
