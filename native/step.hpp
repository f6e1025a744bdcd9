// Steps: one kernel each with its operands, made once and run as often as wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "convert.hpp"
#include "walk.hpp"

namespace lanewise {

class Step {
   public:
    virtual ~Step() = default;
    // Before the rows are run: copies the sources that writing would disturb.
    virtual void begin() {}
    // Runs the rows from `first` to before `last`; different rows may run at the same time.
    virtual void run(std::size_t first, std::size_t last) = 0;
    virtual std::size_t rows() const = 0;
    virtual std::size_t elements() const = 0;
    // The flags of the rows that the last run noted, or nothing; only flag steps note.
    virtual const std::vector<std::byte>* noted() const { return nullptr; }
};

// A source operand of a step that writes `destination`: where both share places, it is read
// through a copy; where they are the same places in the same order, piece by piece.
class Source {
   public:
    Source() = default;
    Source(const Walk& walk, const Walk& destination)
        : walk_(walk),
          staged_(walk.same_places(destination) && walk.injective()),
          copied_(!staged_ && walk.may_overlap(destination)) {}

    void begin() {
        if (!copied_) return;
        if (!copy_) copy_ = std::make_unique<PackedCopy>();
        packed_ = copy_->of(walk_);
    }
    const Walk& walk() const { return copied_ ? packed_ : walk_; }
    // Whether its elements can be read in place, and whether whole rows can.
    bool undisturbed() const { return !staged_; }
    bool direct() const { return !staged_ && (copied_ || walk_.unit()); }
    const std::byte* take(Cursor& cursor, std::size_t count, std::byte* scratch) const {
        return cursor.take(count, scratch, staged_);
    }
    ConstRows from(std::size_t row) const { return {walk().row(row), walk().pitch}; }

   private:
    Walk walk_, packed_;
    bool staged_ = false, copied_ = false;
    std::unique_ptr<PackedCopy> copy_;
};

// One 32-bit value a row, in place or the same for all: the low bytes of an element.
struct PerRow {
    const std::byte* first = nullptr;
    std::ptrdiff_t pitch = 0;
    unsigned size = 4;
    std::uint32_t at(std::size_t row) const;
};

struct Keys {
    std::byte* keys;  // eight FP32 numbers a row
    std::byte* matched;  // eight flags of a byte a row
    std::ptrdiff_t keys_pitch, matched_pitch;
};

struct Accumulator {
    std::byte* bits = nullptr;  // FP32, null where nothing accumulates
    std::ptrdiff_t pitch = 0;
};

std::unique_ptr<Step> cast_step(const Walk& destination, const Walk& source,
                                const Conversion& conversion);
std::unique_ptr<Step> merge_step(const Walk& destination, const Walk& source,
                                 const Walk& predicate, const Conversion& conversion);
std::unique_ptr<Step> fill_step(const Walk& destination, PerRow value, const Walk& predicate,
                                bool when);
std::unique_ptr<Step> top8_step(const Walk& destination, const Walk& source,
                                const Conversion& to_hub, const Conversion& from_hub);
// Positions go to the destination, all ones where a slot finds nothing.
std::unique_ptr<Step> find8_step(const Walk& destination, const Walk& source,
                                 const Conversion& to_hub, Keys keys);
std::unique_ptr<Step> replace8_step(const Walk& destination, const Walk& source,
                                    const Conversion& to_hub, const Conversion& from_hub,
                                    std::uint32_t replacement, Keys keys, PerRow indices);

// destination = truth ? convert(source) : other (kept without one); the accumulator folds the
// FP32 values of what was chosen. The truth is a predicate, or a range that positions (from an
// FP32 base on) or the elements themselves lie in.
struct Select {
    Walk destination, source;
    Conversion conversion, to_hub;
    std::optional<PerRow> other, other_hub;
    Accumulator accumulator;
};
// Relations as sets: 1 for less, 2 for equal, 4 for greater.
struct Bound {
    PerRow value;
    std::uint8_t relation;
};
std::unique_ptr<Step> select_step(const Select& select, const Walk& predicate, bool when);
std::unique_ptr<Step> range_step(const Select& select, std::optional<std::uint32_t> base,
                                 Bound low, Bound high);

// Positions of elements that are not zero under `mask` (and, with `skip_nan`, no FP32 NaN), plus
// the row's offset, then padding, then their number: one element more than the source has.
std::unique_ptr<Step> nonzero_step(const Walk& destination, const Walk& source, PerRow offset,
                                   PerRow padding, std::uint32_t mask, bool skip_nan);

// Notes the flags of its rows when one of them is set.
std::unique_ptr<Step> note_step(const std::byte* flags, std::ptrdiff_t pitch, std::size_t rows);

}  // namespace lanewise
