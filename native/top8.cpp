// Top-8 in one pass plus a look at few elements, whatever the order of the data.
//
// A block of 1024 elements makes 16 groups: group j holds every sixteenth element from j on, so
// that sixteen maxima are one vector. The eight largest elements lie in the groups with the eight
// largest maxima; among groups of one block with equal maxima all are looked at, because their
// elements interleave.
#include <algorithm>
#include <array>
#include <vector>

#include "fp32.hpp"
#include "search.hpp"

namespace lanewise {
namespace {

constexpr std::size_t width = 16;
constexpr std::size_t steps = 64;
constexpr std::size_t block = width * steps;
constexpr std::int32_t none = INT32_MIN;

using Ranks = std::int32_t __attribute__((vector_size(4 * width)));
using Words = std::uint32_t __attribute__((vector_size(4 * width)));

// The best so far: by rank, the earlier of equals first.
class Slots {
   public:
    void offer(std::int32_t rank, std::size_t position) {
        if (rank < rank_[last] || (rank == rank_[last] && position > position_[last])) return;
        std::size_t at = last;
        while (at > 0 && (rank_[at - 1] < rank ||
                          (rank_[at - 1] == rank && position_[at - 1] > position))) {
            rank_[at] = rank_[at - 1];
            position_[at] = position_[at - 1];
            --at;
        }
        rank_[at] = rank;
        position_[at] = position;
    }

    void write(const std::byte* row, std::uint32_t* largest) const {
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const bool filled = rank_[slot] > rank_of_minus_infinity;
            largest[last - slot] = filled ? load<std::uint32_t>(row + 4 * position_[slot]) : minus_infinity;
        }
    }

   private:
    static constexpr std::size_t last = slots - 1;
    std::array<std::int32_t, slots> rank_ = filled_with(rank_of_minus_infinity);
    std::array<std::size_t, slots> position_{};

    static constexpr std::array<std::int32_t, slots> filled_with(std::int32_t value) {
        std::array<std::int32_t, slots> made{};
        made.fill(value);
        return made;
    }
};

// Through a reference: functions that return vectors depend on the instruction set.
LANEWISE_INLINE void rank(const std::byte* from, Ranks& ranks) {
    Words bits;
    std::memcpy(&bits, from, sizeof bits);
    const Words negative = -(bits >> 31);
    ranks = reinterpret_cast<Ranks>(((bits & magnitude_bits) ^ negative) - negative +
                                    static_cast<std::uint32_t>(rank_of_zero));
}

// The maxima of the groups of whole blocks.
LANEWISE_MULTIVERSION void group_maxima(const std::byte* row, std::size_t blocks,
                                        std::int32_t* maxima) {
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::byte* at = row + 4 * b * block;
        Ranks first, second, one, other;
        rank(at, first);
        rank(at + 4 * width, second);
        for (std::size_t step = 2; step < steps; step += 2) {
            rank(at + 4 * step * width, one);
            rank(at + 4 * (step + 1) * width, other);
            first = one > first ? one : first;
            second = other > second ? other : second;
        }
        first = second > first ? second : first;
        std::memcpy(maxima + b * width, &first, sizeof first);
    }
}

// The eighth largest of the maxima: eight elements at least are as large as that.
std::int32_t eighth_largest(const std::int32_t* maxima, std::size_t groups) {
    std::array<std::int32_t, slots> best;
    best.fill(none);
    for (std::size_t g = 0; g < groups; ++g) {
        if (maxima[g] <= best[0]) continue;
        std::size_t at = 0;
        while (at + 1 < slots && best[at + 1] < maxima[g]) {
            best[at] = best[at + 1];
            ++at;
        }
        best[at] = maxima[g];
    }
    return best[0];
}

}  // namespace

void top8_row(const std::byte* row, std::size_t count, std::uint32_t* largest) {
    Slots best;
    const std::size_t blocks = count / block;
    if (blocks * width > slots) {
        thread_local std::vector<std::int32_t> maxima;
        maxima.resize(blocks * width);
        group_maxima(row, blocks, maxima.data());
        const std::int32_t threshold = eighth_largest(maxima.data(), maxima.size());
        const auto wanted = [&](std::int32_t maximum, std::size_t equals_left) {
            return maximum > threshold || (maximum == threshold && equals_left > 0);
        };
        std::size_t above = 0;
        for (const std::int32_t maximum : maxima) above += maximum > threshold;
        std::size_t equals = slots - std::min(above, slots);
        for (std::size_t b = 0; b < blocks; ++b) {
            std::size_t seen = 0;
            for (std::size_t j = 0; j < width; ++j) {
                const std::int32_t maximum = maxima[b * width + j];
                if (!wanted(maximum, equals)) continue;
                seen += maximum == threshold;
                for (std::size_t step = 0; step < steps; ++step) {
                    const std::size_t position = b * block + step * width + j;
                    const std::int32_t rank = rank_of(load<std::uint32_t>(row + 4 * position));
                    if (rank >= threshold) best.offer(rank, position);
                }
            }
            equals -= std::min(equals, seen);
        }
    }
    const std::size_t scanned = blocks * width > slots ? blocks * block : 0;
    for (std::size_t k = scanned; k < count; ++k) best.offer(rank_of(load<std::uint32_t>(row + 4 * k)), k);
    best.write(row, largest);
}

}  // namespace lanewise
