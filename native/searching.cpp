// Steps that search along a row: top-8, find-8, match and replace, positions of non-zeros.
#include <algorithm>
#include <array>
#include <vector>

#include "fp32.hpp"
#include "search.hpp"
#include "step.hpp"

namespace lanewise {
namespace {

constexpr std::size_t long_piece = 4096;  // where a row lies packed and nothing is gathered

template <std::size_t size>
using Buffer = std::array<std::byte, size>;

class RowSearch : public Step {
   public:
    RowSearch(const Walk& destination, const Walk& source, const Conversion& to_hub)
        : destination_(destination), source_(source, destination), to_hub_(to_hub) {}
    void begin() override { source_.begin(); }
    std::size_t rows() const override { return source_.walk().rows; }
    std::size_t elements() const override { return rows() * source_.walk().count; }

   protected:
    std::size_t count() const { return source_.walk().count; }

    // FP32 bits of `count` codes: where they lie, or in `hub`.
    const std::byte* hub(const std::byte* codes, std::byte* scratch, std::size_t count) const {
        if (to_hub_.keeps_fp32()) return codes;
        to_hub_.run({codes, 0}, {scratch, 0}, 1, count);
        return scratch;
    }

    Walk destination_;
    Source source_;
    Conversion to_hub_;
};

class Top8 final : public RowSearch {
   public:
    Top8(const Walk& destination, const Walk& source, const Conversion& to_hub,
         const Conversion& from_hub)
        : RowSearch(destination, source, to_hub), from_hub_(from_hub) {}

    void run(std::size_t first, std::size_t last) override {
        std::vector<std::byte> codes, values;
        if (!source_.direct()) codes.resize(count() * source_.walk().size);
        if (!to_hub_.keeps_fp32()) values.resize(count() * 4);
        for (std::size_t row = first; row < last; ++row) {
            Cursor from(source_.walk(), row), to(destination_, row);
            const std::byte* row_codes = source_.take(from, count(), codes.data());
            std::uint32_t largest[slots];
            top8_row(hub(row_codes, values.data(), count()), count(), largest);
            alignas(8) std::byte encoded[4 * slots];
            from_hub_.run({reinterpret_cast<const std::byte*>(largest), 0}, {encoded, 0}, 1, slots);
            to.put(encoded, slots);
        }
    }

   private:
    Conversion from_hub_;
};

// What the two searches for keys share: a row goes through Find8 in pieces.
class KeySearch : public RowSearch {
   public:
    KeySearch(const Walk& destination, const Walk& source, const Conversion& to_hub, Keys keys)
        : RowSearch(destination, source, to_hub), keys_(keys) {}

   protected:
    Find8 start(std::size_t row) const {
        std::uint32_t keys[slots];
        const auto index = static_cast<std::ptrdiff_t>(row);
        std::memcpy(keys, keys_.keys + index * keys_.keys_pitch, sizeof keys);
        return {keys, matched(row)};
    }

    void finish(std::size_t row, const Find8& search) const {
        for (std::size_t slot = 0; slot < slots; ++slot)
            if (search.found(slot) != Find8::missed) matched(row)[slot] = 1;
    }

    std::size_t piece_size() const { return source_.direct() ? long_piece : piece; }

   private:
    std::uint8_t* matched(std::size_t row) const {
        return reinterpret_cast<std::uint8_t*>(keys_.matched) +
               static_cast<std::ptrdiff_t>(row) * keys_.matched_pitch;
    }

    Keys keys_;
};

class FindStep final : public KeySearch {
   public:
    using KeySearch::KeySearch;

    void run(std::size_t first, std::size_t last) override {
        alignas(64) Buffer<4 * piece> in;
        alignas(64) Buffer<4 * long_piece> values;
        for (std::size_t row = first; row < last; ++row) {
            Find8 search = start(row);
            Cursor from(source_.walk(), row);
            for (std::size_t k = 0; k < count() && !search.done();) {
                const std::size_t length = std::min(piece_size(), count() - k);
                const std::byte* codes = source_.take(from, length, in.data());
                search.scan(hub(codes, values.data(), length), length);
                k += length;
            }
            std::byte found[4 * slots];
            for (std::size_t slot = 0; slot < slots; ++slot) {
                const auto position = static_cast<std::uint32_t>(search.found(slot));
                std::memcpy(found + slot * destination_.size, &position, destination_.size);
            }
            Cursor(destination_, row).put(found, slots);
            finish(row, search);
        }
    }
};

class Replace final : public KeySearch {
   public:
    Replace(const Walk& destination, const Walk& source, const Conversion& to_hub,
            const Conversion& from_hub, std::uint32_t replacement, Keys keys, PerRow indices)
        : KeySearch(destination, source, to_hub, keys),
          from_hub_(from_hub),
          replacement_(replacement),
          indices_(indices) {}

