#include "avx512.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <immintrin.h>

#if !defined(__clang__)
// GCC 12 takes the "undefined" operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LANEWISE_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define LANEWISE_AVX512_INLINE LANEWISE_AVX512 __attribute__((always_inline)) inline

namespace lanewise {
namespace {

constexpr std::size_t lanes = 32;
using Vector = __m512i;

// The two halves of 32 FP32 numbers.
struct Halves {
    Vector high, low;
};

LANEWISE_AVX512_INLINE Vector all(std::uint32_t value) {
    return _mm512_set1_epi16(static_cast<short>(value));
}

LANEWISE_AVX512_INLINE Vector every_second(int first) {
    // 16-bit lanes first, first + 2, … of two vectors.
    const auto pair = static_cast<std::uint32_t>(first | (first + 2) << 16);
    const Vector step = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(pair)),
                            _mm512_mullo_epi32(step, _mm512_set1_epi32(0x0004'0004)));
}

// ------------------------------------------------------------------------------------- sources

struct FromFp32 {
    static constexpr std::size_t size = 4;
    explicit FromFp32(const Conversion&) {}

    LANEWISE_AVX512_INLINE Halves operator()(const std::byte* from, __mmask32 mask) const {
        const auto first = static_cast<__mmask16>(mask), second = static_cast<__mmask16>(mask >> 16);
        const Vector a = _mm512_maskz_loadu_epi32(first, from);
        const Vector b = _mm512_maskz_loadu_epi32(second, from + 64);
        return {_mm512_permutex2var_epi16(a, every_second(1), b),
                _mm512_permutex2var_epi16(a, every_second(0), b)};
    }
};

// 16-bit floats with the exponents of FP32: its upper half.
struct FromUpperHalf {
    static constexpr std::size_t size = 2;
    explicit FromUpperHalf(const Conversion&) {}

    LANEWISE_AVX512_INLINE Halves operator()(const std::byte* from, __mmask32 mask) const {
        return {_mm512_maskz_loadu_epi16(mask, from), _mm512_setzero_si512()};
    }
};

// Moves the leading one of numbers below 2^top up to bit `top`, and takes each place from
// `exponent`, whose unit is 1 << 7. Zeros stay.
LANEWISE_AVX512_INLINE void normalise(Vector& number, Vector& exponent, unsigned top) {
    const auto step = [&](unsigned places) LANEWISE_AVX512 __attribute__((always_inline)) {
        const __mmask32 low = _mm512_cmplt_epu16_mask(number, all(1u << (top + 1 - places)));
        number = _mm512_mask_sll_epi16(number, low, number, _mm_cvtsi32_si128(static_cast<int>(places)));
        exponent = _mm512_mask_sub_epi16(exponent, low, exponent, all(places << 7));
    };
    step(8);
    step(4);
    step(2);
    step(1);
}

// 16-bit floats with a smaller range of exponents; subnormal ones are normal in FP32.
struct FromFloat16 {
    static constexpr std::size_t size = 2;
    std::uint32_t mantissa_bits, rebias, infinity;
    explicit FromFloat16(const Conversion& conversion)
        : mantissa_bits(conversion.narrow.mantissa_bits),
          rebias((127 - conversion.narrow.bias) << 7),
          infinity(conversion.narrow.infinity) {}

    LANEWISE_AVX512_INLINE Halves operator()(const std::byte* from, __mmask32 mask) const {
        const Vector code = _mm512_maskz_loadu_epi16(mask, from);
        const Vector magnitude = _mm512_and_si512(code, all(0x7fff));
        Vector number = magnitude, exponent = all(rebias);
        normalise(number, exponent, mantissa_bits);
        const __m128i spare = _mm_cvtsi32_si128(static_cast<int>(mantissa_bits - 7));
        const __m128i rest = _mm_cvtsi32_si128(static_cast<int>(23 - mantissa_bits));
        Vector high = _mm512_add_epi16(_mm512_srl_epi16(number, spare), exponent);
        high = _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(magnitude, magnitude), high);
        const __mmask32 special = _mm512_cmpge_epu16_mask(magnitude, all(infinity));
        high = _mm512_or_si512(high, _mm512_maskz_mov_epi16(special, all(0x7f80)));
        high = _mm512_ternarylogic_epi32(high, code, all(0x8000), 0xf8);  // high | (code & sign)
        return {high, _mm512_sll_epi16(number, rest)};
    }
};

template <bool has_sign>
struct FromInteger16 {
    static constexpr std::size_t size = 2;
    explicit FromInteger16(const Conversion&) {}

