// What the loops for processors with AVX-512 share. Only for files that are built for x86-64.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#if !defined(__clang__)
// GCC 12 takes the "undefined" operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LANEWISE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define LANEWISE_AVX512_INLINE LANEWISE_AVX512 __attribute__((always_inline)) inline

namespace lanewise {

using Vector = __m512i;

// Elements that go through a loop together: two vectors of 32-bit numbers, one of 16-bit codes.
inline constexpr std::size_t lanes = 32;

// FP32 numbers in their order.
struct Numbers {
    __m512 first, second;
};

inline constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
inline constexpr int toward_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

LANEWISE_AVX512_INLINE Vector words(std::uint32_t value) {
    return _mm512_set1_epi16(static_cast<short>(value));
}

LANEWISE_AVX512_INLINE Vector bits_of(__m512 numbers) { return _mm512_castps_si512(numbers); }
LANEWISE_AVX512_INLINE __m512 numbers_of(Vector bits) { return _mm512_castsi512_ps(bits); }

// The first `left` of 32 lanes.
LANEWISE_AVX512_INLINE __mmask32 mask_of(std::size_t left) {
    return left < lanes ? (1u << left) - 1 : ~0u;
}

LANEWISE_AVX512_INLINE __mmask16 lower(__mmask32 mask) { return static_cast<__mmask16>(mask); }
LANEWISE_AVX512_INLINE __mmask16 upper(__mmask32 mask) { return static_cast<__mmask16>(mask >> 16); }

// Packing instructions work on quarters: of two vectors, quarter after quarter. This is the order
// that 16-bit halves of two vectors of numbers have to be in to go along with that.
LANEWISE_AVX512_INLINE Vector upper_halves_by_quarter(Numbers numbers) {
    const Vector order = _mm512_set_epi16(
        63, 61, 59, 57, 31, 29, 27, 25, 55, 53, 51, 49, 23, 21, 19, 17,
        47, 45, 43, 41, 15, 13, 11, 9, 39, 37, 35, 33, 7, 5, 3, 1);
    return _mm512_permutex2var_epi16(bits_of(numbers.first), order, bits_of(numbers.second));
}

// Words packed from two vectors of numbers, in the order of the numbers.
LANEWISE_AVX512_INLINE Vector words_in_order(Vector by_quarter) {
    const Vector order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    return _mm512_permutexvar_epi64(order, by_quarter);
}

// Bytes packed from two such vectors of words, in the order of the numbers.
LANEWISE_AVX512_INLINE Vector bytes_in_order(Vector by_quarter) {
    const Vector order =
        _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return _mm512_permutexvar_epi32(order, by_quarter);
}

// sign of `signs`, everything else of `value`, whose lanes have their sign bit clear.
LANEWISE_AVX512_INLINE Vector with_sign(Vector value, Vector signs, Vector sign_bits) {
    return _mm512_ternarylogic_epi32(value, signs, sign_bits, 0xf8);  // value | (signs & bits)
}

LANEWISE_AVX512_INLINE Vector chosen(Vector otherwise, __mmask32 mask, std::uint32_t value) {
    return _mm512_mask_mov_epi16(otherwise, mask, words(value));
}

}  // namespace lanewise
