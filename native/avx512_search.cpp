// Searches along a row for processors with AVX-512: one pass that finds where to look.
#include "avx512.hpp"
#include "slots.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "avx512_lanes.hpp"

#define LANEWISE_AVX512_VBMI \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")))

namespace lanewise {
namespace {

constexpr std::size_t width = 16;        // elements of a vector
constexpr std::size_t most_blocks = 64;  // of a row, each of which has the maxima of its lanes

LANEWISE_AVX512_INLINE __mmask16 first_lanes(std::size_t left) {
    return static_cast<__mmask16>(left < width ? (1u << left) - 1 : 0xffff);
}

LANEWISE_AVX512_INLINE Vector all(std::int32_t value) { return _mm512_set1_epi32(value); }

// Numbers in an order of signed integers. Two ways: the rank of fp32.hpp, which costs five
// instructions, and the bits themselves, which are in order from the smallest positive number to
// infinity; whatever is not there comes before or after all of it.
struct ByRank {
    static constexpr std::int32_t least = rank_of_minus_infinity + 1;
    static constexpr std::int32_t most = INT32_MAX;
    static constexpr std::int32_t apart = 0;  // from the rank

    LANEWISE_AVX512_INLINE static Vector order(Vector bits) {
        const Vector negative = _mm512_srai_epi32(bits, 31);
        // (bits & magnitude) ^ negative
        const Vector flipped = _mm512_ternarylogic_epi32(bits, negative, all(0x7fff'ffff), 0x6c);
        return _mm512_add_epi32(_mm512_sub_epi32(flipped, negative), all(rank_of_zero));
    }
};

struct ByBits {
    static constexpr std::int32_t least = 1;
    static constexpr std::int32_t most = 0x7f80'0000;
    static constexpr std::int32_t apart = rank_of_zero;

    LANEWISE_AVX512_INLINE static Vector order(Vector bits) { return bits; }
};

// A row in blocks of whole vectors; what is missing in the last one is minus infinity.
struct Blocks {
    const std::byte* row;
    std::size_t count, length, number;  // elements; vectors a block; blocks

    Blocks(const std::byte* row, std::size_t count) : row(row), count(count) {
        const std::size_t vectors = (count + width - 1) / width;
        length = std::max<std::size_t>((vectors + most_blocks - 1) / most_blocks, 4);
        number = (vectors + length - 1) / length;
    }
    std::size_t begin(std::size_t block) const { return block * length * width; }
    std::size_t end(std::size_t block) const { return std::min(begin(block + 1), count); }
    LANEWISE_AVX512_INLINE Vector at(std::size_t k) const {
        return _mm512_mask_loadu_epi32(all(static_cast<std::int32_t>(minus_infinity)),
                                       first_lanes(count - k), row + 4 * k);
    }
};

// Four values in turn: the maximum of one need not wait for the one before.
template <typename Order>
LANEWISE_AVX512_INLINE Vector maximum(const Blocks& blocks, std::size_t block) {
    Vector best[4];
    for (Vector& one : best) one = all(INT32_MIN);
    std::size_t k = blocks.begin(block);
    const std::size_t end = blocks.end(block);
    for (; k + 4 * width <= end; k += 4 * width)
        for (std::size_t i = 0; i < 4; ++i)
            best[i] = _mm512_max_epi32(
                best[i], Order::order(_mm512_loadu_si512(blocks.row + 4 * (k + i * width))));
    for (; k < end; k += width) best[0] = _mm512_max_epi32(best[0], Order::order(blocks.at(k)));
    return _mm512_max_epi32(_mm512_max_epi32(best[0], best[1]),
                            _mm512_max_epi32(best[2], best[3]));
}

// The eight largest values seen, the lowest of them first; `floor` stands for those not there.
class Eight {
   public:
    explicit Eight(std::int32_t floor) { best_.fill(floor); }
    std::int32_t lowest() const { return best_[0]; }
    void offer(std::int32_t value) {
        if (value <= best_[0]) return;
        std::size_t at = 0;
        for (; at + 1 < slots && best_[at + 1] < value; ++at) best_[at] = best_[at + 1];
        best_[at] = value;
    }
    LANEWISE_AVX512_INLINE void offer(Vector values) {
        std::int32_t value[width];
        const auto wanted = _mm512_cmpgt_epi32_mask(values, all(lowest()));
        if (!wanted) return;
        _mm512_storeu_si512(value, values);
        for (unsigned left = wanted; left; left &= left - 1) offer(value[std::countr_zero(left)]);
    }

   private:
    std::array<std::int32_t, slots> best_;
};

// Eight elements at least reach the eighth largest maximum of a lane of a block, and all that do
// are in the few lanes of blocks whose maximum does, whatever the order of the row. False where
// the order does not tell these elements apart.
template <typename Order>
LANEWISE_AVX512 bool top8_by(const Blocks& blocks, Slots& best) {
    Vector maxima[most_blocks], lanes = all(INT32_MIN);
    for (std::size_t block = 0; block < blocks.number; ++block) {
        maxima[block] = maximum<Order>(blocks, block);
        lanes = _mm512_max_epi32(lanes, maxima[block]);
    }
    if (_mm512_cmpgt_epi32_mask(lanes, all(Order::most))) return false;
    // The lanes of the whole row give a first threshold, below which nothing has to be sorted.
    Eight first(Order::least - 1);
    first.offer(lanes);
    Eight eighth(first.lowest() - 1);
    for (std::size_t block = 0; block < blocks.number; ++block) eighth.offer(maxima[block]);
    const std::int32_t least = std::max(eighth.lowest(), Order::least);
    if (least != eighth.lowest() && !std::is_same_v<Order, ByRank>) return false;
    std::int32_t surpass = least - 1;  // later elements have to: of equals the earlier ranks higher
    for (std::size_t block = 0; block < blocks.number; ++block) {
        if (!_mm512_cmpgt_epi32_mask(maxima[block], all(surpass))) continue;
        for (std::size_t k = blocks.begin(block); k < blocks.end(block); k += width) {
            unsigned left = _mm512_cmpgt_epi32_mask(Order::order(blocks.at(k)), all(surpass));
            for (; left; left &= left - 1) {
                const std::size_t position = k + static_cast<unsigned>(std::countr_zero(left));
                const std::int32_t rank = rank_of(load<std::uint32_t>(blocks.row + 4 * position));
                best.offer(rank, position);
            }
            surpass = std::max(surpass, best.lowest() - Order::apart);
        }
    }
    return true;
}

}  // namespace

bool avx512_top8(const std::byte* row, std::size_t count, std::uint32_t* largest) {
    if (!has_avx512() || count < width) return false;
    const Blocks blocks(row, count);
    Slots best;
    if (!top8_by<ByBits>(blocks, best)) {
        best = Slots();
        top8_by<ByRank>(blocks, best);
    }
    best.write(row, largest);
    return true;
}

namespace {

// For each value of six bits, a bit for each byte of a key: clear if no key has those bits there.
// Bits 6 and 7 of the last byte are left out with the sign, so that both zeros are found.
struct KeyBits {
    alignas(64) std::uint8_t missing[64];
    explicit KeyBits(const std::uint32_t* keys) {
        std::fill(std::begin(missing), std::end(missing), std::uint8_t{0x0f});
        for (std::size_t n = 0; n < slots; ++n)
            for (unsigned byte = 0; byte < 4; ++byte)
                missing[keys[n] >> 8 * byte & 0x3f] &= static_cast<std::uint8_t>(~(1u << byte));
    }
};

LANEWISE_AVX512_VBMI __attribute__((always_inline)) inline __mmask16 candidates(Vector bits,
                                                                               Vector missing) {
    return _mm512_testn_epi32_mask(_mm512_permutexvar_epi8(bits, missing), all(0x0804'0201));
}

LANEWISE_AVX512_INLINE __mmask16 equal_to_any(Vector bits, const std::uint32_t* keys) {
    const __mmask16 zero = _mm512_cmpneq_epi32_mask(bits, all(INT32_MIN));
    const Vector unsigned_zero = _mm512_maskz_mov_epi32(zero, bits);
    __mmask16 found = 0;
    for (std::size_t n = 0; n < slots; ++n)
        found |= _mm512_cmpeq_epi32_mask(unsigned_zero, all(static_cast<std::int32_t>(keys[n])));
    return found;
}

LANEWISE_AVX512_VBMI std::size_t find_key(const std::byte* elements, std::size_t count,
                                          const std::uint32_t* keys) {
    const KeyBits table(keys);
    const Vector missing = _mm512_load_si512(table.missing);
    for (std::size_t k = 0; k < count;) {
        if (k + 4 * width <= count) {
            __mmask16 any = 0;
            for (std::size_t i = 0; i < 4; ++i)
                any |= candidates(_mm512_loadu_si512(elements + 4 * (k + i * width)), missing);
            if (!any) {
                k += 4 * width;
                continue;
            }
        }
        // Where something may be equal, or near the end: one vector after the other, exactly.
        const std::size_t stop = std::min(k + 4 * width, count);
        for (; k < stop; k += width) {
            const __mmask16 lanes = first_lanes(count - k);
            const Vector bits = _mm512_maskz_loadu_epi32(lanes, elements + 4 * k);
            const unsigned found = equal_to_any(bits, keys) & lanes;
            if (found) return k + static_cast<unsigned>(std::countr_zero(found));
        }
    }
    return count;
}

}  // namespace

bool can_find_keys() {
    static const bool found = has_avx512() && __builtin_cpu_supports("avx512vbmi");
    return found;
}

std::size_t avx512_find_key(const std::byte* elements, std::size_t count,
                            const std::uint32_t* keys) {
    return find_key(elements, count, keys);
}

}  // namespace lanewise

#else

namespace lanewise {

bool avx512_top8(const std::byte*, std::size_t, std::uint32_t*) { return false; }
bool can_find_keys() { return false; }
std::size_t avx512_find_key(const std::byte*, std::size_t count, const std::uint32_t*) {
    return count;
}

}  // namespace lanewise

#endif
