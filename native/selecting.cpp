// Steps that choose between elements and something else, with a running maximum a row.
#include <algorithm>
#include <array>
#include <bit>

#include "fp32.hpp"
#include "search.hpp"
#include "step.hpp"

namespace lanewise {
namespace {

constexpr std::uint8_t less = 1, equal = 2, greater = 4;

// base + position as FP32 bits, one addition rounded to nearest even. 0 <= base <= 2^24 and
// position < 2^24. Fixed point with 30 bits below the point; the lowest one stands for all that
// is lost below it, where only "something" or "nothing" counts.
std::uint32_t position_bits(std::uint32_t base, std::size_t position) {
    if (base == sign_bit) base = 0;
    if (position == 0) return base;
    const std::uint32_t exponent = std::max(base >> 23, 1u);
    const std::uint64_t significand = (base & 0x7f'ffff) | (base >> 23 ? 0x80'0000u : 0u);
    std::uint64_t fixed;
    if (exponent >= 120) {
        fixed = significand << (exponent - 120);
    } else {
        const unsigned places = std::min(120 - exponent, 63u);
        const std::uint64_t kept = significand >> places;
        fixed = kept | ((kept << places) != significand ? 1u : 0u);
    }
    const std::uint64_t sum = (static_cast<std::uint64_t>(position) << 30) + fixed;
    const auto length = static_cast<unsigned>(std::bit_width(sum));  // at least 31
    const unsigned drop = length - 24;
    const std::uint64_t kept = sum >> drop, rest = sum - (kept << drop);
    const std::uint64_t up = 2 * rest + (kept & 1) > std::uint64_t{1} << drop ? 1 : 0;
    // The leading one of the significand adds one to the exponent field, a carry another one.
    return static_cast<std::uint32_t>((std::uint64_t{length + 95} << 23) + kept + up);
}

// A run of positions.
struct Run {
    std::size_t from, to;
};

// The positions whose numbers are in a relation to a bound: numbers grow with positions, so they
// are one run.
Run positions_in(std::uint32_t base, std::size_t count, std::uint32_t bound,
                 std::uint8_t relation) {
    if (is_nan(bound)) return {0, 0};
    const std::int32_t limit = rank_of(bound);
    const auto first = [&](auto reached) {
        std::size_t low = 0, high = count;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            reached(rank_of(position_bits(base, middle))) ? high = middle : low = middle + 1;
        }
        return low;
    };
    const std::size_t at = first([=](std::int32_t rank) { return rank >= limit; });
    const std::size_t past = first([=](std::int32_t rank) { return rank > limit; });
    return {relation & less ? 0 : relation & equal ? at : past,
            relation & greater ? count : relation & equal ? past : at};
}

struct Relation {
    std::int32_t rank;
    std::int32_t less, equal, greater;  // all ones or zero

    Relation(std::uint32_t bound, std::uint8_t relation)
        : rank(rank_of(bound)),
          less(relation & lanewise::less ? -1 : 0),
          equal(relation & lanewise::equal ? -1 : 0),
          greater(relation & lanewise::greater ? -1 : 0) {
        if (is_nan(bound)) less = equal = greater = 0;
    }
    LANEWISE_INLINE std::int32_t holds(std::int32_t value) const {
        return (value < rank ? less : 0) | (value == rank ? equal : 0) |
               (value > rank ? greater : 0);
    }
};

LANEWISE_MULTIVERSION void mask_by_value(std::byte* mask, const std::byte* numbers,
                                         std::size_t count, const Relation& one,
                                         const Relation& other) {
    const Relation first = one, second = other;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int32_t rank = rank_of(load<std::uint32_t>(numbers + 4 * k));
        const std::int32_t number = rank >= rank_of_minus_infinity ? 1 : 0;
        mask[k] = static_cast<std::byte>(first.holds(rank) & second.holds(rank) & number);
    }
}

