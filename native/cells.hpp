// Many small rows together: cells of a few dozen elements, of which a loop over one alone would
// spend its time on beginning and ending.
#pragma once

#include <algorithm>
#include <vector>

#include "walk.hpp"

namespace lanewise {

// How many cells of `count` elements are worked on together, so that all stays in the first-level
// cache.
inline std::size_t cells_together(std::size_t count) {
    return std::max<std::size_t>(1, 4096 / std::max<std::size_t>(1, count));
}

// The elements of consecutive rows of a walk, packed: in place where they lie so.
class CellReader {
   public:
    CellReader(const Walk& walk, std::size_t most_cells)
        : walk_(walk),
          packed_(walk.unit() && walk.pitch == static_cast<std::ptrdiff_t>(walk.bytes())),
          constant_(walk.pitch == 0 && is_one_element(walk)) {
        if (!packed_) scratch_.resize(most_cells * walk.bytes());
    }

    const std::byte* take(std::size_t first, std::size_t cells) {
        if (packed_) return walk_.row(first);
        if (constant_ && filled_ >= cells) return scratch_.data();
        for (std::size_t cell = 0; cell < cells; ++cell)
            Cursor(walk_, first + cell)
                .take(walk_.count, scratch_.data() + cell * walk_.bytes(), true);
        filled_ = cells;
        return scratch_.data();
    }

   private:
    static bool is_one_element(const Walk& walk) {
        return walk.dimensions == 1 && (walk.step[0] == 0 || walk.num[0] < 2);
    }

    const Walk& walk_;
    bool packed_, constant_;
    std::size_t filled_ = 0;
    std::vector<std::byte> scratch_;
};

// Where the elements of consecutive rows go.
class CellWriter {
   public:
    CellWriter(const Walk& walk, std::size_t most_cells)
        : walk_(walk),
          packed_(walk.unit() && walk.pitch == static_cast<std::ptrdiff_t>(walk.bytes())) {
        if (!packed_) scratch_.resize(most_cells * walk.bytes());
    }

    std::byte* place(std::size_t first) { return packed_ ? walk_.row(first) : scratch_.data(); }
    // After the elements of `cells` rows from `first` on have been written to their place.
    void done(std::size_t first, std::size_t cells) {
        if (packed_) return;
        for (std::size_t cell = 0; cell < cells; ++cell)
            Cursor(walk_, first + cell).put(scratch_.data() + cell * walk_.bytes(), walk_.count);
    }

   private:
    const Walk& walk_;
    bool packed_;
    std::vector<std::byte> scratch_;
};

// Calls `use(cell, cells)` for runs of at most `most` rows that are worked on together.
template <typename Use>
void in_blocks(std::size_t first, std::size_t last, std::size_t most, Use use) {
    for (std::size_t cell = first; cell < last; cell += most)
        use(cell, std::min(most, last - cell));
}

}  // namespace lanewise
