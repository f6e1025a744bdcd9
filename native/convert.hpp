// Conversion of rows of element codes: through a table, or by integer arithmetic from FP32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rows.hpp"

namespace lanewise {

// What FP32 bits are encoded to. The numbers come from a description of the format; nothing here
// knows a format by name.
struct Target {
    enum class Kind : std::uint8_t { bits, fp32, floating, integer };
    Kind kind = Kind::fp32;  // `bits` are FP32 as they come, where `fp32` has but one NaN
    unsigned size = 4;       // bytes a code

    // Floats: fields of the format, and the codes that stand for what it cannot hold (sign clear).
    std::uint32_t mantissa_bits = 23;
    std::uint32_t bias = 127;
    std::uint32_t low_zero_bits = 0;  // low bits of the container that stay clear
    std::uint32_t largest = 0;        // the largest finite code
    std::uint32_t overflow = 0;       // for finite numbers beyond it
    std::uint32_t infinity = 0;
    std::uint32_t nan = 0;

    // Integers: magnitudes clamp to these.
    std::uint32_t most_positive = 0;
    std::uint32_t most_negative = 0;
    bool to_nearest = false;  // ties to even; else toward zero
};

struct Conversion {
    // Floats of 16 bits: `upper_half` has the exponents of FP32, `fp16` is IEEE's.
    enum class Source : std::uint8_t {
        copy, table, fp32, int32, uint32, upper_half, fp16, int16, uint16
    };
    using Encode = void (*)(const Target&, ConstRows, Rows, std::size_t, std::size_t);
    using Run = void (*)(const Conversion&, ConstRows, Rows, std::size_t, std::size_t);

    Source source = Source::copy;
    unsigned from_size = 4;
    unsigned to_size = 4;
    const std::byte* table = nullptr;  // an entry for each code of the source
    std::uint32_t flip = 0;            // exclusive-or with FP32 sources before anything else
    Target target;
    Encode encode = nullptr;
    Run fast = nullptr;   // the whole conversion in one loop, where this processor has one
    Run widen = nullptr;  // to FP32, for sources of 16 bits

    static Conversion copying(unsigned size);
    static Conversion looking_up(unsigned from_size, unsigned to_size, const std::byte* table);
    // Sources of 16 bits only where `has_avx512`; elsewhere a table converts them.
    static Conversion encoding(Source source, std::uint32_t flip, const Target& target);

    bool is_copy() const { return source == Source::copy; }
    // Whether the result is the FP32 numbers that came, but for the bits of NaNs.
    bool keeps_fp32() const {
        return source == Source::fp32 && !flip && target.kind == Target::Kind::fp32;
    }

    // Converts `columns` elements of each of `rows` rows; input and output do not overlap.
    void run(ConstRows from, Rows to, std::size_t rows, std::size_t columns) const;

   private:
    void run_from_anywhere(ConstRows from, Rows to, std::size_t rows, std::size_t columns) const;
    void run_pieces(ConstRows from, Rows to, std::size_t rows, std::size_t columns) const;
};

// The kernel that encodes FP32 bits to a target (encode.cpp).
Conversion::Encode encoder_of(const Target& target);

}  // namespace lanewise
