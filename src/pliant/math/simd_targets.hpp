#pragma once

// Which instruction sets vector code is compiled for; the best one the processor has is chosen at run time. Include
// this before any Highway header. Left out: SSSE3, which gains nothing here over the plain baseline that SSE4 does not,
// and the sizeless vectors of SVE and RVV, which cannot be members of the small matrix types of simd-inl.hpp (Arm uses
// NEON).
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
