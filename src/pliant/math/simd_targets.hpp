#pragma once

// Which instruction sets vector code is compiled for; the best one the processor has is chosen at run time. Include
// this before any Highway header. Left out: SSSE3, which gains nothing here over the plain baseline that SSE4 does not,
// and the sizeless vectors of SVE and RVV, which cannot be members of the small matrix types of simd-inl.hpp (Arm uses
// NEON).
//
// Loops that wait for memory, such as those of a triangular solve, gain nothing from vectors wider than AVX2's: files
// of such loops define PLIANT_WAITS_FOR_MEMORY first, and compile a quarter less.
//
// PLIANT_BEST_TARGET, given by CMake's PLIANT_THIS_MACHINE, leaves out all but what is chosen on the machine at hand,
// and what every processor has: two sets instead of four. Results have the same bits, as the same code runs.
#ifdef PLIANT_WAITS_FOR_MEMORY
#define PLIANT_WIDEST_TARGETS (HWY_AVX3 | HWY_AVX3_DL)
#else
#define PLIANT_WIDEST_TARGETS HWY_AVX3_DL
#endif
#if !defined(PLIANT_BEST_TARGET)
#define PLIANT_OTHER_TARGETS 0
#elif PLIANT_BEST_TARGET == 512 && defined(PLIANT_WAITS_FOR_MEMORY)
#define PLIANT_OTHER_TARGETS HWY_SSE4
#elif PLIANT_BEST_TARGET == 512
#define PLIANT_OTHER_TARGETS (HWY_SSE4 | HWY_AVX2)
#elif PLIANT_BEST_TARGET == 256
#define PLIANT_OTHER_TARGETS (HWY_SSE4 | HWY_AVX3)
#else
#define PLIANT_OTHER_TARGETS (HWY_AVX2 | HWY_AVX3)
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | PLIANT_OTHER_TARGETS | PLIANT_WIDEST_TARGETS | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