    void run(std::size_t first, std::size_t last) override {
        alignas(64) Buffer<4 * piece> in;
        alignas(64) Buffer<4 * long_piece> values, out;
        for (std::size_t row = first; row < last; ++row) {
            Find8 search = start(row);
            Cursor from(source_.walk(), row), to(destination_, row);
            for (std::size_t k = 0; k < count();) {
                const std::size_t length = std::min(piece_size(), count() - k);
                const std::byte* codes = source_.take(from, length, in.data());
                const std::byte* numbers = hub(codes, values.data(), length);
                search.scan(numbers, length);
                std::byte* place = to.direct();
                std::byte* results = place ? place : out.data();
                from_hub_.run({numbers, 0}, {results, 0}, 1, length);
                patch(search, k, length, results);
                place ? to.skip(length) : to.put(results, length);
                k += length;
            }
            for (std::size_t slot = 0; slot < slots; ++slot) {
                const auto position = static_cast<std::uint32_t>(search.found(slot));
                std::memcpy(const_cast<std::byte*>(indices_.first) +
                                static_cast<std::ptrdiff_t>(row) * indices_.pitch + 4 * slot,
                            &position, 4);
            }
            finish(row, search);
        }
    }

   private:
    void patch(const Find8& search, std::size_t from, std::size_t count, std::byte* results) const {
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const auto position = static_cast<std::size_t>(search.found(slot));
            if (search.found(slot) != Find8::missed && position - from < count)
                std::memcpy(results + (position - from) * destination_.size, &replacement_,
                            destination_.size);
        }
    }

    Conversion from_hub_;
    std::uint32_t replacement_;
    PerRow indices_;
};

// Which elements have a bit of the mask set, as bytes 0 or 1; with `skip_nan` FP32 NaNs have not.
LANEWISE_MULTIVERSION void nonzero_mask(std::byte* truth, const std::byte* elements,
                                        std::size_t count, std::uint32_t mask, bool skip_nan) {
    const std::uint32_t most = skip_nan ? infinity_bits : ~0u;
    for (std::size_t k = 0; k < count; ++k) {
        const auto bits = load<std::uint32_t>(elements + 4 * k);
        const bool number = (bits & magnitude_bits) <= most;
        truth[k] = static_cast<std::byte>(((bits & mask) != 0 ? 1 : 0) & (number ? 1 : 0));
    }
}

class Nonzero final : public Step {
   public:
    Nonzero(const Walk& destination, const Walk& source, PerRow offset, PerRow padding,
            std::uint32_t mask, bool skip_nan)
        : destination_(destination),
          source_(source, destination),
          offset_(offset),
          padding_(padding),
          mask_(mask),
          skip_nan_(skip_nan) {}

    void begin() override { source_.begin(); }
    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        const std::size_t count = source_.walk().count;
        std::vector<std::uint32_t> results(count + 1);
        alignas(64) Buffer<4 * piece> in;
        alignas(64) Buffer<piece> truth;
        for (std::size_t row = first; row < last; ++row) {
            Cursor from(source_.walk(), row);
            const std::uint32_t offset = offset_.at(row), padding = padding_.at(row);
            std::size_t found = 0;
            for (std::size_t k = 0; k < count; k += piece) {
                const std::size_t length = std::min(piece, count - k);
                const std::byte* codes = source_.take(from, length, in.data());
                nonzero_mask(truth.data(), codes, length, mask_, skip_nan_);
                for (std::size_t i = 0; i < length; ++i) {
                    // Stored always and kept only when counted: no branch on the data.
                    results[found] = static_cast<std::uint32_t>(k + i) + offset;
                    found += static_cast<std::size_t>(truth[i]);
                }
            }
            std::fill(results.begin() + static_cast<std::ptrdiff_t>(found), results.end() - 1,
                      padding);
            results[count] = static_cast<std::uint32_t>(found);
            Cursor(destination_, row)
                .put(reinterpret_cast<const std::byte*>(results.data()), count + 1);
        }
    }

   private:
    Walk destination_;
    Source source_;
    PerRow offset_, padding_;
    std::uint32_t mask_;
    bool skip_nan_;
};

}  // namespace

std::unique_ptr<Step> top8_step(const Walk& destination, const Walk& source,
                                const Conversion& to_hub, const Conversion& from_hub) {
    return std::make_unique<Top8>(destination, source, to_hub, from_hub);
}

std::unique_ptr<Step> find8_step(const Walk& destination, const Walk& source,
                                 const Conversion& to_hub, Keys keys) {
    return std::make_unique<FindStep>(destination, source, to_hub, keys);
}

std::unique_ptr<Step> replace8_step(const Walk& destination, const Walk& source,
                                    const Conversion& to_hub, const Conversion& from_hub,
                                    std::uint32_t replacement, Keys keys, PerRow indices) {
    return std::make_unique<Replace>(destination, source, to_hub, from_hub, replacement, keys,
                                     indices);
}

std::unique_ptr<Step> nonzero_step(const Walk& destination, const Walk& source, PerRow offset,
                                   PerRow padding, std::uint32_t mask, bool skip_nan) {
    return std::make_unique<Nonzero>(destination, source, offset, padding, mask, skip_nan);
}

}  // namespace lanewise
