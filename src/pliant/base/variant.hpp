#pragma once

#include <variant>

namespace pliant {

/// std::variant that can be copied without enough memory. libstdc++ (12 and others) takes a variant of texts, lists and
/// numbers for one that always has a value, and then destroys one when the constructor that copies it throws, where
/// there is none yet. Assigning does not have this fault.
template <class... Types>
class Variant : public std::variant<Types...> {
 public:
  using Base = std::variant<Types...>;
  using Base::Base;
  using Base::operator=;
  Variant() = default;
  Variant(const Variant& other) : Base() { Base::operator=(other); }
  Variant(Variant&&) noexcept = default;
  Variant& operator=(const Variant&) = default;
  Variant& operator=(Variant&&) noexcept = default;
  ~Variant() = default;
};

}  // namespace pliant
