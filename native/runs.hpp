// Walks that are packed inside their runs, gone through together without a copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "walk.hpp"

namespace lanewise {

// The length that the packed runs of all walks have, or 0 where they have none in common or it is
// too short to be worth a call. A walk that is packed as a whole has runs of any length.
template <std::size_t n>
std::size_t common_run(const std::array<const Walk*, n>& walks) {
    constexpr std::size_t worth_a_call = 16;
    std::size_t length = 0;
    for (const Walk* walk : walks) {
        if (walk->unit()) continue;
        if (walk->step[0] != static_cast<std::ptrdiff_t>(walk->size)) return 0;
        if (length && walk->num[0] != length) return 0;
        length = walk->num[0];
    }
    return length < worth_a_call ? 0 : length;
}

// Where the runs of one walk begin, in bytes from the start of a row.
class RunCursor {
   public:
    RunCursor() = default;
    RunCursor(const Walk& walk, std::size_t length)
        : walk_(&walk), packed_(static_cast<std::ptrdiff_t>(length * walk.size)) {}

    std::ptrdiff_t offset() const { return offset_; }
    // How far apart the next runs are, and how many are so.
    std::ptrdiff_t pitch() const { return is_packed() ? packed_ : walk_->step[1]; }
    std::size_t repeats() const { return is_packed() ? SIZE_MAX : walk_->num[1] - index_[1]; }

    // Goes on by at most `repeats()` runs.
    void advance(std::size_t runs) {
        offset_ += pitch() * static_cast<std::ptrdiff_t>(runs);
        if (is_packed()) return;
        index_[1] += runs;
        for (int d = 1; d + 1 < walk_->dimensions && index_[d] == walk_->num[d]; ++d) {
            index_[d] = 0;
            offset_ += walk_->step[d + 1] -
                       walk_->step[d] * static_cast<std::ptrdiff_t>(walk_->num[d]);
            ++index_[d + 1];
        }
    }

   private:
    bool is_packed() const { return walk_->dimensions == 1; }

    const Walk* walk_ = nullptr;
    std::ptrdiff_t packed_ = 0, offset_ = 0;
    std::array<std::size_t, most_dimensions> index_{};
};

// Calls `body(cursors, repeats)` for all runs of a row, as many together as every walk allows.
template <std::size_t n, typename Body>
void each_run(const std::array<const Walk*, n>& walks, std::size_t length, Body body) {
    std::array<RunCursor, n> cursors;
    for (std::size_t i = 0; i < n; ++i) cursors[i] = RunCursor(*walks[i], length);
    for (std::size_t left = walks[0]->count / length; left;) {
        std::size_t repeats = left;
        for (const RunCursor& cursor : cursors) repeats = std::min(repeats, cursor.repeats());
        body(cursors, repeats);
        for (RunCursor& cursor : cursors) cursor.advance(repeats);
        left -= repeats;
    }
}

}  // namespace lanewise
