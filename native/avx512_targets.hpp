// Codes of a target for 32 FP32 numbers.
//
// Only instructions whose rounding is named in them are used, and none whose result depends on
// what the caller's control register says about subnormal numbers: where an operand may be one,
// the result is the same for zero in its place.
#pragma once

#include "avx512_lanes.hpp"
#include "convert.hpp"

namespace lanewise {

// A target of 1 byte has `pack`, which makes words (by quarter) of 32 numbers, and `bytes`, which
// makes bytes of the words of 64 numbers. The others have `codes` of 32 numbers in their order.

struct ToFp32 {
    static constexpr std::size_t size = 4;
    explicit ToFp32(const Conversion&) {}

    LANEWISE_AVX512_INLINE static __m512 quieted(__m512 numbers) {
        const __mmask16 nan = _mm512_cmp_round_ps_mask(numbers, numbers, _CMP_UNORD_Q,
                                                       _MM_FROUND_NO_EXC);
        const Vector quiet = with_sign(_mm512_set1_epi32(0x7fc0'0000), bits_of(numbers),
                                       _mm512_set1_epi32(INT32_MIN));
        return _mm512_mask_mov_ps(numbers, nan, numbers_of(quiet));
    }
};

// 16-bit floats with the exponents of FP32: its upper half, rounded.
struct ToUpperHalf {
    static constexpr std::size_t size = 2;
    std::uint32_t overflow, infinity, nan;
    explicit ToUpperHalf(const Conversion& conversion)
        : overflow(conversion.target.overflow),
          infinity(conversion.target.infinity),
          nan(conversion.target.nan) {}

    LANEWISE_AVX512_INLINE Vector codes(Numbers numbers) const {
        const Vector even = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36,
                                             34, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8,
                                             6, 4, 2, 0);
        const Vector first = bits_of(numbers.first), second = bits_of(numbers.second);
        const Vector low = _mm512_permutex2var_epi16(first, even, second);
        const Vector odd = _mm512_or_si512(even, words(1));
        const Vector high = _mm512_permutex2var_epi16(first, odd, second);
        // More than a half, or a half of something odd, rounds away from zero.
        const Vector half = _mm512_sub_epi16(words(0x8000), _mm512_and_si512(high, words(1)));
        const __mmask32 up = _mm512_cmpgt_epu16_mask(low, half);
        const Vector code = _mm512_mask_add_epi16(high, up, high, words(1));
        // Twice the upper half has no sign; what is below 0x7f7f cannot round to infinity.
        const __mmask32 special = _mm512_cmpge_epu16_mask(_mm512_add_epi16(high, high), words(0xfefe));
        return special ? limited(code, high, low) : code;
    }

   private:
    LANEWISE_AVX512_INLINE Vector limited(Vector code, Vector high, Vector low) const {
        const Vector magnitude = _mm512_and_si512(high, words(0x7fff));
        const __mmask32 over =
            _mm512_cmpge_epu16_mask(_mm512_and_si512(code, words(0x7fff)), words(0x7f80));
        const __mmask32 rest = _mm512_test_epi16_mask(low, low);
        const __mmask32 at = _mm512_cmpeq_epu16_mask(magnitude, words(0x7f80));
        const __mmask32 beyond = _mm512_cmpgt_epu16_mask(magnitude, words(0x7f80));
        const Vector sign = words(0x8000);
        code = _mm512_mask_mov_epi16(code, over, with_sign(words(overflow), high, sign));
        code = _mm512_mask_mov_epi16(code, at & ~rest, with_sign(words(infinity), high, sign));
        return _mm512_mask_mov_epi16(code, beyond | (at & rest), with_sign(words(nan), high, sign));
    }
};

// The 16-bit float that the processor knows.
struct ToFp16 {
    static constexpr std::size_t size = 2;
    std::uint32_t overflow, nan;
    explicit ToFp16(const Conversion& conversion)
        : overflow(conversion.target.overflow), nan(conversion.target.nan) {}

