// Tables of 256 entries held in registers, for processors with AVX-512.
#include "avx512.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include "avx512_lanes.hpp"

namespace lanewise {
namespace {

// 256 entries of 16 bits, 32 a vector.
struct Table {
    Vector part[8];

    // The entries that 8-bit codes in 16-bit lanes name.
    LANEWISE_AVX512_INLINE Vector operator[](Vector codes) const {
        const __mmask32 upper = _mm512_test_epi16_mask(codes, _mm512_set1_epi16(0x40));
        const __mmask32 last = _mm512_test_epi16_mask(codes, _mm512_set1_epi16(0x80));
        const Vector low = _mm512_mask_blend_epi16(
            upper, _mm512_permutex2var_epi16(part[0], codes, part[1]),
            _mm512_permutex2var_epi16(part[2], codes, part[3]));
        const Vector high = _mm512_mask_blend_epi16(
            upper, _mm512_permutex2var_epi16(part[4], codes, part[5]),
            _mm512_permutex2var_epi16(part[6], codes, part[7]));
        return _mm512_mask_blend_epi16(last, low, high);
    }
};

LANEWISE_AVX512_INLINE Vector codes_at(const std::byte* from, __mmask32 mask) {
    return _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(mask, from));
}

LANEWISE_AVX512 void to_1(const Conversion& conversion, ConstRows from, Rows to, std::size_t rows,
                          std::size_t columns) {
    Table table;
    for (std::size_t i = 0; i < 8; ++i)
        table.part[i] = codes_at(conversion.table + i * lanes, ~0u);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* in = from.first + row * from.pitch;
        std::byte* out = to.first + row * to.pitch;
        for (std::size_t k = 0; k < columns; k += lanes) {
            const __mmask32 mask = mask_of(columns - k);
            const Vector entries = table[codes_at(in + k, mask)];
            _mm256_mask_storeu_epi8(out + k, mask, _mm512_cvtepi16_epi8(entries));
        }
    }
}

LANEWISE_AVX512 void to_2(const Conversion& conversion, ConstRows from, Rows to, std::size_t rows,
                          std::size_t columns) {
    Table table;
    for (std::size_t i = 0; i < 8; ++i)
        table.part[i] = _mm512_loadu_si512(conversion.table + 2 * i * lanes);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* in = from.first + row * from.pitch;
        std::byte* out = to.first + row * to.pitch;
        for (std::size_t k = 0; k < columns; k += lanes) {
            const __mmask32 mask = mask_of(columns - k);
            _mm512_mask_storeu_epi16(out + 2 * k, mask, table[codes_at(in + k, mask)]);
        }
    }
}

// Entries of 32 bits are two tables of halves; where the low halves are all zero, as in FP32
// numbers of few bits, there is but one.
template <bool has_low>
LANEWISE_AVX512_INLINE void to_4(const Table& low_table, const Table& high_table, ConstRows from,
                                 Rows to, std::size_t rows, std::size_t columns) {
    const Vector first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const Vector second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* in = from.first + row * from.pitch;
        std::byte* out = to.first + row * to.pitch;
        for (std::size_t k = 0; k < columns; k += lanes) {
            const __mmask32 mask = mask_of(columns - k);
            const Vector codes = codes_at(in + k, mask);
            const Vector high = high_table[codes];
            const Vector low = has_low ? low_table[codes] : _mm512_setzero_si512();
            // The unpacking instructions work on quarters, so those are put in order.
            const Vector even = _mm512_unpacklo_epi16(low, high);
            const Vector odd = _mm512_unpackhi_epi16(low, high);
            _mm512_mask_storeu_epi32(out + 4 * k, static_cast<__mmask16>(mask),
                                     _mm512_permutex2var_epi64(even, first, odd));
            _mm512_mask_storeu_epi32(out + 4 * k + 64, static_cast<__mmask16>(mask >> 16),
                                     _mm512_permutex2var_epi64(even, second, odd));
        }
    }
}

LANEWISE_AVX512_INLINE Vector packed(Vector one, Vector other) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(one)),
                              _mm512_cvtepi32_epi16(other), 1);
}

LANEWISE_AVX512 void to_4_of_halves(const Conversion& conversion, ConstRows from, Rows to,
                                    std::size_t rows, std::size_t columns) {
    Table low, high;
    Vector any = _mm512_setzero_si512();
    for (std::size_t i = 0; i < 8; ++i) {
        const Vector a = _mm512_loadu_si512(conversion.table + 4 * i * lanes);
        const Vector b = _mm512_loadu_si512(conversion.table + 4 * i * lanes + 64);
        low.part[i] = packed(a, b);
        high.part[i] = packed(_mm512_srli_epi32(a, 16), _mm512_srli_epi32(b, 16));
        any = _mm512_or_si512(any, low.part[i]);
    }
    if (_mm512_test_epi16_mask(any, any))
        to_4<true>(low, high, from, to, rows, columns);
    else
        to_4<false>(low, high, from, to, rows, columns);
}

}  // namespace

Conversion::Run avx512_look_up(const Conversion& conversion) {
    if (!has_avx512() || conversion.from_size != 1) return nullptr;
    switch (conversion.to_size) {
        case 1: return to_1;
        case 2: return to_2;
        default: return to_4_of_halves;
    }
}

}  // namespace lanewise

#else

namespace lanewise {
Conversion::Run avx512_look_up(const Conversion&) { return nullptr; }
}  // namespace lanewise

#endif
