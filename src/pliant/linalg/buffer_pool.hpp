#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include "pliant/linalg/aligned_array.hpp"

namespace pliant {

/// Uninitialised arrays of doubles, handed out and taken back by many threads and kept for the next time: a
/// factorisation that is repeated allocates nothing. Addresses depend on timing; nothing that is computed may.
class BufferPool {
 public:
  class Buffer {
   public:
    Buffer() = default;
    double* data() const { return data_.get(); }

   private:
    friend class BufferPool;
    AlignedArray data_;
    std::size_t capacity_ = 0;
  };

  /// The smallest free buffer that is large enough, or a new one. Throws std::bad_alloc.
  Buffer take(std::size_t size) {
    Buffer buffer;
    if (size == 0) return buffer;
    {
      const std::lock_guard lock(mutex_);
      const auto fits = std::find_if(free_.begin(), free_.end(), [&](const Buffer& b) { return b.capacity_ >= size; });
      // A much larger one is left for what needs it.
      if (fits != free_.end() && fits->capacity_ <= 4 * size) {
        buffer = std::move(*fits);
        free_.erase(fits);
        return buffer;
      }
    }
    buffer.data_ = make_aligned_array(size);
    buffer.capacity_ = size;
    return buffer;
  }

  void give_back(Buffer&& buffer) {
    if (!buffer.data_) return;
    const std::lock_guard lock(mutex_);
    const auto place =
        std::find_if(free_.begin(), free_.end(), [&](const Buffer& b) { return b.capacity_ >= buffer.capacity_; });
    free_.insert(place, std::move(buffer));
  }

  /// Gives the memory of the free buffers back.
  void clear() {
    const std::lock_guard lock(mutex_);
    free_.clear();
  }
  std::size_t free_numbers() const {
    std::size_t sum = 0;
    for (const Buffer& buffer : free_) sum += buffer.capacity_;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::vector<Buffer> free_;  ///< by ascending capacity
};

}  // namespace pliant
