// FP32 numbers as their bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "multiversion.hpp"

namespace lanewise {

inline constexpr std::uint32_t sign_bit = 0x8000'0000u;
inline constexpr std::uint32_t magnitude_bits = 0x7fff'ffffu;
inline constexpr std::uint32_t infinity_bits = 0x7f80'0000u;
inline constexpr std::uint32_t quiet_nan = 0x7fc0'0000u;
inline constexpr std::uint32_t minus_infinity = 0xff80'0000u;

template <typename Word>
LANEWISE_INLINE Word load(const std::byte* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);  // elements may lie at any address
    return word;
}

template <typename Word>
LANEWISE_INLINE void store(std::byte* to, Word word) {
    std::memcpy(to, &word, sizeof word);
}

// A rank orders FP32 numbers: both zeros have the same, and every NaN is below minus infinity.
// Magnitudes count up from zero's rank, or down for negative numbers; the sum wraps around
// exactly where the magnitude is that of a NaN.
inline constexpr std::int32_t rank_of_zero = 0x007f'ffff;
inline constexpr std::int32_t rank_of_minus_infinity = rank_of_zero - 0x7f80'0000;

LANEWISE_INLINE std::int32_t rank_of(std::uint32_t bits) {
    const std::uint32_t negative = 0u - (bits >> 31);
    const std::uint32_t magnitude = bits & magnitude_bits;
    return static_cast<std::int32_t>((magnitude ^ negative) - negative +
                                     static_cast<std::uint32_t>(rank_of_zero));
}

LANEWISE_INLINE bool is_nan(std::uint32_t bits) { return (bits & magnitude_bits) > infinity_bits; }

}  // namespace lanewise
