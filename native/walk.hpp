// Access patterns over rows, and a cursor that follows one row of such a pattern.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace lanewise {

// Elements that a kernel works on at a time where a row has to be gathered first: a handful of
// such pieces stays in the first-level cache.
inline constexpr std::size_t piece = 512;
inline constexpr int most_dimensions = 4;

// A part of a row's walk: `repeats` runs of `length` elements. Steps are in bytes.
struct Part {
    std::ptrdiff_t offset;  // of the first element in the row
    std::ptrdiff_t step;
    std::size_t length;
    std::ptrdiff_t outer_step;
    std::size_t repeats;

    std::size_t count() const { return length * repeats; }
};

// Elements of one row to and from packed ones (strided.cpp).
void gather(const std::byte* row, const Part& part, std::byte* packed, unsigned size);
void scatter(std::byte* row, const Part& part, const std::byte* packed, unsigned size);
// Only where the byte of `mask` is not 0; one element after the other, so that of several
// elements with one place the last that is written stays.
void scatter_where(std::byte* row, const Part& part, const std::byte* packed,
                   const std::byte* mask, unsigned size);

// Rows `pitch` bytes apart; in each, up to four dimensions of (step in bytes, num), innermost
// first. Element k has the indices k mod num[0], k / num[0] mod num[1], …
struct Walk {
    std::byte* base = nullptr;
    std::ptrdiff_t pitch = 0;
    std::size_t rows = 0;
    std::size_t count = 0;  // elements a row
    unsigned size = 1;      // bytes an element
    int dimensions = 1;
    std::array<std::ptrdiff_t, most_dimensions> step{};
    std::array<std::size_t, most_dimensions> num{};

    bool unit() const { return dimensions == 1 && (num[0] < 2 || step[0] == size); }
    std::byte* row(std::size_t index) const {
        return base + static_cast<std::ptrdiff_t>(index) * pitch;
    }
    std::size_t bytes() const { return count * size; }

    // Drops dimensions of one element and joins neighbours that continue each other.
    void simplify() {
        int kept = 0;
        for (int d = 0; d < dimensions; ++d) {
            if (num[d] == 1) continue;
            if (kept && step[d] == step[kept - 1] * static_cast<std::ptrdiff_t>(num[kept - 1])) {
                num[kept - 1] *= num[d];
                continue;
            }
            step[kept] = step[d];
            num[kept++] = num[d];
        }
        if (kept == 0) {
            step[0] = size;
            num[0] = 1;
            kept = 1;
        }
        dimensions = kept;
    }

    // Offsets in a row of the lowest byte and of the one past the highest; for count > 0.
    std::pair<std::ptrdiff_t, std::ptrdiff_t> extent() const {
        std::ptrdiff_t low = 0, high = size;
        for (int d = 0; d < dimensions; ++d) {
            const auto reach = step[d] * static_cast<std::ptrdiff_t>(num[d] - 1);
            (reach < 0 ? low : high) += reach;
        }
        return {low, high};
    }

    // Whether no two elements of a row can share a place (sufficient, not necessary).
    bool injective() const {
        // Dimensions from the shortest step to the longest; each has to step over the ones before.
        std::ptrdiff_t reach = 0, before = -1;
        int left = 0;
        for (int d = 0; d < dimensions; ++d) left += num[d] > 1;
        while (left > 0) {
            std::ptrdiff_t least = PTRDIFF_MAX, span = 0;
            for (int d = 0; d < dimensions; ++d) {
                const std::ptrdiff_t distance = step[d] < 0 ? -step[d] : step[d];
                if (num[d] < 2 || distance <= before || distance >= least) continue;
                least = distance;
                span = distance * static_cast<std::ptrdiff_t>(num[d] - 1);
            }
            // Two dimensions of the same step leave none for the last round.
            if (least == PTRDIFF_MAX || least < reach + static_cast<std::ptrdiff_t>(size)) return false;
            reach += span;
            before = least;
            --left;
        }
        return true;
    }

    bool same_places(const Walk& other) const {
        return base == other.base && pitch == other.pitch && rows == other.rows &&
               size == other.size && dimensions == other.dimensions && step == other.step &&
               num == other.num;
    }

