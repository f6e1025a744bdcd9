// Steps that treat every element by itself: cast, merge, fill.
#include <algorithm>
#include <array>
#include <utility>

#include "avx512.hpp"
#include "fp32.hpp"
#include "runs.hpp"
#include "step.hpp"

namespace lanewise {
namespace {

using Scratch = std::array<std::byte, 4 * piece>;

// Calls `body(count)` for the pieces of a row of `walk`. Where one step separates all elements the
// first piece is short, so that the others begin cache lines (see elements_before_line).
template <typename Body>
void pieces(const Walk& walk, std::size_t row, Body body) {
    constexpr std::size_t line = 64;
    const auto first = reinterpret_cast<std::uintptr_t>(walk.row(row));
    std::size_t head = 0;
    if (walk.dimensions == 1 && walk.count > piece && first % walk.size == 0)
        while (head < line && (first + head * static_cast<std::size_t>(walk.step[0])) % line != 0)
            ++head;
    head %= line;  // no element begins a line
    if (head) body(head);
    for (std::size_t k = head; k < walk.count; k += piece) body(std::min(piece, walk.count - k));
}

class Cast final : public Step {
   public:
    Cast(const Walk& destination, const Walk& source, const Conversion& conversion)
        : destination_(destination), source_(source, destination), conversion_(conversion) {}

    void begin() override { source_.begin(); }
    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        if (source_.direct() && destination_.unit()) {
            conversion_.run(source_.from(first), {destination_.row(first), destination_.pitch},
                            last - first, destination_.count);
            return;
        }
        const std::array walks{&std::as_const(destination_), &source_.walk()};
        const bool in_place = source_.undisturbed() && destination_.injective();
        const std::size_t length = in_place ? common_run(walks) : 0;
        alignas(64) Scratch in, out;
        for (std::size_t row = first; row < last; ++row) {
            if (length) {
                each_run(walks, length, [&](const auto& at, std::size_t repeats) {
                    conversion_.run({source_.from(row).first + at[1].offset(), at[1].pitch()},
                                    {destination_.row(row) + at[0].offset(), at[0].pitch()},
                                    repeats, length);
                });
                continue;
            }
            Cursor from(source_.walk(), row), to(destination_, row);
            pieces(destination_, row, [&](std::size_t count) {
                const std::byte* codes = source_.take(from, count, in.data());
                if (std::byte* place = to.direct()) {
                    conversion_.run({codes, 0}, {place, 0}, 1, count);
                    to.skip(count);
                    return;
                }
                if (!conversion_.is_copy()) {
                    conversion_.run({codes, 0}, {out.data(), 0}, 1, count);
                    codes = out.data();
                }
                to.put(codes, count);
            });
        }
    }

   private:
    Walk destination_;
    Source source_;
    Conversion conversion_;
};

class Merge final : public Step {
   public:
    Merge(const Walk& destination, const Walk& source, const Walk& predicate,
          const Conversion& conversion)
        : destination_(destination),
          source_(source, destination),
          predicate_(predicate, destination),
          conversion_(conversion) {}

    void begin() override {
        source_.begin();
        predicate_.begin();
    }
    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        const unsigned predicate_size = predicate_.walk().size;
        if (conversion_.is_copy() && source_.direct() && predicate_.direct() &&
            destination_.unit()) {
            run_direct({destination_.row(first), destination_.pitch}, source_.from(first),
                       predicate_.from(first), last - first);
            return;
        }
        if (conversion_.is_copy() && run_every(first, last)) return;
        const std::array walks{&std::as_const(destination_), &source_.walk(), &predicate_.walk()};
        const bool in_place = conversion_.is_copy() && source_.undisturbed() &&
                              predicate_.undisturbed() && destination_.injective();
        const std::size_t length = in_place ? common_run(walks) : 0;
        alignas(64) Scratch in, out, truth, mask;
        for (std::size_t row = first; row < last; ++row) {
            if (length) {
                each_run(walks, length, [&](const auto& at, std::size_t repeats) {
                    merge_rows({destination_.row(row) + at[0].offset(), at[0].pitch()},
                               {source_.from(row).first + at[1].offset(), at[1].pitch()},
                               {predicate_.from(row).first + at[2].offset(), at[2].pitch()},
                               repeats, length, destination_.size, predicate_size);
                });
                continue;
            }
            Cursor from(source_.walk(), row), where(predicate_.walk(), row), to(destination_, row);
            pieces(destination_, row, [&](std::size_t count) {
                const std::byte* codes = source_.take(from, count, in.data());
                const std::byte* choose = predicate_.take(where, count, truth.data());
                if (!conversion_.is_copy()) {
                    conversion_.run({codes, 0}, {out.data(), 0}, 1, count);
                    codes = out.data();
                }
                if (std::byte* place = to.direct()) {
                    merge_rows({place, 0}, {codes, 0}, {choose, 0}, 1, count, destination_.size,
                               predicate_size);
                    to.skip(count);
                    return;
                }
                if (predicate_size > 1) {
                    mask_row(mask.data(), choose, true, count, predicate_size);
                    choose = mask.data();
                }
                to.put_where(codes, choose, count);
            });
        }
    }