    LANEWISE_AVX512_INLINE Halves operator()(const std::byte* from, __mmask32 mask) const {
        const Vector code = _mm512_maskz_loadu_epi16(mask, from);
        const Vector magnitude = has_sign ? _mm512_abs_epi16(code) : code;
        // The leading one at bit 15 is worth 2^15; it adds one to the exponent field by itself.
        Vector number = magnitude, exponent = all((127 + 15 - 1) << 7);
        normalise(number, exponent, 15);
        Vector high = _mm512_add_epi16(_mm512_srli_epi16(number, 8), exponent);
        high = _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(magnitude, magnitude), high);
        if (has_sign) high = _mm512_ternarylogic_epi32(high, code, all(0x8000), 0xf8);
        return {high, _mm512_slli_epi16(number, 8)};
    }
};

// ------------------------------------------------------------------------------------- targets

LANEWISE_AVX512_INLINE void store_packed(std::byte* to, __mmask32 mask, Vector codes) {
    _mm256_mask_storeu_epi8(to, mask, _mm512_cvtepi16_epi8(codes));
}

LANEWISE_AVX512_INLINE Vector choose(Vector otherwise, __mmask32 mask, std::uint32_t value) {
    return _mm512_mask_mov_epi16(otherwise, mask, all(value));
}

struct ToFp32 {
    static constexpr std::size_t size = 4;
    explicit ToFp32(const Conversion&) {}

    LANEWISE_AVX512_INLINE void operator()(Halves number, std::byte* to, __mmask32 mask) const {
        const Vector magnitude = _mm512_and_si512(number.high, all(0x7fff));
        const __mmask32 rest = _mm512_test_epi16_mask(number.low, number.low);
        const __mmask32 nan = _mm512_cmpgt_epu16_mask(magnitude, all(0x7f80)) |
                              (_mm512_cmpeq_epu16_mask(magnitude, all(0x7f80)) & rest);
        const Vector quiet = _mm512_ternarylogic_epi32(all(0x7fc0), number.high, all(0x8000), 0xf8);
        const Vector high = _mm512_mask_mov_epi16(number.high, nan, quiet);
        const Vector low = _mm512_maskz_mov_epi16(static_cast<__mmask32>(~nan), number.low);
        // Lanes l0 h0 l1 h1 …; the unpacking instructions work on quarters, so those are placed.
        const Vector even = _mm512_unpacklo_epi16(low, high), odd = _mm512_unpackhi_epi16(low, high);
        const Vector order = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
        const Vector later = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
        _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask),
                                 _mm512_permutex2var_epi64(even, order, odd));
        _mm512_mask_storeu_epi32(to + 64, static_cast<__mmask16>(mask >> 16),
                                 _mm512_permutex2var_epi64(even, later, odd));
    }
};

// What a code becomes when it is too large, infinite or no number; `exact` is the magnitude with
// its lowest bit set where anything is below it.
struct Limits {
    std::uint32_t largest, overflow, infinity, nan;
    explicit Limits(const Target& target)
        : largest(target.largest),
          overflow(target.overflow),
          infinity(target.infinity),
          nan(target.nan) {}

    LANEWISE_AVX512_INLINE Vector operator()(Vector code, Vector exact) const {
        code = choose(code, _mm512_cmpgt_epu16_mask(code, all(largest)), overflow);
        code = choose(code, _mm512_cmpeq_epu16_mask(exact, all(0x7f80)), infinity);
        return choose(code, _mm512_cmpgt_epu16_mask(exact, all(0x7f80)), nan);
    }
};

// The lowest bit set where any of `bits` is.
LANEWISE_AVX512_INLINE Vector jammed(Vector value, Vector bits) {
    return _mm512_or_si512(value,
                           _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(bits, bits), all(1)));
}

// 16-bit floats with the exponents of FP32: round its upper half.
struct ToUpperHalf {
    static constexpr std::size_t size = 2;
    Limits limits;
    explicit ToUpperHalf(const Conversion& conversion) : limits(conversion.target) {}

    LANEWISE_AVX512_INLINE void operator()(Halves number, std::byte* to, __mmask32 mask) const {
        const Vector magnitude = _mm512_and_si512(number.high, all(0x7fff));
        // More than a half, or a half of something odd.
        const Vector half = _mm512_sub_epi16(all(0x8000), _mm512_and_si512(magnitude, all(1)));
        const __mmask32 up = _mm512_cmpgt_epu16_mask(number.low, half);
        const Vector code = _mm512_mask_add_epi16(magnitude, up, magnitude, all(1));
        const Vector limited = limits(code, jammed(magnitude, number.low));
        _mm512_mask_storeu_epi16(
            to, mask, _mm512_ternarylogic_epi32(limited, number.high, all(0x8000), 0xf8));
    }
};