    LANEWISE_AVX512_INLINE Vector codes(Numbers numbers) const {
        const __m256i first = _mm512_cvt_roundps_ph(numbers.first, nearest);
        const __m256i second = _mm512_cvt_roundps_ph(numbers.second, nearest);
        const Vector code = _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
        const __mmask32 special = _mm512_cmpge_epu16_mask(_mm512_add_epi16(code, code), words(0xf800));
        return special ? limited(code, numbers) : code;
    }

   private:
    LANEWISE_AVX512_INLINE static __mmask32 infinite(Numbers numbers) {
        const Vector magnitude = _mm512_set1_epi32(0x7fff'ffff), most = _mm512_set1_epi32(0x7f80'0000);
        const __mmask16 first = _mm512_cmpeq_epi32_mask(
            _mm512_and_si512(bits_of(numbers.first), magnitude), most);
        const __mmask16 second = _mm512_cmpeq_epi32_mask(
            _mm512_and_si512(bits_of(numbers.second), magnitude), most);
        return static_cast<__mmask32>(second) << 16 | first;
    }

    LANEWISE_AVX512_INLINE Vector limited(Vector code, Numbers numbers) const {
        const Vector magnitude = _mm512_and_si512(code, words(0x7fff)), sign = words(0x8000);
        const __mmask32 at = _mm512_cmpeq_epu16_mask(magnitude, words(0x7c00));
        const __mmask32 beyond = _mm512_cmpgt_epu16_mask(magnitude, words(0x7c00));
        const Vector largest = with_sign(words(overflow), code, sign);
        const Vector quiet = with_sign(words(nan), code, sign);
        code = _mm512_mask_mov_epi16(code, at & ~infinite(numbers), largest);
        return _mm512_mask_mov_epi16(code, beyond, quiet);
    }
};

// Floats of 8 bits, rounded by an addition. Let a unit be what a number's last bit in the target
// is worth, 1.5 * 2^23 units have an FP32 exponent at which FP32 itself keeps whole units: adding
// a number of a few units rounds it to nearest, ties to even, and the difference of the two codes
// is the rounded number of units. A number below the normal range has the units of the lowest
// exponent; one beyond the largest exponent, infinity or NaN comes out as too many units.
struct ToFloat8 {
    static constexpr std::size_t size = 1;
    std::uint32_t lowest, highest, large, overflow, infinity, nan;
    __m128i places;

    explicit ToFloat8(const Conversion& conversion)
        : lowest((127 - conversion.target.bias + 1) << 7),
          highest(((conversion.target.largest >> conversion.target.mantissa_bits) << 7)),
          large(lowest + ((23 - conversion.target.mantissa_bits) << 7) + 0x40),
          overflow(conversion.target.overflow),
          infinity(conversion.target.infinity),
          nan(conversion.target.nan),
          places(_mm_cvtsi32_si128(static_cast<int>(7 - conversion.target.mantissa_bits))) {}

    static bool fits(const Target& target) {
        const std::uint32_t exponents = target.largest >> target.mantissa_bits;
        return target.mantissa_bits <= 5 && !target.low_zero_bits &&
               128 - target.bias + 23 - target.mantissa_bits + exponents < 255 &&
               (target.overflow == target.largest || target.overflow == target.largest + 1);
    }

    struct Packed {
        Vector codes, signs;  // words by quarter; only the sign bit of a sign counts
    };

    LANEWISE_AVX512_INLINE Packed pack(Numbers numbers) const {
        const Vector high = upper_halves_by_quarter(numbers);
        // Exponents counted from the lowest one, at bit 7.
        Vector exponent = _mm512_and_si512(high, words(0x7f80));
        exponent = _mm512_min_epu16(_mm512_subs_epu16(exponent, words(lowest)), words(highest));
        const Vector zero = _mm512_setzero_si512();
        const Vector upper = _mm512_add_epi16(exponent, words(large));
        const Vector first = _mm512_unpacklo_epi16(zero, upper);
        const Vector second = _mm512_unpackhi_epi16(zero, upper);
        const Vector units = _mm512_abs_epi16(_mm512_packs_epi32(
            difference(numbers.first, first), difference(numbers.second, second)));
        const Vector exact = _mm512_add_epi16(_mm512_srl_epi16(exponent, places), units);
        // A code that is too large is the one after the largest, or the largest itself.
        Vector code = _mm512_min_epu16(exact, words(overflow));
        const __mmask32 special = _mm512_cmpge_epu16_mask(exact, words(0x7fff));
        if (special) code = limited(code, high, numbers);
        return {code, high};
    }

