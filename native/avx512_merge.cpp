// Merge of rows whose elements are the same few places apart in all operands, for processors with
// AVX-512: what lies between the elements is masked like what the predicate leaves out, so that
// nothing has to be moved inside a vector. Nothing outside the elements is read or written.
#include "avx512.hpp"
#include "rows.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <algorithm>

#include "avx512_lanes.hpp"

namespace lanewise {
namespace {

constexpr std::size_t group = 64;  // places that one mask covers

constexpr std::uint64_t first_bits(std::size_t count) {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// Of a group of places, where the predicate is not zero; only those of `kept` are looked at.
template <typename Truth>
LANEWISE_AVX512_INLINE std::uint64_t truths(const std::byte* where, std::uint64_t kept) {
    if constexpr (sizeof(Truth) == 1) {
        const Vector found = _mm512_maskz_loadu_epi8(kept, where);
        return _mm512_test_epi8_mask(found, found);
    } else if constexpr (sizeof(Truth) == 2) {
        std::uint64_t mask = 0;
        for (unsigned part = 0; part < 64; part += 32) {
            const Vector found =
                _mm512_maskz_loadu_epi16(static_cast<__mmask32>(kept >> part), where + 2 * part);
            mask |= std::uint64_t{_mm512_test_epi16_mask(found, found)} << part;
        }
        return mask;
    } else {
        std::uint64_t mask = 0;
        for (unsigned part = 0; part < 64; part += 16) {
            const Vector found =
                _mm512_maskz_loadu_epi32(static_cast<__mmask16>(kept >> part), where + 4 * part);
            mask |= std::uint64_t{_mm512_test_epi32_mask(found, found)} << part;
        }
        return mask;
    }
}

template <typename Word>
LANEWISE_AVX512_INLINE void move(std::byte* to, const std::byte* from, std::uint64_t mask) {
    if constexpr (sizeof(Word) == 1) {
        _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
    } else if constexpr (sizeof(Word) == 2) {
        for (unsigned part = 0; part < 64; part += 32) {
            const auto some = static_cast<__mmask32>(mask >> part);
            _mm512_mask_storeu_epi16(to + 2 * part, some,
                                     _mm512_maskz_loadu_epi16(some, from + 2 * part));
        }
    } else {
        for (unsigned part = 0; part < 64; part += 16) {
            const auto some = static_cast<__mmask16>(mask >> part);
            _mm512_mask_storeu_epi32(to + 4 * part, some,
                                     _mm512_maskz_loadu_epi32(some, from + 4 * part));
        }
    }
}

template <typename Word, typename Truth>
LANEWISE_AVX512 void merge_every(std::byte* to, const std::byte* from, const std::byte* where,
                                 std::size_t span, std::size_t every) {
    std::uint64_t places = 0;
    for (std::size_t k = 0; k < group; k += every) places |= std::uint64_t{1} << k;
    // The first group ends where a cache line of the destination begins.
    std::size_t count = elements_before_line({to, 0}, span, sizeof(Word));
    if (count == 0) count = group;
    std::size_t next = 0;  // where in a group its first element lies
    for (std::size_t done = 0; done < span; done += count, count = group) {
        count = std::min(count, span - done);
        const std::uint64_t kept = places << next & first_bits(count);
        const std::uint64_t mask = truths<Truth>(where + done * sizeof(Truth), kept);
        move<Word>(to + done * sizeof(Word), from + done * sizeof(Word), mask);
        next = (next + every - count % every) % every;
    }
}

template <typename Word>
auto merge_for(unsigned truth_size) {
    switch (truth_size) {
        case 1: return merge_every<Word, std::uint8_t>;
        case 2: return merge_every<Word, std::uint16_t>;
        default: return merge_every<Word, std::uint32_t>;
    }
}

}  // namespace

bool avx512_merge_every(std::byte* to, const std::byte* from, const std::byte* where,
                        std::size_t span, std::size_t every, unsigned size, unsigned truth_size) {
    if (!has_avx512()) return false;
    switch (size) {
        case 1: merge_for<std::uint8_t>(truth_size)(to, from, where, span, every); break;
        case 2: merge_for<std::uint16_t>(truth_size)(to, from, where, span, every); break;
        default: merge_for<std::uint32_t>(truth_size)(to, from, where, span, every); break;
    }
    return true;
}

}  // namespace lanewise

#else

namespace lanewise {
bool avx512_merge_every(std::byte*, const std::byte*, const std::byte*, std::size_t, std::size_t,
                        unsigned, unsigned) {
    return false;
}
}  // namespace lanewise

#endif
