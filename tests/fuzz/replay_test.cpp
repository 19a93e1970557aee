// Every reader gets every file of every corpus: what the fuzzer once found, and what it starts from.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "fuzz/inputs.hpp"
#include "fuzz/readers.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/file_content.hpp"

namespace pliant::test {
namespace {

const std::filesystem::path corpus = std::filesystem::path(PLIANT_SOURCE_DIR) / "tests" / "fuzz" / "corpus";

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Corpus, IsReadOrRefusedByEveryReader) {
  const auto files = files_in(corpus);
  EXPECT_GT(files.size(), 20u);
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    if (std::filesystem::file_size(file) == 0) continue;
    const FileContent content(file);
    for (const FuzzedReader& reader : fuzzed_readers())
      EXPECT_NO_THROW(try_to_read(reader, content.bytes())) << reader.name;
  }
}

/// Damages bytes as a fuzzer does: some are changed, taken out, doubled, or taken from elsewhere in the text.
std::string damaged(std::string bytes, std::mt19937& engine) {
  const auto pick = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(engine); };
  for (std::size_t k = pick(4) + 1; k > 0 && !bytes.empty(); --k) {
    const std::size_t at = pick(bytes.size() - 1), length = std::min(pick(16) + 1, bytes.size() - at);
    switch (pick(4)) {
      case 0:
        bytes[at] = static_cast<char>(pick(255));
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(pick(bytes.size() - 1), length));
        break;
      case 3:
        bytes.replace(at, length, length, static_cast<char>(pick(1) == 0 ? 0 : 255));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << pick(7)));
    }
  }
  return bytes;
}

TEST(Corpus, DamagedInAThousandWaysIsReadOrRefused) {
  std::mt19937 engine(27);
  for (const FuzzedReader& reader : fuzzed_readers()) {
    const std::string_view name(reader.name);
    if (name == "any") continue;
    std::vector<std::string> whole;
    for (const auto& file : files_in(corpus / name))
      if (file.filename().string().starts_with("good")) whole.emplace_back(FileContent(file).bytes());
    if (name == "checkpoint") whole.push_back(whole_checkpoint());
    if (name == "state") whole.push_back(whole_state());
    ASSERT_FALSE(whole.empty()) << name;
    const char* wish = std::getenv("PLIANT_FUZZ_TIMES");
    const int times = wish ? std::atoi(wish) : name == "messages" || name == "state" ? 60 : 1000;
    for (int k = 0; k < times; ++k) {
      const std::string bytes = damaged(whole[static_cast<std::size_t>(k) % whole.size()], engine);
      EXPECT_NO_THROW(try_to_read(reader, bytes)) << name << " number " << k;
    }
  }
}

TEST(Corpus, HasWholeFilesForEveryReader) {
  EXPECT_NO_THROW(read_sealed_checkpoint(whole_checkpoint()));
  EXPECT_NO_THROW(read_sealed_state(whole_state()));
  for (const FuzzedReader& reader : fuzzed_readers()) {
    const std::string_view name(reader.name);
    if (name == "any") continue;                            // starts from those of the others
    if (name == "checkpoint" || name == "state") continue;  // change with their format: made when they are needed
    int whole = 0;
    for (const auto& file : files_in(corpus / reader.name)) {
      if (!file.filename().string().starts_with("good")) continue;
      ++whole;
      EXPECT_NO_THROW(reader.read(FileContent(file).bytes())) << file;
    }
    EXPECT_GE(whole, 1) << reader.name;
  }
}

TEST(Corpus, HasNoFileThatIsRefusedWithoutAPlace) {
  // "file:line: ...", "file: byte N: ..." or, of meshes that are whole but wrong, the element or the cell.
  for (const FuzzedReader& reader : fuzzed_readers()) {
    if (!std::filesystem::exists(corpus / reader.name)) continue;
    for (const auto& file : files_in(corpus / reader.name)) {
      if (!file.filename().string().starts_with("bad")) continue;
      try {
        reader.read(FileContent(file).bytes());
        ADD_FAILURE() << file << " was read";
      } catch (const InputError& error) {
        const std::string message = error.what();
        EXPECT_TRUE(message.starts_with("fuzz")) << file << ": " << message;
        EXPECT_LT(message.size(), 400u) << file;
      }
    }
  }
}

}  // namespace
}  // namespace pliant::test