    LANEWISE_AVX512_INLINE static Vector bytes(Packed one, Packed other) {
        const Vector codes = _mm512_packus_epi16(one.codes, other.codes);
        const Vector signs = _mm512_packs_epi16(one.signs, other.signs);
        return bytes_in_order(with_sign(codes, signs, _mm512_set1_epi8(-128)));
    }

   private:
    LANEWISE_AVX512_INLINE static Vector difference(__m512 number, Vector large) {
        const __m512 sum = _mm512_add_round_ps(number, numbers_of(large), nearest);
        return _mm512_sub_epi32(bits_of(sum), large);
    }

    LANEWISE_AVX512_INLINE static Vector all_if_nan(__m512 number) {
        return _mm512_movm_epi32(
            _mm512_cmp_round_ps_mask(number, number, _CMP_UNORD_Q, _MM_FROUND_NO_EXC));
    }

    LANEWISE_AVX512_INLINE Vector limited(Vector code, Vector high, Numbers numbers) const {
        const Vector magnitude = _mm512_and_si512(high, words(0x7fff));
        const Vector no_number =
            _mm512_packs_epi32(all_if_nan(numbers.first), all_if_nan(numbers.second));
        code = chosen(code, _mm512_cmpge_epu16_mask(magnitude, words(0x7f80)), infinity);
        return chosen(code, _mm512_movepi16_mask(no_number), nan);
    }
};

// Integers: clamped, which whole limits allow before rounding, then rounded by the conversion.
template <bool to_nearest>
struct ToInteger {
    __m512 least, most;
    bool has_sign;
    LANEWISE_AVX512_INLINE explicit ToInteger(const Conversion& conversion)
        : least(_mm512_set1_ps(-static_cast<float>(conversion.target.most_negative))),
          most(_mm512_set1_ps(static_cast<float>(conversion.target.most_positive))),
          has_sign(conversion.target.most_negative != 0) {}

    // Words by quarter, with a sign that `has_sign` tells of.
    LANEWISE_AVX512_INLINE Vector pack(Numbers numbers) const {
        const Vector first = units(numbers.first), second = units(numbers.second);
        return has_sign ? _mm512_packs_epi32(first, second) : _mm512_packus_epi32(first, second);
    }

   private:
    LANEWISE_AVX512_INLINE Vector units(__m512 number) const {
        const __mmask16 ordered =
            _mm512_cmp_round_ps_mask(number, number, _CMP_ORD_Q, _MM_FROUND_NO_EXC);
        const __m512 clamped = _mm512_max_round_ps(
            _mm512_min_round_ps(number, most, _MM_FROUND_NO_EXC), least, _MM_FROUND_NO_EXC);
        // NaN becomes 0.
        return to_nearest ? _mm512_maskz_cvt_roundps_epi32(ordered, clamped, nearest)
                          : _mm512_maskz_cvtt_roundps_epi32(ordered, clamped, _MM_FROUND_NO_EXC);
    }
};

template <bool to_nearest>
struct ToInteger16 : ToInteger<to_nearest> {
    static constexpr std::size_t size = 2;
    LANEWISE_AVX512_INLINE explicit ToInteger16(const Conversion& conversion)
        : ToInteger<to_nearest>(conversion) {}
    LANEWISE_AVX512_INLINE Vector codes(Numbers numbers) const {
        return words_in_order(this->pack(numbers));
    }
};

template <bool to_nearest>
struct ToInteger8 : ToInteger<to_nearest> {
    static constexpr std::size_t size = 1;
    using Packed = Vector;
    LANEWISE_AVX512_INLINE explicit ToInteger8(const Conversion& conversion)
        : ToInteger<to_nearest>(conversion) {}
    LANEWISE_AVX512_INLINE Vector bytes(Vector one, Vector other) const {
        return bytes_in_order(this->has_sign ? _mm512_packs_epi16(one, other)
                                             : _mm512_packus_epi16(one, other));
    }
};

}  // namespace lanewise
