#include "convert.hpp"

#include <algorithm>
#include <array>

#include "avx512.hpp"
#include "fp32.hpp"
#include "walk.hpp"

namespace lanewise {
namespace {

// Tables: plain loads beat gather instructions for entries that lie in the cache.
template <typename Code, typename Entry>
LANEWISE_INLINE void look_up(const std::byte* table, ConstRows from, Rows to, std::size_t rows,
                             std::size_t columns) {
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* __restrict in = from.first + row * from.pitch;
        std::byte* __restrict out = to.first + row * to.pitch;
        for (std::size_t k = 0; k < columns; ++k) {
            const std::size_t code = load<Code>(in + k * sizeof(Code));
            store<Entry>(out + k * sizeof(Entry), load<Entry>(table + code * sizeof(Entry)));
        }
    }
}

using LookUp = void (*)(const std::byte*, ConstRows, Rows, std::size_t, std::size_t);

LookUp look_up_of(unsigned from_size, unsigned to_size) {
    if (from_size == 1) {
        if (to_size == 1) return look_up<std::uint8_t, std::uint8_t>;
        if (to_size == 2) return look_up<std::uint8_t, std::uint16_t>;
        return look_up<std::uint8_t, std::uint32_t>;
    }
    if (to_size == 1) return look_up<std::uint16_t, std::uint8_t>;
    if (to_size == 2) return look_up<std::uint16_t, std::uint16_t>;
    return look_up<std::uint16_t, std::uint32_t>;
}

// The nearest FP32 number to an integer, ties to even: normalise to bit 31, keep 24 bits. The
// steps of the normalisation are selects and not branches, so that the loop vectorizes.
LANEWISE_INLINE std::uint32_t fp32_of_magnitude(std::uint32_t value) {
    std::uint32_t normal = value, exponent = 158;
    const auto step = [&](unsigned places) __attribute__((always_inline)) {
        const bool low = normal < 1u << (32 - places);
        normal = low ? normal << places : normal;
        exponent = low ? exponent - places : exponent;
    };
    step(16);
    step(8);
    step(4);
    step(2);
    step(1);
    const std::uint32_t significand = normal >> 8;
    const std::uint32_t up = (normal & 0xff) + (significand & 1) > 0x80 ? 1u : 0u;
    // The leading one of the significand adds one to the exponent, a carry another one.
    const std::uint32_t bits = ((exponent - 1) << 23) + significand + up;
    return value == 0 ? 0 : bits;
}

template <bool has_sign>
LANEWISE_INLINE void integers_to_fp32(const std::byte* from, std::byte* __restrict to,
                                      std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        const auto value = load<std::uint32_t>(from + 4 * k);
        const std::uint32_t negative = has_sign ? 0u - (value >> 31) : 0u;
        const std::uint32_t bits = fp32_of_magnitude((value ^ negative) - negative);
        store<std::uint32_t>(to + 4 * k, bits | (negative & sign_bit));
    }
}

LANEWISE_MULTIVERSION void int32_to_fp32(const std::byte* from, std::byte* to,
                                         std::size_t count) {
    integers_to_fp32<true>(from, to, count);
}

LANEWISE_MULTIVERSION void uint32_to_fp32(const std::byte* from, std::byte* to,
                                          std::size_t count) {
    integers_to_fp32<false>(from, to, count);
}

LANEWISE_MULTIVERSION void flip_bits(const std::byte* from, std::byte* to, std::size_t count,
                                     std::uint32_t flip) {
    for (std::size_t k = 0; k < count; ++k)
        store<std::uint32_t>(to + 4 * k, load<std::uint32_t>(from + 4 * k) ^ flip);
}

void copy_rows(ConstRows from, Rows to, std::size_t rows, std::size_t bytes) {
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        std::memcpy(to.first + row * to.pitch, from.first + row * from.pitch, bytes);
    }
}

}  // namespace

Conversion Conversion::copying(unsigned size) {
    Conversion made;
    made.from_size = made.to_size = size;
    return made;
}

Conversion Conversion::looking_up(unsigned from_size, unsigned to_size, const std::byte* table) {
    Conversion made;
    made.source = Source::table;
    made.from_size = from_size;
    made.to_size = to_size;
    made.table = table;
    made.fast = avx512_look_up(made);
    return made;
}

Conversion Conversion::encoding(Source source, std::uint32_t flip, const Target& target) {
    const bool wide = source == Source::fp32 || source == Source::int32 || source == Source::uint32;
    Conversion made;
    made.source = source;
    made.from_size = wide ? 4 : 2;
    made.to_size = target.size;
    made.flip = flip;
    made.target = target;
    made.encode = encoder_of(target);
    made.fast = avx512_arithmetic(made);
    if (!wide && !made.fast) {
        Conversion widening = made;
        widening.target = Target{};
        made.widen = avx512_arithmetic(widening);
    }
    return made;
}

void Conversion::run(ConstRows from, Rows to, std::size_t rows, std::size_t columns) const {
    // The wider side moves more bytes: its cache lines are the ones to keep to.
    const std::size_t head = from_size > to_size ? elements_before_line(from, columns, from_size)
                                                 : elements_before_line(to, columns, to_size);
    if (head) run_from_anywhere(from, to, rows, head);
    run_from_anywhere({from.first + head * from_size, from.pitch},
                      {to.first + head * to_size, to.pitch}, rows, columns - head);
}

void Conversion::run_from_anywhere(ConstRows from, Rows to, std::size_t rows,
                                   std::size_t columns) const {
    if (fast) return fast(*this, from, to, rows, columns);
    if (source == Source::copy) return copy_rows(from, to, rows, columns * from_size);
    if (source == Source::table)
        return look_up_of(from_size, to_size)(table, from, to, rows, columns);
    if (source == Source::fp32 && !flip) return encode(target, from, to, rows, columns);
    run_pieces(from, to, rows, columns);
}

// Through a piece of FP32 bits that stays in the cache.
void Conversion::run_pieces(ConstRows from, Rows to, std::size_t rows, std::size_t columns) const {
    alignas(64) std::array<std::byte, piece * 4> hub;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        for (std::size_t k = 0; k < columns; k += piece) {
            const std::size_t count = std::min(piece, columns - k);
            const std::byte* in = from.first + row * from.pitch + from_size * k;
            switch (source) {
                case Source::int32: int32_to_fp32(in, hub.data(), count); break;
                case Source::uint32: uint32_to_fp32(in, hub.data(), count); break;
                case Source::fp32: flip_bits(in, hub.data(), count, flip); break;
                default: widen(*this, {in, 0}, {hub.data(), 0}, 1, count);
            }
            encode(target, {hub.data(), 0}, {to.first + row * to.pitch + to_size * k, 0}, 1, count);
        }
    }
}

}  // namespace lanewise
