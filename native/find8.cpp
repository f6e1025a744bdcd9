#include <bit>

#include "avx512.hpp"
#include "fp32.hpp"
#include "search.hpp"

namespace lanewise {
namespace {

constexpr std::size_t stride = 256;  // elements looked at between two branches

LANEWISE_INLINE std::uint32_t without_sign_of_zero(std::uint32_t bits) {
    return bits == sign_bit ? 0 : bits;
}

// Both halves of a number in 16 bits, the sign left out so that both zeros are one.
LANEWISE_INLINE std::uint16_t folded(std::uint16_t low, std::uint16_t high) {
    return static_cast<std::uint16_t>(low ^ static_cast<std::uint16_t>(high + high));
}

template <typename Word>
LANEWISE_INLINE Word smaller(Word one, Word other) {
    return one < other ? one : other;
}

// The smallest exclusive-or with one of eight keys: 0 means equal to one of them.
template <typename Word>
LANEWISE_INLINE Word nearest(Word word, const Word* keys) {
    const auto apart = [=](int n) __attribute__((always_inline)) {
        return static_cast<Word>(word ^ keys[n]);
    };
    const Word first = smaller(smaller(apart(0), apart(1)), smaller(apart(2), apart(3)));
    const Word second = smaller(smaller(apart(4), apart(5)), smaller(apart(6), apart(7)));
    return smaller(first, second);
}

// Whether an element may equal a key: never no where one does, rarely yes where none does. Sixteen
// bits an element are half the work of all.
LANEWISE_MULTIVERSION bool may_hold(const std::byte* elements, std::size_t count,
                                    const std::uint32_t* keys) {
    std::uint16_t wanted[slots];
    for (std::size_t n = 0; n < slots; ++n)
        wanted[n] = folded(static_cast<std::uint16_t>(keys[n]),
                           static_cast<std::uint16_t>(keys[n] >> 16));
    std::uint16_t least = 0xffff;
    for (std::size_t k = 0; k < count; ++k)
        least = smaller(least, nearest(folded(load<std::uint16_t>(elements + 4 * k),
                                              load<std::uint16_t>(elements + 4 * k + 2)),
                                       wanted));
    return least == 0;
}

LANEWISE_MULTIVERSION bool holds(const std::byte* elements, std::size_t count,
                                 const std::uint32_t* keys) {
    std::uint32_t wanted[slots];
    for (std::size_t n = 0; n < slots; ++n) wanted[n] = keys[n];
    std::uint32_t least = ~0u;
    for (std::size_t k = 0; k < count; ++k) {
        const auto bits = without_sign_of_zero(load<std::uint32_t>(elements + 4 * k));
        least = smaller(least, nearest(bits, wanted));
    }
    return least == 0;
}

LANEWISE_MULTIVERSION std::int32_t highest(const std::byte* elements, std::size_t count) {
    std::int32_t best = INT32_MIN;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t rank = rank_of(load<std::uint32_t>(elements + 4 * k));
        best = rank > best ? rank : best;
    }
    return best;
}

LANEWISE_MULTIVERSION std::int32_t highest_where(const std::byte* elements, const std::byte* mask,
                                                 std::size_t count) {
    std::int32_t best = INT32_MIN;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t rank = rank_of(load<std::uint32_t>(elements + 4 * k));
        // All ones where the mask is 0: written this way the loop vectorizes.
        const std::int32_t hidden = static_cast<std::int32_t>(load<std::uint8_t>(mask + k)) - 1;
        const std::int32_t offered = (rank & ~hidden) | (INT32_MIN & hidden);
        best = offered > best ? offered : best;
    }
    return best;
}

}  // namespace

Find8::Find8(const std::uint32_t* keys, const std::uint8_t* matched) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
        keys_[slot] = without_sign_of_zero(keys[slot]);
        found_[slot] = missed;
        if (!matched[slot] && !is_nan(keys[slot])) open_ |= 1u << slot;
    }
    pack();
}

void Find8::pack() {
    if (!open_) return;
    std::uint32_t left = open_;
    for (std::size_t place = 0; place < slots; ++place) {
        wanted_[place] = keys_[static_cast<std::size_t>(std::countr_zero(left))];
        left &= left - 1;
        if (!left) left = open_;
    }
}

void Find8::serve(std::uint32_t element, std::size_t position) {
    element = without_sign_of_zero(element);
    for (std::uint32_t left = open_; left; left &= left - 1) {
        const auto slot = static_cast<std::size_t>(std::countr_zero(left));
        if (keys_[slot] != element) continue;
        found_[slot] = static_cast<std::int64_t>(position);
        open_ &= ~(1u << slot);
        pack();
        return;
    }
}

void Find8::scan(const std::byte* elements, std::size_t count) {
    if (can_find_keys()) {
        for (std::size_t k = 0; open_; ++k) {
            k += avx512_find_key(elements + 4 * k, count - k, wanted_.data());
            if (k == count) break;
            serve(load<std::uint32_t>(elements + 4 * k), position_ + k);
        }
        position_ += count;
        return;
    }
    for (std::size_t k = 0; open_ && k < count; k += stride) {
        const std::size_t length = smaller(stride, count - k);
        const std::byte* here = elements + 4 * k;
        if (!may_hold(here, length, wanted_.data()) || !holds(here, length, wanted_.data()))
            continue;
        for (std::size_t i = 0; open_ && i < length; ++i)
            serve(load<std::uint32_t>(here + 4 * i), position_ + k + i);
    }
    position_ += count;
}

std::int32_t highest_rank(const std::byte* elements, const std::byte* mask, std::size_t count) {
    return mask ? highest_where(elements, mask, count) : highest(elements, count);
}

}  // namespace lanewise
