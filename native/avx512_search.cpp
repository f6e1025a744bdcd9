// Searches along a row for processors with AVX-512: one pass that finds where to look.
#include "avx512.hpp"
#include "slots.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <algorithm>
#include <array>
#include <bit>

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

// Numbers in an order of signed integers. The bits themselves are in order from the smallest
// positive number to infinity; flipping negative ones gives an order of all numbers but zeros, of
// which one comes before the other; the rank of fp32.hpp costs most and tells all apart.
//
// What is below `least` is never wanted, and above `most` are NaNs. `tells_apart` is whether the
// elements from `value` on are all that there are from the same number on.
struct ByBits {
    static constexpr std::int32_t least = 1;
    static constexpr std::int32_t most = 0x7f80'0000;

    LANEWISE_AVX512_INLINE static Vector order(Vector bits) { return bits; }
    static bool tells_apart(std::int32_t value) { return value >= least; }
    static std::int32_t of_rank(std::int32_t rank) { return rank - rank_of_zero; }
};

struct ByFlippedBits {
    static constexpr std::int32_t least = INT32_MIN + 0x7f'ffff + 1;  // minus infinity is below
    static constexpr std::int32_t most = 0x7f80'0000;

    LANEWISE_AVX512_INLINE static Vector order(Vector bits) {
        // bits ^ (negative & magnitude)
        return _mm512_ternarylogic_epi32(bits, _mm512_srai_epi32(bits, 31), all(0x7fff'ffff), 0x78);
    }
    static bool tells_apart(std::int32_t value) { return value >= least && value != 0 && value != -1; }
    static std::int32_t of_rank(std::int32_t rank) {
        return rank - rank_of_zero - (rank < rank_of_zero ? 1 : 0);
    }
};

struct ByRank {
    static constexpr std::int32_t least = rank_of_minus_infinity + 1;
    static constexpr std::int32_t most = INT32_MAX;

    LANEWISE_AVX512_INLINE static Vector order(Vector bits) {
        const Vector negative = _mm512_srai_epi32(bits, 31);
        // (bits & magnitude) ^ negative
        const Vector flipped = _mm512_ternarylogic_epi32(bits, negative, all(0x7fff'ffff), 0x6c);
        return _mm512_add_epi32(_mm512_sub_epi32(flipped, negative), all(rank_of_zero));
    }
    static bool tells_apart(std::int32_t) { return true; }
    static std::int32_t of_rank(std::int32_t rank) { return rank; }
};

// A row in blocks of whole vectors; what is missing in a vector is minus infinity.
struct Blocks {
    const std::byte* row;
    std::size_t count, length, number;  // elements; vectors a block; blocks
    std::size_t short_by;  // what the first block lacks, so that the others begin cache lines

    Blocks(const std::byte* row, std::size_t count) : row(row), count(count) {
        const std::size_t head = elements_before_line({row, 0}, count, 4);
        short_by = head ? width - head : 0;
        const std::size_t vectors = (count + short_by + width - 1) / width;
        length = std::max<std::size_t>((vectors + most_blocks - 1) / most_blocks, 4);
        number = (vectors + length - 1) / length;
    }
    std::size_t begin(std::size_t block) const {
        return block ? block * length * width - short_by : 0;
    }
    std::size_t end(std::size_t block) const { return std::min(begin(block + 1), count); }
    // Elements from `k` on, of which a block has no more than those before `end`.
    LANEWISE_AVX512_INLINE Vector at(std::size_t k, std::size_t end) const {
        return _mm512_mask_loadu_epi32(all(static_cast<std::int32_t>(minus_infinity)),
                                       first_lanes(end - k), row + 4 * k);
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
    for (; k < end; k += width) best[0] = _mm512_max_epi32(best[0], Order::order(blocks.at(k, end)));
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

// How many of 16 values are greater than each, or as great and in an earlier lane.
LANEWISE_AVX512_INLINE Vector places_of(Vector values) {
    Vector places = _mm512_setzero_si512();
    for (unsigned lane = 0; lane < width; ++lane) {
        const Vector one = _mm512_permutexvar_epi32(all(static_cast<std::int32_t>(lane)), values);
        const auto later = static_cast<__mmask16>(0xfffe << lane);
        const auto before = static_cast<__mmask16>(
            _mm512_cmpgt_epi32_mask(one, values) |
            (_mm512_cmpeq_epi32_mask(one, values) & later));
        places = _mm512_mask_add_epi32(places, before, places, all(1));
    }
    return places;
}

LANEWISE_AVX512_INLINE std::int32_t eighth_largest(Vector values) {
    return _mm512_mask_reduce_min_epi32(_mm512_cmplt_epi32_mask(places_of(values), all(slots)),
                                        values);
}

// Maxima of the lanes of blocks, and of the lanes of the row.
template <typename Order>
struct Maxima {
    Vector of_block[most_blocks], of_row;

    LANEWISE_AVX512_INLINE explicit Maxima(const Blocks& blocks) : of_row(all(INT32_MIN)) {
        for (std::size_t block = 0; block < blocks.number; ++block) {
            of_block[block] = maximum<Order>(blocks, block);
            of_row = _mm512_max_epi32(of_row, of_block[block]);
        }
    }
};

// Eight elements at least reach the eighth largest maximum of a lane of a block, and all that do
// are in the few lanes of blocks whose maximum does, whatever the order of the row.
//
// This way has few branches that depend on the data. It gives up, with false, where more than 16
// maxima, or elements, reach the thresholds.
template <typename Order>
LANEWISE_AVX512_INLINE bool few(const Blocks& blocks, const Maxima<Order>& maxima,
                                std::uint32_t* largest) {
    // The lanes of the whole row give a first threshold.
    const std::int32_t first = eighth_largest(maxima.of_row);
    if (first < Order::least) return false;
    std::int32_t value[most_blocks * width + width];
    std::int32_t place[most_blocks * width + width];
    std::size_t number = 0;
    for (std::size_t block = 0; block < blocks.number; ++block) {
        const __mmask16 reach = _mm512_cmpge_epi32_mask(maxima.of_block[block], all(first));
        _mm512_storeu_si512(value + number,
                            _mm512_maskz_compress_epi32(reach, maxima.of_block[block]));
        _mm512_storeu_si512(place + number, all(static_cast<std::int32_t>(block)));
        number += static_cast<unsigned>(std::popcount<unsigned>(reach));
    }
    if (number > width) return false;
    const Vector values = _mm512_mask_loadu_epi32(all(INT32_MIN), first_lanes(number), value);
    const std::int32_t least = eighth_largest(values);
    if (!Order::tells_apart(least)) return false;
    std::uint32_t bits[2 * width];
    std::size_t found = 0;
    std::int32_t before = -1;
    for (unsigned left = _mm512_cmpge_epi32_mask(values, all(least)); left; left &= left - 1) {
        const std::int32_t block = place[std::countr_zero(left)];
        if (block == before) continue;
        before = block;
        const auto index = static_cast<std::size_t>(block);
        const std::size_t end = blocks.end(index);
        for (std::size_t k = blocks.begin(index); k < end; k += width) {
            const Vector here = blocks.at(k, end);
            const __mmask16 reach = _mm512_cmpge_epi32_mask(Order::order(here), all(least));
            if (!reach) continue;
            _mm512_storeu_si512(bits + found, _mm512_maskz_compress_epi32(reach, here));
            found += static_cast<unsigned>(std::popcount<unsigned>(reach));
            if (found > width) return false;
        }
    }
    const Vector elements = _mm512_maskz_loadu_epi32(first_lanes(found), bits);
    const Vector ranks = _mm512_mask_mov_epi32(all(INT32_MIN), first_lanes(found),
                                               ByRank::order(elements));
    std::uint32_t places[width], sorted[width];
    _mm512_storeu_si512(places, places_of(ranks));
    for (std::size_t n = 0; n < width; ++n) sorted[places[n]] = bits[n];
    for (std::size_t n = 0; n < slots; ++n) largest[slots - 1 - n] = sorted[n];
    return true;
}

// Any number of equal or nearly sorted elements. False where the order does not tell the eight
// largest apart.
template <typename Order>
LANEWISE_AVX512 bool many(const Blocks& blocks, const Maxima<Order>& maxima, Slots& best) {
    Eight first(Order::least - 1);
    first.offer(maxima.of_row);
    Eight eighth(first.lowest() - 1);
    for (std::size_t block = 0; block < blocks.number; ++block)
        eighth.offer(maxima.of_block[block]);
    if (!Order::tells_apart(eighth.lowest())) return false;
    const std::int32_t least = std::max(eighth.lowest(), Order::least);
    std::int32_t surpass = least - 1;  // later elements have to: of equals the earlier ranks higher
    for (std::size_t block = 0; block < blocks.number; ++block) {
        if (!_mm512_cmpgt_epi32_mask(maxima.of_block[block], all(surpass))) continue;
        const std::size_t end = blocks.end(block);
        for (std::size_t k = blocks.begin(block); k < end; k += width) {
            unsigned left =
                _mm512_cmpgt_epi32_mask(Order::order(blocks.at(k, end)), all(surpass));
            for (; left; left &= left - 1) {
                const std::size_t position = k + static_cast<unsigned>(std::countr_zero(left));
                const std::int32_t rank = rank_of(load<std::uint32_t>(blocks.row + 4 * position));
                best.offer(rank, position);
            }
            if (best.lowest() > rank_of_minus_infinity)
                surpass = std::max(surpass, Order::of_rank(best.lowest()));
        }
    }
    return true;
}

template <typename Order>
LANEWISE_AVX512 bool top8_by(const Blocks& blocks, std::uint32_t* largest) {
    const Maxima<Order> maxima(blocks);
    if (_mm512_cmpgt_epi32_mask(maxima.of_row, all(Order::most))) return false;
    if (few(blocks, maxima, largest)) return true;
    Slots best;
    if (!many(blocks, maxima, best)) return false;
    best.write(blocks.row, largest);
    return true;
}

LANEWISE_AVX512 bool top8(const std::byte* row, std::size_t count, std::uint32_t* largest) {
    const Blocks blocks(row, count);
    // Where the row begins with few positive numbers, the bits alone will hardly do.
    const auto positive = _mm512_cmpgt_epi32_mask(maximum<ByBits>(blocks, 0), all(0));
    return (std::popcount<unsigned>(positive) >= static_cast<int>(slots) && top8_by<ByBits>(blocks, largest)) ||
           top8_by<ByFlippedBits>(blocks, largest) || top8_by<ByRank>(blocks, largest);
}

// A row of one vector: every element is compared with every other.
LANEWISE_AVX512 void top8_of_vector(const std::byte* row, std::size_t count,
                                    std::uint32_t* largest) {
    const __mmask16 lanes = first_lanes(count);
    const Vector bits = _mm512_maskz_loadu_epi32(lanes, row);
    const Vector ranks = _mm512_mask_mov_epi32(all(INT32_MIN), lanes, ByRank::order(bits));
    // Nothing replaces the minus infinity of a slot but what is greater.
    const __mmask16 greater = _mm512_cmpge_epi32_mask(ranks, all(ByRank::least));
    const Vector wanted = _mm512_mask_mov_epi32(all(static_cast<std::int32_t>(minus_infinity)),
                                                greater, bits);
    std::uint32_t places[width], values[width], sorted[width];
    _mm512_storeu_si512(places, places_of(ranks));
    _mm512_storeu_si512(values, wanted);
    for (std::size_t n = 0; n < width; ++n) sorted[places[n]] = values[n];
    for (std::size_t n = 0; n < slots; ++n) largest[slots - 1 - n] = sorted[n];
}

}  // namespace

bool avx512_top8(const std::byte* row, std::size_t count, std::uint32_t* largest) {
    if (!has_avx512()) return false;
    if (count > width) return top8(row, count, largest);
    top8_of_vector(row, count, largest);
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
    std::size_t k = elements_before_line({elements, 0}, count, 4);
    if (k) {
        const unsigned found = equal_to_any(_mm512_loadu_si512(elements), keys);
        if (found) return static_cast<unsigned>(std::countr_zero(found));
    }
    while (k < count) {
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
