// 32 numbers of a source as FP32, all of which are exact.
#pragma once

#include "avx512_lanes.hpp"
#include "convert.hpp"

namespace lanewise {

struct FromFp32 {
    static constexpr std::size_t size = 4;
    static constexpr bool has_nan = true;

    LANEWISE_AVX512_INLINE static Numbers all(const std::byte* from) {
        return {_mm512_loadu_ps(from), _mm512_loadu_ps(from + 64)};
    }
    LANEWISE_AVX512_INLINE static Numbers some(const std::byte* from, __mmask32 mask) {
        return {_mm512_maskz_loadu_ps(lower(mask), from),
                _mm512_maskz_loadu_ps(upper(mask), from + 64)};
    }
};

// Sources of 16 bits differ in how 16 codes become numbers.
template <typename Widen, bool can_be_nan>
struct From16 {
    static constexpr std::size_t size = 2;
    static constexpr bool has_nan = can_be_nan;

    LANEWISE_AVX512_INLINE static Numbers widened(Vector codes) {
        return {Widen::numbers(_mm512_castsi512_si256(codes)),
                Widen::numbers(_mm512_extracti64x4_epi64(codes, 1))};
    }
    LANEWISE_AVX512_INLINE static Numbers all(const std::byte* from) {
        return widened(_mm512_loadu_si512(from));
    }
    LANEWISE_AVX512_INLINE static Numbers some(const std::byte* from, __mmask32 mask) {
        return widened(_mm512_maskz_loadu_epi16(mask, from));
    }
};

// 16-bit floats with the exponents of FP32: its upper half.
struct WidenUpperHalf {
    LANEWISE_AVX512_INLINE static __m512 numbers(__m256i codes) {
        return numbers_of(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
    }
};

// The 16-bit float that the processor knows. Subnormal codes become normal numbers whatever the
// caller's control register says about subnormal numbers.
struct WidenFp16 {
    LANEWISE_AVX512_INLINE static __m512 numbers(__m256i codes) {
        return _mm512_cvt_roundph_ps(codes, _MM_FROUND_NO_EXC);
    }
};

struct WidenInt16 {
    LANEWISE_AVX512_INLINE static __m512 numbers(__m256i codes) {
        return _mm512_cvt_roundepi32_ps(_mm512_cvtepi16_epi32(codes), nearest);
    }
};

struct WidenUint16 {
    LANEWISE_AVX512_INLINE static __m512 numbers(__m256i codes) {
        return _mm512_cvt_roundepi32_ps(_mm512_cvtepu16_epi32(codes), nearest);
    }
};

using FromUpperHalf = From16<WidenUpperHalf, true>;
using FromFp16 = From16<WidenFp16, true>;
using FromInt16 = From16<WidenInt16, false>;
using FromUint16 = From16<WidenUint16, false>;

}  // namespace lanewise
