// The eight best elements of a row so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fp32.hpp"
#include "search.hpp"

namespace lanewise {

// By rank, the earlier of equals first. NaN and minus infinity are never kept.
class Slots {
   public:
    Slots() { rank_.fill(rank_of_minus_infinity); }

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

    // What an element has to surpass, or to equal from an earlier position.
    std::int32_t lowest() const { return rank_[last]; }
    bool full_of(std::int32_t rank) const { return rank_[last] >= rank; }

    void write(const std::byte* row, std::uint32_t* largest) const {
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const bool filled = rank_[slot] > rank_of_minus_infinity;
            largest[last - slot] =
                filled ? load<std::uint32_t>(row + 4 * position_[slot]) : minus_infinity;
        }
    }

   private:
    static constexpr std::size_t last = slots - 1;
    std::array<std::int32_t, slots> rank_;
    std::array<std::size_t, slots> position_{};
};

}  // namespace lanewise
