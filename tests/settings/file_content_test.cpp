#include "pliant/base/file_content.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "pliant/base/error.hpp"
#include "pliant/base/parse_number.hpp"

namespace pliant {
namespace {

std::filesystem::path fresh_file(const std::string& name) {
  std::filesystem::path file = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove(file);
  return file;
}

TEST(FileContent, StaysWhenTheFileIsShortenedOrRemoved) {
  const auto file = fresh_file("pliant_shortened");
  const std::string text(100'000, 'x');
  std::ofstream(file) << text;
  const FileContent content(file);
  std::filesystem::resize_file(file, 0);
  EXPECT_EQ(content.bytes(), text);
  std::filesystem::remove(file);
  EXPECT_EQ(content.bytes().back(), 'x');
}

TEST(FileContent, ThatNoMemoryHoldsIsRefusedBeforeAnyIsTaken) {
  const auto file = fresh_file("pliant_sparse");
  std::ofstream(file) << "x";
  std::error_code error;
  std::filesystem::resize_file(file, 4'000'000'000'000, error);  // of holes
  if (error) GTEST_SKIP() << "this file system has no files of 4 TB: " << error.message();
  try {
    const FileContent content(file);
    ADD_FAILURE() << "a file of 4 TB was read";
  } catch (const InputError& problem) {
    EXPECT_NE(std::string(problem.what()).find("4e+03 GB long, more than there is memory free"), std::string::npos)
        << problem.what();
  }
  std::filesystem::remove(file);
}

TEST(ParseNumber, TakesWholeFiniteNumbersWithAPoint) {
  EXPECT_EQ(parse_number("0.25"), 0.25);
  EXPECT_EQ(parse_number("-1e-3"), -1e-3);
  for (const char* text : {"", " 1", "1 ", "1,5", "0x10", "nan", "inf", "1e999", "one"})
    EXPECT_FALSE(parse_number(text)) << text;
}

}  // namespace
}  // namespace pliant
