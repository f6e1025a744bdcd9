#include "avx512.hpp"

#include <cstdlib>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include "avx512_sources.hpp"
#include "avx512_targets.hpp"

namespace lanewise {
namespace {

template <typename To>
LANEWISE_AVX512_INLINE void store_some(const To& encode, Numbers numbers, std::byte* to,
                                       __mmask32 mask) {
    if constexpr (To::size == 1) {
        const typename To::Packed packed = encode.pack(numbers);
        const Vector bytes = encode.bytes(packed, packed);
        _mm256_mask_storeu_epi8(to, mask, _mm512_castsi512_si256(bytes));
    } else {
        _mm512_mask_storeu_epi16(to, mask, encode.codes(numbers));
    }
}

template <typename From, typename To>
LANEWISE_AVX512 void convert(const Conversion& conversion, ConstRows from, Rows to,
                             std::size_t rows, std::size_t columns) {
    const To encode(conversion);
    constexpr std::size_t together = To::size == 1 ? 2 * lanes : lanes;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* in = from.first + row * from.pitch;
        std::byte* out = to.first + row * to.pitch;
        std::size_t k = 0;
        for (; k + together <= columns; k += together) {
            const Numbers numbers = From::all(in + k * From::size);
            if constexpr (To::size == 1) {
                const Numbers more = From::all(in + (k + lanes) * From::size);
                _mm512_storeu_si512(out + k, encode.bytes(encode.pack(numbers), encode.pack(more)));
            } else {
                _mm512_storeu_si512(out + 2 * k, encode.codes(numbers));
            }
        }
        for (; k < columns; k += lanes) {
            const __mmask32 mask = mask_of(columns - k);
            store_some(encode, From::some(in + k * From::size, mask), out + k * To::size, mask);
        }
    }
}

template <typename From>
LANEWISE_AVX512 void widen(const Conversion&, ConstRows from, Rows to, std::size_t rows,
                           std::size_t columns) {
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::ptrdiff_t>(r);
        const std::byte* in = from.first + row * from.pitch;
        std::byte* out = to.first + row * to.pitch;
        std::size_t k = 0;
        for (; k + lanes <= columns; k += lanes) {
            Numbers numbers = From::all(in + k * From::size);
            if constexpr (From::has_nan)
                numbers = {ToFp32::quieted(numbers.first), ToFp32::quieted(numbers.second)};
            _mm512_storeu_ps(out + 4 * k, numbers.first);
            _mm512_storeu_ps(out + 4 * k + 64, numbers.second);
        }
        for (; k < columns; k += lanes) {
            const __mmask32 mask = mask_of(columns - k);
            Numbers numbers = From::some(in + k * From::size, mask);
            if constexpr (From::has_nan)
                numbers = {ToFp32::quieted(numbers.first), ToFp32::quieted(numbers.second)};
            _mm512_mask_storeu_ps(out + 4 * k, lower(mask), numbers.first);
            _mm512_mask_storeu_ps(out + 4 * k + 64, upper(mask), numbers.second);
        }
    }
}

bool is_fp16(const Target& target) {
    return target.size == 2 && target.mantissa_bits == 10 && target.bias == 15 &&
           !target.low_zero_bits && target.largest == 0x7bff && target.infinity == 0x7c00;
}

template <typename From>
Conversion::Run to_target(const Conversion& conversion) {
    const Target& target = conversion.target;
    switch (target.kind) {
        case Target::Kind::fp32: return widen<From>;
        case Target::Kind::integer:
            if (target.size == 1)
                return target.to_nearest ? convert<From, ToInteger8<true>>
                                         : convert<From, ToInteger8<false>>;
            if (target.size == 2)
                return target.to_nearest ? convert<From, ToInteger16<true>>
                                         : convert<From, ToInteger16<false>>;
            return nullptr;
        case Target::Kind::floating:
            if (target.bias == 127)
                return target.size == 2 && target.mantissa_bits == 7 ? convert<From, ToUpperHalf>
                                                                     : nullptr;
            if (is_fp16(target)) return convert<From, ToFp16>;
            return target.size == 1 && ToFloat8::fits(target) ? convert<From, ToFloat8> : nullptr;
        default: return nullptr;
    }
}

}  // namespace

bool has_avx512() {
    static const bool found =
        !std::getenv("LANEWISE_PORTABLE") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq");
    return found;
}

Conversion::Run avx512_arithmetic(const Conversion& conversion) {
    if (!has_avx512() || conversion.flip) return nullptr;
    switch (conversion.source) {
        case Conversion::Source::fp32:
            return to_target<FromFp32>(conversion);
        case Conversion::Source::upper_half: return to_target<FromUpperHalf>(conversion);
        case Conversion::Source::fp16: return to_target<FromFp16>(conversion);
        case Conversion::Source::int16: return to_target<FromInt16>(conversion);
        case Conversion::Source::uint16: return to_target<FromUint16>(conversion);
        default: return nullptr;
    }
}

}  // namespace lanewise

#else

namespace lanewise {

bool has_avx512() { return false; }
Conversion::Run avx512_arithmetic(const Conversion&) { return nullptr; }

}  // namespace lanewise

#endif
