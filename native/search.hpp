// Searches along one row of packed FP32 bits at any address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lanewise {

inline constexpr std::size_t slots = 8;

// The eight largest numbers of a row, ascending; slots without one hold minus infinity. NaN and
// minus infinity never enter, and of equal numbers the earlier ranks higher and keeps its bits.
void top8_row(const std::byte* row, std::size_t count, std::uint32_t* largest);

// The search for eight keys along a row that comes in pieces. Each element serves the first slot
// that is open and equal to it (-0 equals +0), and a slot is served once.
class Find8 {
   public:
    static constexpr std::int64_t missed = -1;

    Find8(const std::uint32_t* keys, const std::uint8_t* matched);
    // The next `count` elements of the row.
    void scan(const std::byte* elements, std::size_t count);
    bool done() const { return open_ == 0; }
    // Position in the row that served a slot, or `missed`.
    std::int64_t found(std::size_t slot) const { return found_[slot]; }

   private:
    void serve(std::uint32_t element, std::size_t position);
    void pack();

    std::array<std::uint32_t, slots> keys_;
    std::array<std::int64_t, slots> found_;
    std::array<std::uint32_t, slots> wanted_;  // the open keys, repeated to fill all places
    std::uint32_t open_ = 0;                   // a bit a slot
    std::size_t position_ = 0;
};

// The highest rank (see fp32.hpp) among the elements whose byte of `mask` is 1 and not 0, all of
// them without a mask; the lowest possible where there are none.
std::int32_t highest_rank(const std::byte* elements, const std::byte* mask, std::size_t count);

}  // namespace lanewise
