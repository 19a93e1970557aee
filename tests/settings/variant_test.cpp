#include "pliant/base/variant.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace pliant {
namespace {

/// Cannot be copied for lack of memory.
struct Heavy {
  Heavy() = default;
  Heavy(const Heavy&) { throw std::bad_alloc(); }
  Heavy(Heavy&&) noexcept = default;
  Heavy& operator=(const Heavy&) = default;
  Heavy& operator=(Heavy&&) noexcept = default;
  ~Heavy() = default;
};

TEST(Variant, ThatCannotBeCopiedThrowsAndBothStayWhole) {
  using Values = Variant<bool, std::int64_t, double, std::string, std::vector<Heavy>, std::vector<std::string>>;
  const Values full = std::vector<Heavy>(3);
  EXPECT_THROW(const Values copy(full), std::bad_alloc);
  Values other = std::string("kept");
  EXPECT_THROW(other = full, std::bad_alloc);
  EXPECT_EQ(std::get<std::string>(other), "kept");
  EXPECT_EQ(std::get<std::vector<Heavy>>(full).size(), 3u);
}

TEST(Variant, IsCopiedMovedComparedAndVisitedLikeTheStandardOne) {
  using Values = Variant<double, std::string>;
  const Values text = std::string("beam");
  Values copy = text;
  EXPECT_EQ(copy, text);
  EXPECT_EQ(std::visit([](const auto& value) { return sizeof value; }, copy), sizeof(std::string));
  copy = 2.5;
  EXPECT_NE(copy, text);
  const Values moved = std::move(copy);
  EXPECT_EQ(std::get<double>(moved), 2.5);
}

}  // namespace
}  // namespace pliant