// Floats with a smaller range of exponents. The significand has `kept` bits below the leading
// one; below the target's normal range every step down drops one bit more.
template <unsigned kept>
struct ToNarrowFloat {
    Limits limits;
    std::uint32_t mantissa_bits, lowest;
    explicit ToNarrowFloat(const Conversion& conversion)
        : limits(conversion.target),
          mantissa_bits(conversion.target.mantissa_bits),
          lowest(127 - conversion.target.bias + 1) {}

    LANEWISE_AVX512_INLINE Vector code(Vector significand, Vector magnitude, Vector exact) const {
        const Vector exponent = _mm512_srli_epi16(magnitude, 7);
        const Vector below = _mm512_subs_epu16(all(lowest), exponent);
        const Vector half_places = _mm512_add_epi16(below, all(kept - mantissa_bits - 1));
        const Vector places = _mm512_add_epi16(half_places, all(1));
        const Vector half = _mm512_sllv_epi16(all(1), half_places);
        const Vector odd = _mm512_and_si512(_mm512_srlv_epi16(significand, places), all(1));
        const Vector sum = _mm512_add_epi16(_mm512_add_epi16(significand, odd),
                                            _mm512_sub_epi16(half, all(1)));
        // A bound that keeps the exponent in the lane; what reaches it is beyond every target.
        const Vector above = _mm512_min_epu16(_mm512_subs_epu16(exponent, all(lowest)), all(31));
        const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(mantissa_bits));
        return limits(_mm512_add_epi16(_mm512_srlv_epi16(sum, places),
                                       _mm512_sll_epi16(above, shift)),
                      exact);
    }
};

struct ToFloat16 : ToNarrowFloat<14> {
    static constexpr std::size_t size = 2;
    using ToNarrowFloat<14>::ToNarrowFloat;

    LANEWISE_AVX512_INLINE void operator()(Halves number, std::byte* to, __mmask32 mask) const {
        const Vector magnitude = _mm512_and_si512(number.high, all(0x7fff));
        const Vector upper = _mm512_ternarylogic_epi32(_mm512_slli_epi16(number.high, 7),
                                                       all(0x3f80), all(0x4000), 0xea);
        const Vector significand = jammed(_mm512_or_si512(upper, _mm512_srli_epi16(number.low, 9)),
                                          _mm512_and_si512(number.low, all(0x1ff)));
        const Vector made = code(significand, magnitude, jammed(magnitude, number.low));
        _mm512_mask_storeu_epi16(
            to, mask, _mm512_ternarylogic_epi32(made, number.high, all(0x8000), 0xf8));
    }
};

struct ToFloat8 : ToNarrowFloat<7> {
    static constexpr std::size_t size = 1;
    using ToNarrowFloat<7>::ToNarrowFloat;

    LANEWISE_AVX512_INLINE void operator()(Halves number, std::byte* to, __mmask32 mask) const {
        const Vector exact = jammed(_mm512_and_si512(number.high, all(0x7fff)), number.low);
        const Vector significand = _mm512_ternarylogic_epi32(exact, all(0x7f), all(0x80), 0xea);
        const Vector made = code(significand, exact, exact);
        store_packed(to, mask, _mm512_ternarylogic_epi32(made, _mm512_srli_epi16(number.high, 8),
                                                         all(0x80), 0xf8));
    }
};

// Integers of 8 or 16 bits: the significand shifted to units, rounded, clamped, with its sign.
template <unsigned bits, bool to_nearest>
struct ToInteger {
    static constexpr std::size_t size = bits / 8;
    std::uint32_t most_positive, most_negative;
    explicit ToInteger(const Conversion& conversion)
        : most_positive(conversion.target.most_positive),
          most_negative(conversion.target.most_negative) {}