// The running maximum of one row: an element replaces it only if strictly greater, so of equal
// numbers (both zeros are) the earlier one stays.
class Maximum {
   public:
    Maximum(const Accumulator& accumulator, std::size_t row)
        : place_(accumulator.bits ? accumulator.bits + static_cast<std::ptrdiff_t>(row) *
                                                           accumulator.pitch
                                  : nullptr),
          bits_(place_ ? load<std::uint32_t>(place_) : 0),
          rank_(rank_of(bits_)),
          folds_(place_ && !is_nan(bits_)) {}

    bool folds() const { return folds_; }

    // Offers the elements that the mask chooses, and for the others `other` if there is one.
    void offer(const std::byte* numbers, const std::byte* mask, std::size_t count,
               const std::uint32_t* other) {
        std::int32_t rank = highest_rank(numbers, mask, count);
        if (other && rank_of(*other) > rank && std::memchr(mask, 0, count)) rank = rank_of(*other);
        if (rank <= rank_ || rank <= rank_of_minus_infinity) return;
        rank_ = rank;
        const auto magnitude = static_cast<std::uint32_t>(rank - rank_of_zero);
        bits_ = rank >= rank_of_zero ? magnitude : sign_bit | (0u - magnitude);
        if (rank == rank_of_zero) bits_ = first_zero(numbers, mask, count, other);
    }

    void write() const {
        if (folds_) store<std::uint32_t>(place_, bits_);
    }

   private:
    static std::uint32_t first_zero(const std::byte* numbers, const std::byte* mask,
                                    std::size_t count, const std::uint32_t* other) {
        for (std::size_t k = 0; k < count; ++k) {
            if (mask[k] == std::byte{0} && !other) continue;
            const auto bits = mask[k] == std::byte{0} ? *other
                                                      : load<std::uint32_t>(numbers + 4 * k);
            if (!(bits & magnitude_bits)) return bits;
        }
        return 0;
    }

    std::byte* place_;
    std::uint32_t bits_;
    std::int32_t rank_;
    bool folds_;
};

class Choosing : public Step {
   public:
    explicit Choosing(const Select& select)
        : select_(select), source_(select.source, select.destination) {}
    void begin() override { source_.begin(); }
    std::size_t rows() const override { return select_.destination.rows; }
    std::size_t elements() const override { return rows() * select_.destination.count; }

    void run(std::size_t first, std::size_t last) override {
        for (std::size_t row = first; row < last; ++row) run_row(row);
    }

   protected:
    using Scratch = std::array<std::byte, 4 * piece>;

    // Fills the mask of the next elements of a row, whose FP32 numbers are given where needed.
    class Chooser {
       public:
        virtual ~Chooser() = default;
        virtual void mask(std::byte* mask, const std::byte* numbers, std::size_t count) = 0;
    };
    virtual bool chooses_by_value() const { return false; }
    virtual void row_with(std::size_t row) = 0;

    void choose(std::size_t row, Chooser& chooser) {
        alignas(64) Scratch in, values, out, mask;
        const Walk& to_walk = select_.destination;
        Cursor from(source_.walk(), row), to(to_walk, row);
        Maximum maximum(select_.accumulator, row);
        const std::uint32_t other = select_.other ? select_.other->at(row) : 0;
        const std::uint32_t other_hub = select_.other_hub ? select_.other_hub->at(row) : 0;
        const bool needs_numbers = maximum.folds() || chooses_by_value();
        for (std::size_t k = 0; k < to_walk.count; k += piece) {
            const std::size_t count = std::min(piece, to_walk.count - k);
            const std::byte* codes = source_.take(from, count, in.data());
            const std::byte* numbers = codes;
            if (needs_numbers && !select_.to_hub.keeps_fp32()) {
                select_.to_hub.run({codes, 0}, {values.data(), 0}, 1, count);
                numbers = values.data();
            }
            chooser.mask(mask.data(), numbers, count);
            // Before anything is written: the numbers may lie where the results go.
            if (maximum.folds())
                maximum.offer(numbers, mask.data(), count,
                              select_.other_hub ? &other_hub : nullptr);
            std::byte* place = to.direct();
            std::byte* results = place && select_.other ? place : out.data();
            select_.conversion.run({codes, 0}, {results, 0}, 1, count);
            if (select_.other) {
                fill_unmasked(results, other, mask.data(), count, to_walk.size);
                place ? to.skip(count) : to.put(results, count);
            } else if (place) {
                merge_rows({place, 0}, {results, 0}, {mask.data(), 0}, 1, count, to_walk.size, 1);
                to.skip(count);
            } else {
                to.put_where(results, mask.data(), count);
            }
        }
        maximum.write();
    }

