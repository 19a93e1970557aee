#include "pliant/io/checkpoint.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "pliant/base/error.hpp"
#include "support/text_file.hpp"

namespace pliant {
namespace {

Checkpoint sample(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.snapshot.fingerprint.parts = {1, 2, 3, 4, 5, 6};
  checkpoint.snapshot.state.step = step;
  checkpoint.snapshot.state.time = 0.1 * static_cast<double>(step);
  checkpoint.snapshot.state.x = VecX::LinSpaced(30, 0, 1) / 3;
  checkpoint.snapshot.state.v = VecX::LinSpaced(30, -1, 1) / 7;
  checkpoint.not_finite = 7;
  return checkpoint;
}

std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("pliant_checkpoint_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void overwrite(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(Checkpoint, ReadsBackTheSameBits) {
  const auto file = fresh_folder("bits") / "a.pliant";
  const Checkpoint written = sample(42);
  write_checkpoint(file, written);
  const Checkpoint read = read_checkpoint(file);
  EXPECT_EQ(read.snapshot.fingerprint, written.snapshot.fingerprint);
  EXPECT_EQ(read.snapshot.state.step, 42);
  EXPECT_EQ(read.snapshot.state.time, written.snapshot.state.time);
  EXPECT_EQ(read.snapshot.state.x, written.snapshot.state.x);
  EXPECT_EQ(read.snapshot.state.v, written.snapshot.state.v);
  EXPECT_EQ(read.not_finite, 7);
}

TEST(Checkpoint, EveryTruncationIsDetected) {
  const auto file = fresh_folder("truncated") / "a.pliant";
  write_checkpoint(file, sample(1));
  const std::string whole = file_content(file);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    overwrite(file, whole.substr(0, size));
    EXPECT_THROW(read_checkpoint(file), InputError) << size;
  }
}

TEST(Checkpoint, EveryDamagedByteIsDetected) {
  const auto file = fresh_folder("damaged") / "a.pliant";
  write_checkpoint(file, sample(1));
  const std::string whole = file_content(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    overwrite(file, damaged);
    EXPECT_THROW(read_checkpoint(file), InputError) << i;
  }
}

TEST(Checkpoint, AnotherFileIsNamedForWhatItIsNot) {
  const auto file = fresh_folder("other") / "a.pliant";
  overwrite(file, "PLIANT-CHECKPOINT-9\nfrom the future");
  try {
    read_checkpoint(file);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a.pliant is not a checkpoint of this version"), std::string::npos)
        << error.what();
  }
}

TEST(CheckpointFolder, KeepsTheLastTwo) {
  CheckpointFolder folder(fresh_folder("two"));
  for (std::int64_t step : {10, 20, 30, 40}) folder.write(sample(step));
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(read_checkpoint(files[0]).snapshot.state.step, 30);
  EXPECT_EQ(read_checkpoint(files[1]).snapshot.state.step, 40);
}

TEST(CheckpointFolder, FallsBackToTheOneBeforeWithANotice) {
  CheckpointFolder folder(fresh_folder("fallback"));
  folder.write(sample(10));
  folder.write(sample(20));
  overwrite(folder.files().back(), file_content(folder.files().back()).substr(0, 100));
  std::vector<std::string> notices;
  const auto found = folder.newest([&](const std::string& text) { notices.push_back(text); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->snapshot.state.step, 10);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("step_000000020.pliant"), std::string::npos) << notices[0];
}

TEST(CheckpointFolder, AFileUnderConstructionIsNoCheckpoint) {
  const auto path = fresh_folder("part");
  CheckpointFolder folder(path);
  folder.write(sample(10));
  overwrite(path / "step_000000020.pliant.part123", "half of it");
  const auto found = folder.newest([](const std::string& text) { ADD_FAILURE() << text; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->snapshot.state.step, 10);
}

TEST(CheckpointFolder, AFolderThatCannotBeWrittenIsASystemError) {
  CheckpointFolder folder("/dev/null/checkpoints");
  EXPECT_THROW(folder.write(sample(1)), std::system_error);
}

TEST(Fingerprint, NamesThePartsThatDiffer) {
  Fingerprint a = sample(1).snapshot.fingerprint;
  Fingerprint b = a;
  EXPECT_EQ(a.difference(b), "");
  b.parts[0] = 99;
  b.parts[5] = 99;
  EXPECT_EQ(a.difference(b), "mesh, solver");
}

}  // namespace
}  // namespace pliant