   private:
    void run_direct(Rows to, ConstRows from, ConstRows where, std::size_t rows) const {
        const unsigned size = destination_.size, truth = predicate_.walk().size;
        const std::size_t count = destination_.count;
        const std::size_t head = elements_before_line(to, count, size);
        if (head) merge_rows(to, from, where, rows, head, size, truth);
        merge_rows({to.first + head * size, to.pitch}, {from.first + head * size, from.pitch},
                   {where.first + head * truth, where.pitch}, rows, count - head, size, truth);
    }

    // Rows whose elements are the same few places apart in all operands; false where they are not.
    bool run_every(std::size_t first, std::size_t last) const {
        constexpr std::ptrdiff_t most = 4;
        const Walk &from = source_.walk(), &where = predicate_.walk();
        const auto places = [](const Walk& walk) {
            const auto size = static_cast<std::ptrdiff_t>(walk.size);
            return walk.dimensions == 1 && walk.step[0] % size == 0 ? walk.step[0] / size : 0;
        };
        const std::ptrdiff_t step = places(destination_), every = step < 0 ? -step : step;
        if (every < 1 || every > most || places(from) != step || places(where) != step ||
            !source_.undisturbed() || !predicate_.undisturbed() || !destination_.count)
            return false;
        const auto lowest = [](const Walk& walk, std::size_t row) {
            return walk.row(row) + walk.extent().first;
        };
        const std::size_t span = (destination_.count - 1) * static_cast<std::size_t>(every) + 1;
        for (std::size_t row = first; row < last; ++row)
            if (!avx512_merge_every(lowest(destination_, row), lowest(from, row),
                                    lowest(where, row), span, static_cast<std::size_t>(every),
                                    destination_.size, where.size))
                return false;
        return true;
    }

    Walk destination_;
    Source source_, predicate_;
    Conversion conversion_;
};

class Fill final : public Step {
   public:
    Fill(const Walk& destination, PerRow value, const Walk& predicate, bool when)
        : destination_(destination),
          value_(value),
          predicate_(predicate, destination),
          when_(when) {}

    void begin() override { predicate_.begin(); }
    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        const unsigned size = predicate_.walk().size;
        alignas(64) Scratch values, truth, mask;
        for (std::size_t row = first; row < last; ++row) {
            const std::uint32_t value = value_.at(row);
            if (predicate_.direct() && destination_.unit()) {
                std::byte* to = destination_.row(row);
                const std::byte* where = predicate_.from(row).first;
                const std::size_t count = destination_.count;
                const std::size_t head =
                    elements_before_line({to, 0}, count, destination_.size);
                if (head) fill_row(to, value, where, when_, head, destination_.size, size);
                fill_row(to + head * destination_.size, value, where + head * size, when_,
                         count - head, destination_.size, size);
                continue;
            }
            if (!destination_.unit()) spread(values, value);
            Cursor where(predicate_.walk(), row), to(destination_, row);
            pieces(destination_, row, [&](std::size_t count) {
                const std::byte* choose = predicate_.take(where, count, truth.data());
                if (std::byte* place = to.direct()) {
                    fill_row(place, value, choose, when_, count, destination_.size, size);
                    to.skip(count);
                    return;
                }
                mask_row(mask.data(), choose, when_, count, size);
                to.put_where(values.data(), mask.data(), count);
            });
        }
    }

   private:
    void spread(Scratch& values, std::uint32_t value) const {
        for (std::size_t k = 0; k < std::min(piece, destination_.count); ++k)
            std::memcpy(values.data() + k * destination_.size, &value, destination_.size);
    }

    Walk destination_;
    PerRow value_;
    Source predicate_;
    bool when_;
};

class Note final : public Step {
   public:
    Note(const std::byte* flags, std::ptrdiff_t pitch, std::size_t rows)
        : flags_(flags), pitch_(pitch), found_(rows) {}

    std::size_t rows() const override { return found_.size(); }
    std::size_t elements() const override { return found_.size(); }
    const std::vector<std::byte>* noted() const override {
        const auto set = [](std::byte flag) { return flag != std::byte{0}; };
        return std::any_of(found_.begin(), found_.end(), set) ? &found_ : nullptr;
    }

    void run(std::size_t first, std::size_t last) override {
        for (std::size_t row = first; row < last; ++row)
            found_[row] = flags_[static_cast<std::ptrdiff_t>(row) * pitch_];
    }

   private:
    const std::byte* flags_;
    std::ptrdiff_t pitch_;
    std::vector<std::byte> found_;
};

}  // namespace

std::uint32_t PerRow::at(std::size_t row) const {
    const std::byte* place = first + static_cast<std::ptrdiff_t>(row) * pitch;
    switch (size) {
        case 1: return load<std::uint8_t>(place);
        case 2: return load<std::uint16_t>(place);
        default: return load<std::uint32_t>(place);
    }
}

std::unique_ptr<Step> cast_step(const Walk& destination, const Walk& source,
                                const Conversion& conversion) {
    return std::make_unique<Cast>(destination, source, conversion);
}

std::unique_ptr<Step> merge_step(const Walk& destination, const Walk& source,
                                 const Walk& predicate, const Conversion& conversion) {
    return std::make_unique<Merge>(destination, source, predicate, conversion);
}

std::unique_ptr<Step> fill_step(const Walk& destination, PerRow value, const Walk& predicate,
                                bool when) {
    return std::make_unique<Fill>(destination, value, predicate, when);
}

std::unique_ptr<Step> note_step(const std::byte* flags, std::ptrdiff_t pitch, std::size_t rows) {
    return std::make_unique<Note>(flags, pitch, rows);
}

}  // namespace lanewise
