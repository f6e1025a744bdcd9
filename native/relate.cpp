// Relations between codes and choices between them, element by element.
#include <cstring>

#include "cells.hpp"
#include "fp32.hpp"
#include "multiversion.hpp"
#include "tiles.hpp"

namespace lanewise {
namespace {

// One loop for every kind of code and every relation: what differs between them are constants,
// and masks instead of conditions keep it free of branches.
template <typename Word>
LANEWISE_INLINE bool relate(std::byte* __restrict truth, const std::byte* __restrict left,
                            const std::byte* __restrict right, std::size_t count,
                            const Ordering& ordering, Relation relation) {
    const auto word = [](std::uint64_t bits) { return static_cast<Word>(bits); };
    const auto all_if = [](bool condition) {
        return condition ? static_cast<Word>(~Word{0}) : Word{0};
    };
    const Word flip = word(ordering.flip), kept = word(ordering.kept);
    const Word negated = word(ordering.negated), bias = word(ordering.bias);
    const Word sign = word(ordering.sign), magnitude = word(ordering.magnitude);
    const Word largest = word(ordering.largest);
    const Word less = all_if(relation.less), equal = all_if(relation.equal);
    const Word inverted = all_if(relation.inverted);
    const auto key = [=](Word code) __attribute__((always_inline)) {
        const Word s = all_if((code & sign) != 0) & negated;
        return static_cast<Word>((((code ^ flip) & kept) ^ s) - s + bias);
    };
    Word no_numbers = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const Word a = load<Word>(left + k * sizeof(Word));
        const Word b = load<Word>(right + k * sizeof(Word));
        const Word none = all_if(static_cast<Word>(a & magnitude) > largest) |
                          all_if(static_cast<Word>(b & magnitude) > largest);
        no_numbers |= none;
        const Word first = key(a), second = key(b);
        const Word holds = (all_if(first < second) & less) | (all_if(first == second) & equal);
        truth[k] = static_cast<std::byte>(((holds & ~none) ^ inverted) & 1);
    }
    return no_numbers != 0;
}

template <typename Word>
LANEWISE_INLINE void signalling(std::byte* __restrict found, const std::byte* __restrict left,
                                const std::byte* __restrict right, std::size_t count,
                                const Ordering& ordering) {
    const auto magnitude = static_cast<Word>(ordering.magnitude);
    const auto largest = static_cast<Word>(ordering.largest);
    const auto quiet = static_cast<Word>(ordering.quiet);
    const auto all_if = [](bool condition) {
        return condition ? static_cast<Word>(~Word{0}) : Word{0};
    };
    for (std::size_t k = 0; k < count; ++k) {
        const Word a = load<Word>(left + k * sizeof(Word));
        const Word b = load<Word>(right + k * sizeof(Word));
        const Word in_a = all_if(static_cast<Word>(a & magnitude) > largest) & all_if((a & quiet) == 0);
        const Word in_b = all_if(static_cast<Word>(b & magnitude) > largest) & all_if((b & quiet) == 0);
        found[k] = static_cast<std::byte>((in_a | in_b) & 1);
    }
}

template <typename Word>
LANEWISE_INLINE void choose(std::byte* __restrict out, const std::byte* __restrict truth,
                            const std::byte* __restrict chosen, const std::byte* __restrict other,
                            std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        const Word mask = truth[k] != std::byte{0} ? static_cast<Word>(~Word{0}) : Word{0};
        const Word yes = load<Word>(chosen + k * sizeof(Word));
        const Word no = load<Word>(other + k * sizeof(Word));
        store<Word>(out + k * sizeof(Word), static_cast<Word>((yes & mask) | (no & ~mask)));
    }
}

#define LANEWISE_TILE_LOOPS(Word, bits)                                                          \
    LANEWISE_MULTIVERSION bool relate_##bits(std::byte* truth, const std::byte* left,            \
                                             const std::byte* right, std::size_t count,          \
                                             const Ordering& ordering, Relation relation) {   \
        return relate<Word>(truth, left, right, count, ordering, relation);                      \
    }                                                                                            \
    LANEWISE_MULTIVERSION void signalling_##bits(std::byte* found, const std::byte* left,        \
                                                 const std::byte* right, std::size_t count,      \
                                                 const Ordering& ordering) {                     \
        signalling<Word>(found, left, right, count, ordering);                                   \
    }                                                                                            \
    LANEWISE_MULTIVERSION void choose_##bits(std::byte* out, const std::byte* truth,             \
                                             const std::byte* chosen, const std::byte* other,    \
                                             std::size_t count) {                                \
        choose<Word>(out, truth, chosen, other, count);                                          \
    }
