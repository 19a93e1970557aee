// Makes one call of the system fail, for tests of what a program does then. Loaded before a program (LD_PRELOAD) with
//
//   PLIANT_FAULT=write:7     the 7th call of write fails as on a full disk; likewise fsync, rename, open, allocate
//   PLIANT_FAULT=write:7:k   the process is killed there in place of it, as by kill -9
//   PLIANT_FAULT=write:0     nothing fails
//   PLIANT_FAULT_COUNT=FILE  how often the call was made is written there when the program ends
//
// Counted from the beginning of main. `allocate` is malloc and all its kin, on all threads; `write` is write and
// fwrite.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);

namespace {

enum class Call { none, allocate, write, fsync, rename, open };

std::atomic<bool> armed = false;
std::atomic<long> calls = 0;
Call wanted = Call::none;
long failing = 0;
bool kills = false;

/// Whether this call is the one.
bool fails(Call call) {
  if (call != wanted || !armed.load(std::memory_order_relaxed)) return false;
  if (calls.fetch_add(1, std::memory_order_relaxed) + 1 != failing) return false;
  if (kills) kill(getpid(), SIGKILL);
  return true;
}

template <class Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void read_wish() {
  const char* wish = getenv("PLIANT_FAULT");
  if (!wish) return;
  const char* colon = strchr(wish, ':');
  if (!colon) return;
  const struct {
    const char* name;
    Call call;
  } names[] = {{"allocate", Call::allocate},
               {"write", Call::write},
               {"fsync", Call::fsync},
               {"rename", Call::rename},
               {"open", Call::open}};
  for (const auto& known : names)
    if (strncmp(wish, known.name, static_cast<size_t>(colon - wish)) == 0) wanted = known.call;
  char* end = nullptr;
  failing = strtol(colon + 1, &end, 10);
  kills = strcmp(end, ":k") == 0;
}

void tell_count() {
  armed = false;
  const char* file = getenv("PLIANT_FAULT_COUNT");
  if (!file) return;
  if (FILE* out = fopen(file, "w")) {
    fprintf(out, "%ld\n", calls.load());
    fclose(out);
  }
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_wish();
  atexit(tell_count);
  armed = true;
  return real_main(argc, argv, environment);
}

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  real_main = main;
  const auto start = next(&__libc_start_main, "__libc_start_main");
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* malloc(size_t size) { return fails(Call::allocate) ? out_of_memory() : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(Call::allocate) ? out_of_memory() : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails(Call::allocate) ? out_of_memory() : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails(Call::allocate) ? out_of_memory() : __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (fails(Call::allocate)) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}

ssize_t write(int file, const void* bytes, size_t count) {
  static const auto real = next(&write, "write");
  if (file > STDERR_FILENO && fails(Call::write)) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, bytes, count);
}
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  static const auto real = next(&fwrite, "fwrite");
  if (file != stdout && file != stderr && fails(Call::write)) {
    errno = ENOSPC;
    return 0;
  }
  return real(bytes, size, count, file);
}
int fsync(int file) {
  static const auto real = next(&fsync, "fsync");
  if (fails(Call::fsync)) {
    errno = EIO;
    return -1;
  }
  return real(file);
}
int rename(const char* from, const char* to) {
  static const auto real = next(&rename, "rename");
  if (fails(Call::rename)) {
    errno = EACCES;
    return -1;
  }
  return real(from, to);
}
int open(const char* path, int flags, ...) {
  static const auto real = next(&open, "open");
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : mode_t{0};
  va_end(arguments);
  if (fails(Call::open)) {
    errno = EMFILE;
    return -1;
  }
  return real(path, flags, mode);
}

}  // extern "C"