    LANEWISE_AVX512_INLINE void operator()(Halves number, std::byte* to, __mmask32 mask) const {
        const Vector magnitude = _mm512_and_si512(number.high, all(0x7fff));
        const Vector exponent = _mm512_srli_epi16(magnitude, 7);
        // Sixteen bits with the leading one at the top, which is worth 2^15 at exponent 142.
        const Vector upper = _mm512_ternarylogic_epi32(_mm512_slli_epi16(number.high, 8),
                                                       all(0x7f00), all(0x8000), 0xea);
        const Vector significand = _mm512_or_si512(upper, _mm512_srli_epi16(number.low, 8));
        const Vector places = _mm512_subs_epu16(all(142), exponent);
        Vector units = _mm512_srlv_epi16(significand, places);
        if constexpr (to_nearest) {
            const Vector rest = _mm512_slli_epi16(number.low, 8);
            const Vector kept = _mm512_srlv_epi16(rest, places);
            const Vector fraction = _mm512_or_si512(
                _mm512_sllv_epi16(significand, _mm512_sub_epi16(all(16), places)), kept);
            const Vector lost = _mm512_xor_si512(_mm512_sllv_epi16(kept, places), rest);
            const Vector half = _mm512_sub_epi16(all(0x8000), _mm512_and_si512(units, all(1)));
            const __mmask32 up = _mm512_cmpgt_epu16_mask(jammed(fraction, lost), half);
            // Saturating: nothing above the largest unit number stays below a target's limit.
            units = _mm512_mask_adds_epu16(units, up, units, all(1));
        }
        units = choose(units, _mm512_cmpgt_epu16_mask(exponent, all(142)), 0xffff);
        const __mmask32 negative = _mm512_movepi16_mask(number.high);
        units = _mm512_min_epu16(units, choose(all(most_positive), negative, most_negative));
        units = _mm512_mask_sub_epi16(units, negative, _mm512_setzero_si512(), units);
        const Vector exact = jammed(magnitude, number.low);
        units = choose(units, _mm512_cmpgt_epu16_mask(exact, all(0x7f80)), 0);
        if constexpr (bits == 8)
            store_packed(to, mask, units);
        else
            _mm512_mask_storeu_epi16(to, mask, units);
    }
};

// --------------------------------------------------------------------------------------- loops

template <typename From, typename To>
LANEWISE_AVX512 void convert(const Conversion& conversion, ConstRows from, Rows to,
                             std::size_t rows, std::size_t columns) {
    const From decode(conversion);
    const To encode(conversion);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* in = from.first + row * from.pitch;
        std::byte* out = to.first + row * to.pitch;
        for (std::size_t k = 0; k < columns; k += lanes) {
            const std::size_t left = columns - k;
            const __mmask32 mask = left < lanes ? (1u << left) - 1 : ~0u;
            encode(decode(in + k * From::size, mask), out + k * To::size, mask);
        }
    }
}

template <typename From>
Conversion::Run to_target(const Conversion& conversion) {
    const Target& target = conversion.target;
    switch (target.kind) {
        case Target::Kind::fp32: return convert<From, ToFp32>;
        case Target::Kind::integer:
            if (target.size == 1)
                return target.to_nearest ? convert<From, ToInteger<8, true>>
                                         : convert<From, ToInteger<8, false>>;
            if (target.size == 2)
                return target.to_nearest ? convert<From, ToInteger<16, true>>
                                         : convert<From, ToInteger<16, false>>;
            return nullptr;
        case Target::Kind::floating:
            if (target.bias == 127)
                return target.size == 2 && target.mantissa_bits == 7 ? convert<From, ToUpperHalf>
                                                                     : nullptr;
            if (target.size == 2) return target.mantissa_bits <= 12 ? convert<From, ToFloat16> : nullptr;
            return target.mantissa_bits <= 5 ? convert<From, ToFloat8> : nullptr;
        default: return nullptr;
    }
}

}  // namespace

bool has_avx512() {
    static const bool found = __builtin_cpu_supports("avx512f") &&
                              __builtin_cpu_supports("avx512bw") &&
                              __builtin_cpu_supports("avx512vl") &&
                              __builtin_cpu_supports("avx512dq");
    return found;
}

Conversion::Run avx512_arithmetic(const Conversion& conversion) {
    if (!has_avx512() || conversion.flip) return nullptr;
    switch (conversion.source) {
        case Conversion::Source::fp32:
            // Whole numbers of 32 bits move as fast as they can be loaded anyway.
            return conversion.target.kind == Target::Kind::fp32 ? nullptr
                                                                : to_target<FromFp32>(conversion);
        case Conversion::Source::upper_half: return to_target<FromUpperHalf>(conversion);
        case Conversion::Source::float16: return to_target<FromFloat16>(conversion);
        case Conversion::Source::int16: return to_target<FromInteger16<true>>(conversion);
        case Conversion::Source::uint16: return to_target<FromInteger16<false>>(conversion);
        default: return nullptr;
    }
}

}  // namespace lanewise

#else

namespace lanewise {

bool has_avx512() { return false; }
Conversion::Run avx512_arithmetic(const Conversion&) { return nullptr; }

}  // namespace lanewise

#endif
