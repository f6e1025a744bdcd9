// FP32 bits to the codes of another format, in integers only.
//
// Where a target sees no more of FP32 than its upper half and whether anything is below it, the
// arithmetic runs in 16-bit lanes, twice as many at a time.
#include "convert.hpp"
#include "fp32.hpp"

namespace lanewise {
namespace {

template <typename Code, typename One>
LANEWISE_INLINE void each(ConstRows from, Rows to, std::size_t rows, std::size_t columns, One one) {
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* __restrict in = from.first + row * from.pitch;
        std::byte* __restrict out = to.first + row * to.pitch;
        for (std::size_t k = 0; k < columns; ++k)
            store<Code>(out + k * sizeof(Code), static_cast<Code>(one(load<std::uint32_t>(in + 4 * k))));
    }
}

LANEWISE_MULTIVERSION void encode_bits(const Target&, ConstRows from, Rows to, std::size_t rows,
                                       std::size_t columns) {
    each<std::uint32_t>(from, to, rows, columns,
                        [](std::uint32_t bits) __attribute__((always_inline)) { return bits; });
}

// FP32 itself: only NaNs change.
LANEWISE_MULTIVERSION void encode_fp32(const Target&, ConstRows from, Rows to, std::size_t rows,
                                       std::size_t columns) {
    each<std::uint32_t>(from, to, rows, columns, [](std::uint32_t bits) __attribute__((always_inline)) {
        return is_nan(bits) ? (bits & sign_bit) | quiet_nan : bits;
    });
}

// What the code of a magnitude becomes when it is too large, infinite or no number.
LANEWISE_INLINE std::uint32_t with_limits(std::uint32_t code, std::uint32_t magnitude,
                                          std::uint32_t largest, std::uint32_t overflow,
                                          std::uint32_t infinity, std::uint32_t nan) {
    code = code > largest ? overflow : code;
    code = magnitude >= infinity_bits ? infinity : code;
    return magnitude > infinity_bits ? nan : code;
}

// The exponents of FP32, subnormals included: exponent and mantissa round as one number.
template <typename Code>
LANEWISE_INLINE void encode_same_bias(const Target& target, ConstRows from, Rows to,
                                      std::size_t rows, std::size_t columns) {
    const std::uint32_t drop = 23 - target.mantissa_bits, half = (1u << (drop - 1)) - 1;
    const std::uint32_t low = target.low_zero_bits, largest = target.largest;
    const std::uint32_t overflow = target.overflow, infinity = target.infinity, nan = target.nan;
    const unsigned sign_shift = 32 - 8 * sizeof(Code);
    each<Code>(from, to, rows, columns, [=](std::uint32_t bits) __attribute__((always_inline)) {
        const std::uint32_t magnitude = bits & magnitude_bits;
        const std::uint32_t odd = magnitude >> drop & 1;
        const std::uint32_t code = ((magnitude + half + odd) >> drop) << low;
        return with_limits(code, magnitude, largest, overflow, infinity, nan) |
               ((bits & sign_bit) >> sign_shift);
    });
}

LANEWISE_MULTIVERSION void encode_same_bias_2(const Target& target, ConstRows from, Rows to,
                                              std::size_t rows, std::size_t columns) {
    encode_same_bias<std::uint16_t>(target, from, to, rows, columns);
}

LANEWISE_MULTIVERSION void encode_same_bias_4(const Target& target, ConstRows from, Rows to,
                                              std::size_t rows, std::size_t columns) {
    encode_same_bias<std::uint32_t>(target, from, to, rows, columns);
}

// A smaller range of exponents: below the target's normal range every step down drops one bit
// more, until less than a half is left of any significand.
template <typename Code>
LANEWISE_INLINE void encode_narrow(const Target& target, ConstRows from, Rows to,
                                   std::size_t rows, std::size_t columns) {
    const std::uint32_t mantissa = target.mantissa_bits, drop = 23 - mantissa;
    const std::uint32_t half = (1u << (drop - 1)) - 1;
    const std::uint32_t lowest = 127 - target.bias + 1, rebias = (lowest - 1) << 23;
    const std::uint32_t least_normal = lowest << 23, all = lowest + drop;
    const std::uint32_t largest = target.largest, overflow = target.overflow;
    const std::uint32_t infinity = target.infinity, nan = target.nan;
    const unsigned sign_shift = 32 - 8 * sizeof(Code);
    each<Code>(from, to, rows, columns, [=](std::uint32_t bits) __attribute__((always_inline)) {
        const std::uint32_t magnitude = bits & magnitude_bits;
        const std::uint32_t normal = (magnitude - rebias + half + (magnitude >> drop & 1)) >> drop;
        const std::uint32_t significand = (magnitude & 0x7f'ffff) | 0x80'0000;
        std::uint32_t places = all - (magnitude >> 23);  // wraps where it is not used
        places = places < 25 ? places : 25;
        const std::uint32_t odd = significand >> places & 1;
        const std::uint32_t subnormal = (significand + ((1u << places) >> 1) - 1 + odd) >> places;
        const std::uint32_t code = magnitude < least_normal ? subnormal : normal;
        return with_limits(code, magnitude, largest, overflow, infinity, nan) |
               ((bits & sign_bit) >> sign_shift);
    });
}

LANEWISE_MULTIVERSION void encode_narrow_1(const Target& target, ConstRows from, Rows to,
                                           std::size_t rows, std::size_t columns) {
    encode_narrow<std::uint8_t>(target, from, to, rows, columns);
}

LANEWISE_MULTIVERSION void encode_narrow_2(const Target& target, ConstRows from, Rows to,
                                           std::size_t rows, std::size_t columns) {
    encode_narrow<std::uint16_t>(target, from, to, rows, columns);
}

// Integers: shift the significand to units, round, clamp, put the sign in. A significand counts
// units at exponent 150; 25 places further down nothing is left of it.
template <typename Code, bool to_nearest>
LANEWISE_INLINE void encode_integer(const Target& target, ConstRows from, Rows to,
                                    std::size_t rows, std::size_t columns) {
    const std::uint32_t most_positive = target.most_positive;
    const std::uint32_t more_negative = target.most_negative - target.most_positive;
    each<Code>(from, to, rows, columns, [=](std::uint32_t bits) __attribute__((always_inline)) {
        const std::uint32_t magnitude = bits & magnitude_bits, exponent = magnitude >> 23;
        const std::uint32_t significand = (magnitude & 0x7f'ffff) | 0x80'0000;
        std::uint32_t places = 150 - (exponent < 150 ? exponent : 150);
        places = places < 25 ? places : 25;
        std::uint32_t units = significand;
        if constexpr (to_nearest) units += ((1u << places) >> 1) - (places ? 1u : 0u);
        if constexpr (to_nearest) units += places ? significand >> places & 1 : 0u;
        units >>= places;
        if constexpr (sizeof(Code) == 4) {
            const std::uint32_t up = (exponent > 150 ? exponent : 150) - 150;
            units = up > 8 ? ~0u : units << (up & 15);
        }
        const std::uint32_t negative = 0u - (bits >> 31);
        const std::uint32_t most = most_positive + (more_negative & negative);
        units = units < most ? units : most;
        units = (units ^ negative) - negative;
        return magnitude > infinity_bits ? 0 : units;
    });
}

#define LANEWISE_ENCODE_INTEGER(CODE, NAME)                                                       \
    LANEWISE_MULTIVERSION void truncate_##NAME(const Target& target, ConstRows from, Rows to,     \
                                               std::size_t rows, std::size_t columns) {           \
        encode_integer<CODE, false>(target, from, to, rows, columns);                             \
    }                                                                                             \
    LANEWISE_MULTIVERSION void round_##NAME(const Target& target, ConstRows from, Rows to,        \
                                            std::size_t rows, std::size_t columns) {              \
        encode_integer<CODE, true>(target, from, to, rows, columns);                              \
    }

LANEWISE_ENCODE_INTEGER(std::uint8_t, 1)
LANEWISE_ENCODE_INTEGER(std::uint16_t, 2)
LANEWISE_ENCODE_INTEGER(std::uint32_t, 4)
#undef LANEWISE_ENCODE_INTEGER

}  // namespace

Conversion::Encode encoder_of(const Target& target) {
    if (target.kind == Target::Kind::bits) return encode_bits;
    if (target.kind == Target::Kind::fp32) return encode_fp32;
    if (target.kind == Target::Kind::integer) {
        if (target.size == 1) return target.to_nearest ? round_1 : truncate_1;
        if (target.size == 2) return target.to_nearest ? round_2 : truncate_2;
        return target.to_nearest ? round_4 : truncate_4;
    }
    if (target.bias == 127) return target.size == 2 ? encode_same_bias_2 : encode_same_bias_4;
    return target.size == 1 ? encode_narrow_1 : encode_narrow_2;
}

}  // namespace lanewise