    void run_row(std::size_t row) { row_with(row); }

    Select select_;
    Source source_;
};

class ByPredicate final : public Choosing {
   public:
    ByPredicate(const Select& select, const Walk& predicate, bool when)
        : Choosing(select), predicate_(predicate, select.destination), when_(when) {}
    void begin() override {
        Choosing::begin();
        predicate_.begin();
    }

   private:
    class FromPredicate final : public Chooser {
       public:
        FromPredicate(const Source& predicate, std::size_t row, bool when)
            : predicate_(predicate), cursor_(predicate.walk(), row), when_(when) {}
        void mask(std::byte* mask, const std::byte*, std::size_t count) override {
            const std::byte* choose = predicate_.take(cursor_, count, truth_.data());
            mask_row(mask, choose, when_, count, predicate_.walk().size);
        }

       private:
        const Source& predicate_;
        Cursor cursor_;
        bool when_;
        alignas(64) Scratch truth_;
    };
    void row_with(std::size_t row) override {
        FromPredicate chooser(predicate_, row, when_);
        choose(row, chooser);
    }

    Source predicate_;
    bool when_;
};

class ByRange final : public Choosing {
   public:
    ByRange(const Select& select, std::optional<std::uint32_t> base, Bound low, Bound high)
        : Choosing(select), base_(base), low_(low), high_(high) {}

   private:
    class FromPositions final : public Chooser {
       public:
        explicit FromPositions(Run run) : run_(run) {}
        void mask(std::byte* mask, const std::byte*, std::size_t count) override {
            const std::size_t from = std::clamp(run_.from, at_, at_ + count) - at_;
            const std::size_t to = std::clamp(run_.to, at_ + from, at_ + count) - at_;
            std::memset(mask, 0, from);
            std::memset(mask + from, 1, to - from);
            std::memset(mask + to, 0, count - to);
            at_ += count;
        }

       private:
        Run run_;
        std::size_t at_ = 0;
    };
    class FromValues final : public Chooser {
       public:
        FromValues(Relation low, Relation high) : low_(low), high_(high) {}
        void mask(std::byte* mask, const std::byte* numbers, std::size_t count) override {
            mask_by_value(mask, numbers, count, low_, high_);
        }

       private:
        Relation low_, high_;
    };

    bool chooses_by_value() const override { return !base_; }
    void row_with(std::size_t row) override {
        const std::uint32_t low = low_.value.at(row), high = high_.value.at(row);
        if (!base_) {
            FromValues chooser({low, low_.relation}, {high, high_.relation});
            return choose(row, chooser);
        }
        const std::size_t count = select_.destination.count;
        const Run above = positions_in(*base_, count, low, low_.relation);
        const Run below = positions_in(*base_, count, high, high_.relation);
        FromPositions chooser({std::max(above.from, below.from), std::min(above.to, below.to)});
        choose(row, chooser);
    }

    std::optional<std::uint32_t> base_;
    Bound low_, high_;
};

}  // namespace

std::unique_ptr<Step> select_step(const Select& select, const Walk& predicate, bool when) {
    return std::make_unique<ByPredicate>(select, predicate, when);
}

std::unique_ptr<Step> range_step(const Select& select, std::optional<std::uint32_t> base,
                                 Bound low, Bound high) {
    return std::make_unique<ByRange>(select, base, low, high);
}

}  // namespace lanewise