LANEWISE_TILE_LOOPS(std::uint8_t, 8)
LANEWISE_TILE_LOOPS(std::uint16_t, 16)
LANEWISE_TILE_LOOPS(std::uint32_t, 32)
LANEWISE_TILE_LOOPS(std::uint64_t, 64)
#undef LANEWISE_TILE_LOOPS

class Relate final : public Step {
   public:
    Relate(const Walk& truth, const Walk& left, const Walk& right, const Ordering& ordering,
           Relation relation, Raised raised)
        : truth_(truth), left_(left), right_(right), ordering_(ordering), relation_(relation),
          raised_(raised) {}

    std::size_t rows() const override { return truth_.rows; }
    std::size_t elements() const override { return truth_.rows * truth_.count; }

    void run(std::size_t first, std::size_t last) override {
        std::byte left[piece * 8], right[piece * 8], found[piece], met[piece];
        for (std::size_t row = first; row < last; ++row) {
            Cursor from(left_, row), with(right_, row), to(truth_, row);
            bool signals = false;
            for (std::size_t done = 0, n; done < truth_.count; done += n) {
                n = std::min(piece, truth_.count - done);
                std::byte* direct = to.direct();
                const std::byte *a = from.take(n, left), *b = with.take(n, right);
                if (relate_run(direct ? direct : found, a, b, n, ordering_, relation_) && !signals) {
                    signalling_run(met, a, b, n, ordering_);
                    signals = std::memchr(met, 1, n) != nullptr;
                }
                if (direct)
                    to.skip(n);
                else
                    to.put(found, n);
            }
            raised_.flags[static_cast<std::ptrdiff_t>(row) * raised_.pitch] = std::byte{signals};
        }
    }

   private:
    Walk truth_, left_, right_;
    Ordering ordering_;
    Relation relation_;
    Raised raised_;
};

class Choose final : public Step {
   public:
    Choose(const Walk& destination, const Walk& truth, const Walk& chosen, const Walk& other)
        : destination_(destination), truth_(truth), chosen_(chosen), other_(other) {}

    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        const unsigned size = destination_.size;
        std::byte chosen[piece * 8], other[piece * 8], made[piece * 8], truth[piece];
        for (std::size_t row = first; row < last; ++row) {
            Cursor yes(chosen_, row), no(other_, row), where(truth_, row), to(destination_, row);
            for (std::size_t done = 0, n; done < destination_.count; done += n) {
                n = std::min(piece, destination_.count - done);
                std::byte* direct = to.direct();
                choose_run(direct ? direct : made, where.take(n, truth), yes.take(n, chosen),
                           no.take(n, other), n, size);
                if (direct)
                    to.skip(n);
                else
                    to.put(made, n);
            }
        }
    }

   private:
    Walk destination_, truth_, chosen_, other_;
};

}  // namespace

bool relate_run(std::byte* truth, const std::byte* left, const std::byte* right,
                std::size_t count, const Ordering& ordering, Relation relation) {
    switch (ordering.size) {
        case 1: return relate_8(truth, left, right, count, ordering, relation);
        case 2: return relate_16(truth, left, right, count, ordering, relation);
        case 4: return relate_32(truth, left, right, count, ordering, relation);
        default: return relate_64(truth, left, right, count, ordering, relation);
    }
}

void signalling_run(std::byte* found, const std::byte* left, const std::byte* right,
                    std::size_t count, const Ordering& ordering) {
    switch (ordering.size) {
        case 1: return signalling_8(found, left, right, count, ordering);
        case 2: return signalling_16(found, left, right, count, ordering);
        case 4: return signalling_32(found, left, right, count, ordering);
        default: return signalling_64(found, left, right, count, ordering);
    }
}

void choose_run(std::byte* out, const std::byte* truth, const std::byte* chosen,
                const std::byte* other, std::size_t count, unsigned size) {
    switch (size) {
        case 1: return choose_8(out, truth, chosen, other, count);
        case 2: return choose_16(out, truth, chosen, other, count);
        case 4: return choose_32(out, truth, chosen, other, count);
        default: return choose_64(out, truth, chosen, other, count);
    }
}

std::unique_ptr<Step> relate_step(const Walk& truth, const Walk& left, const Walk& right,
                                  const Ordering& ordering, Relation relation, Raised raised) {
    return std::make_unique<Relate>(truth, left, right, ordering, relation, raised);
}

std::unique_ptr<Step> choose_step(const Walk& destination, const Walk& truth, const Walk& chosen,
                                  const Walk& other) {
    return std::make_unique<Choose>(destination, truth, chosen, other);
}

}  // namespace lanewise
