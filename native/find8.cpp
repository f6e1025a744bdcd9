#include <bit>

#include "fp32.hpp"
#include "search.hpp"

namespace lanewise {
namespace {

constexpr std::size_t width = 16;
constexpr std::size_t stride = 4 * width;  // elements looked at between two branches

using Words = std::uint32_t __attribute__((vector_size(4 * width)));
using Truths = std::int32_t __attribute__((vector_size(4 * width)));

LANEWISE_INLINE std::uint32_t without_sign_of_zero(std::uint32_t bits) {
    return bits == sign_bit ? 0 : bits;
}

// How many whole strides at the start of a row hold none of eight keys.
LANEWISE_MULTIVERSION std::size_t strides_without(const std::byte* elements,
                                                  std::size_t strides, const std::uint32_t* keys) {
    Words key[slots];
    for (std::size_t n = 0; n < slots; ++n) key[n] = Words{} + keys[n];
    const Words minus_zero = Words{} + sign_bit;
    for (std::size_t s = 0; s < strides; ++s) {
        Truths any{};
        for (std::size_t v = 0; v < stride / width; ++v) {
            Words bits;
            std::memcpy(&bits, elements + 4 * (s * stride + v * width), sizeof bits);
            bits = bits == minus_zero ? Words{} : bits;
            for (std::size_t n = 0; n < slots; ++n) any |= bits == key[n];
        }
        std::int32_t lanes[width], together = 0;
        std::memcpy(lanes, &any, sizeof any);
        for (std::size_t lane = 0; lane < width; ++lane) together |= lanes[lane];
        if (together) return s;
    }
    return strides;
}

LANEWISE_MULTIVERSION std::int32_t highest(const std::byte* elements, std::size_t count) {
    std::int32_t best = INT32_MIN;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t rank = rank_of(load<std::uint32_t>(elements + 4 * k));
        best = rank > best ? rank : best;
    }
    return best;
}

LANEWISE_MULTIVERSION std::int32_t highest_where(const std::byte* elements,
                                                 const std::byte* mask, std::size_t count) {
    std::int32_t best = INT32_MIN;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t rank = mask[k] != std::byte{0} ? rank_of(load<std::uint32_t>(elements + 4 * k)) : INT32_MIN;
        best = rank > best ? rank : best;
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
    std::size_t k = 0;
    while (open_ && k < count) {
        k += stride * strides_without(elements + 4 * k, (count - k) / stride, wanted_.data());
        // Here is a stride with a match, or the tail.
        const std::size_t end = k + stride < count ? k + stride : count;
        for (; open_ && k < end; ++k) serve(load<std::uint32_t>(elements + 4 * k), position_ + k);
    }
    position_ += count;
}

std::int32_t highest_rank(const std::byte* elements, const std::byte* mask, std::size_t count) {
    return mask ? highest_where(elements, mask, count) : highest(elements, count);
}

}  // namespace lanewise