    // Whether any byte of one may be a byte of the other. Rows of one memory have the same pitch,
    // so there the extents inside a row decide; otherwise whole blocks are compared.
    bool may_overlap(const Walk& other) const {
        if (!count || !other.count || !rows || !other.rows) return false;
        const auto [low, high] = extent();
        const auto [other_low, other_high] = other.extent();
        const auto span = [](const Walk& walk, std::ptrdiff_t from, std::ptrdiff_t to) {
            const auto last = static_cast<std::ptrdiff_t>(walk.rows - 1) * walk.pitch;
            return std::pair{walk.base + from + std::min<std::ptrdiff_t>(last, 0),
                             walk.base + to + std::max<std::ptrdiff_t>(last, 0)};
        };
        const auto [first, end] = span(*this, low, high);
        const auto [other_first, other_end] = span(other, other_low, other_high);
        if (first >= other_end || other_first >= end) return false;
        if (pitch != other.pitch || pitch <= 0) return true;
        // Where the rows of both begin in a common period of `pitch` bytes.
        const auto apart = (other.base + other_low) - (base + low);
        const auto shift = ((apart % pitch) + pitch) % pitch;
        return shift < high - low || shift + (other_high - other_low) > pitch;
    }
};

// A place in one row of a walk that moves forward as elements are taken from or put to it.
class Cursor {
   public:
    Cursor(const Walk& walk, std::size_t row) : walk_(&walk), row_(walk.row(row)) {}

    // The next `count` elements, packed: in place where they lie so, else gathered to `scratch`.
    const std::byte* take(std::size_t count, std::byte* scratch, bool always_copy = false) {
        if (walk_->unit() && !always_copy) {
            const std::byte* here = row_ + offset_;
            offset_ += static_cast<std::ptrdiff_t>(count * walk_->size);
            return here;
        }
        std::byte* out = scratch;
        parts(count, [&](const Part& part) {
            gather(row_, part, out, walk_->size);
            out += part.count() * walk_->size;
        });
        return scratch;
    }

    // Where the next elements may be written directly, or null if they have to be put.
    std::byte* direct() const { return walk_->unit() ? row_ + offset_ : nullptr; }
    void skip(std::size_t count) {
        parts(count, [](const Part&) {});
    }

    void put(const std::byte* packed, std::size_t count) {
        parts(count, [&](const Part& part) {
            scatter(row_, part, packed, walk_->size);
            packed += part.count() * walk_->size;
        });
    }

    void put_where(const std::byte* packed, const std::byte* mask, std::size_t count) {
        parts(count, [&](const Part& part) {
            scatter_where(row_, part, packed, mask, walk_->size);
            packed += part.count() * walk_->size;
            mask += part.count();
        });
    }

   private:
    // Calls `use(part)` for the parts that the next `count` elements make up: whole runs of the
    // innermost dimension together, as many as follow each other in the second.
    template <typename Use>
    void parts(std::size_t count, Use use) {
        const Walk& walk = *walk_;
        while (count) {
            Part part{offset_, walk.step[0], std::min(count, walk.num[0] - index_[0]), 0, 1};
            if (part.length == walk.num[0] && walk.dimensions > 1) {
                part.outer_step = walk.step[1];
                part.repeats = std::min(count / part.length, walk.num[1] - index_[1]);
            }
            use(part);
            count -= part.count();
            advance(part);
        }
    }

    void advance(const Part& part) {
        const Walk& walk = *walk_;
        const auto runs = static_cast<std::ptrdiff_t>(part.repeats);
        int d = 0;
        if (part.length == walk.num[0] && walk.dimensions > 1) {
            offset_ += part.outer_step * runs;
            index_[d = 1] += part.repeats;
        } else {
            offset_ += walk.step[0] * static_cast<std::ptrdiff_t>(part.length);
            index_[0] += part.length;
        }
        for (; d + 1 < walk.dimensions && index_[d] == walk.num[d]; ++d) {
            index_[d] = 0;
            offset_ += walk.step[d + 1] - walk.step[d] * static_cast<std::ptrdiff_t>(walk.num[d]);
            ++index_[d + 1];
        }
    }

    const Walk* walk_;
    std::byte* row_;
    std::ptrdiff_t offset_ = 0;
    std::array<std::size_t, most_dimensions> index_{};
};

// A source that its instruction's own writes would disturb, copied with its rows packed.
class PackedCopy {
   public:
    Walk of(const Walk& walk) {
        bytes_.resize(walk.rows * walk.bytes());
        Walk copy = walk;
        copy.base = bytes_.data();
        copy.pitch = static_cast<std::ptrdiff_t>(walk.bytes());
        copy.dimensions = 1;
        copy.step[0] = walk.size;
        copy.num[0] = walk.count;
        for (std::size_t row = 0; row < walk.rows; ++row)
            if (walk.count) Cursor(walk, row).take(walk.count, copy.row(row), true);
        return copy;
    }

   private:
    std::vector<std::byte> bytes_;
};

}  // namespace lanewise
