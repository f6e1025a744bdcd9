// Top-8 in one pass plus a look at few elements, whatever the order of the data.
//
// Element k belongs to group k mod 256. The pass finds the maximum of every group, in rounds of a
// few elements each; the eighth largest of the maxima is a threshold that eight elements at least
// reach, so that the eight largest elements are in the few groups and rounds whose maximum
// reaches it.
#include <algorithm>
#include <array>

#include "avx512.hpp"
#include "slots.hpp"

namespace lanewise {
namespace {

constexpr std::size_t groups = 256;
constexpr std::size_t together = 4;  // steps taken at a time, one element of each group a step
constexpr std::size_t most_rounds = 8;

using Maxima = std::array<std::int32_t, groups>;

// Steps of a row in equal rounds, the last of which may be shorter.
struct Rounds {
    std::size_t steps, length, number;
    explicit Rounds(std::size_t steps)
        : steps(steps),
          length(std::max(together, (steps + most_rounds - 1) / most_rounds)),
          number((steps + length - 1) / length) {}
    std::size_t end_of(std::size_t round) const { return std::min((round + 1) * length, steps); }
};

// As the rank, in fewer operations and with -0 just below +0.
LANEWISE_INLINE std::int32_t order_at(const std::byte* row, std::size_t position) {
    const auto bits = load<std::int32_t>(row + 4 * position);
    const auto flipped = static_cast<std::uint32_t>(bits ^ ((bits >> 31) & 0x7fff'ffff));
    return static_cast<std::int32_t>(flipped + static_cast<std::uint32_t>(rank_of_zero));
}

constexpr std::int32_t order_of_zero = rank_of_zero, order_of_minus_zero = rank_of_zero - 1;

LANEWISE_INLINE std::int32_t rank_of_order(std::int32_t order) {
    return order < order_of_zero ? order + 1 : order;
}

LANEWISE_INLINE std::int32_t larger(std::int32_t one, std::int32_t other) {
    return one > other ? one : other;
}

LANEWISE_INLINE std::int32_t rank_at(const std::byte* row, std::size_t position) {
    return rank_of(load<std::uint32_t>(row + 4 * position));
}

// The highest orders of the groups over some steps.
LANEWISE_MULTIVERSION void group_maxima(const std::byte* row, std::size_t steps,
                                        std::int32_t* __restrict maxima) {
    for (std::size_t g = 0; g < groups; ++g) maxima[g] = INT32_MIN;
    std::size_t step = 0;
    for (; step + together <= steps; step += together) {
        const std::byte* at = row + 4 * step * groups;
        for (std::size_t g = 0; g < groups; ++g) {
            const std::int32_t early = larger(order_at(at, g), order_at(at, g + groups));
            const std::int32_t late = larger(order_at(at, g + 2 * groups), order_at(at, g + 3 * groups));
            maxima[g] = larger(maxima[g], larger(early, late));
        }
    }
    for (; step < steps; ++step)
        for (std::size_t g = 0; g < groups; ++g)
            maxima[g] = larger(maxima[g], order_at(row + 4 * step * groups, g));
}

LANEWISE_MULTIVERSION bool holds(const std::byte* row, std::size_t count, std::int32_t rank) {
    std::int32_t any = 0;
    for (std::size_t k = 0; k < count; ++k) any |= rank_at(row, k) == rank ? 1 : 0;
    return any != 0;
}

// The eighth largest of the maxima.
std::int32_t eighth_largest(const Maxima& maxima) {
    std::array<std::int32_t, slots> best;
    best.fill(INT32_MIN);
    for (const std::int32_t maximum : maxima) {
        if (maximum <= best[0]) continue;
        std::size_t at = 0;
        while (at + 1 < slots && best[at + 1] < maximum) {
            best[at] = best[at + 1];
            ++at;
        }
        best[at] = maximum;
    }
    return best[0];
}

LANEWISE_MULTIVERSION void combine(const Maxima* of_rounds, std::size_t rounds, Maxima& maxima) {
    maxima = of_rounds[0];
    for (std::size_t round = 1; round < rounds; ++round)
        for (std::size_t g = 0; g < groups; ++g)
            maxima[g] = larger(maxima[g], of_rounds[round][g]);
}

// Offers the elements of at least an order.
void offer_groups(const std::byte* row, const Rounds& rounds, const Maxima* of_rounds,
                  const Maxima& maxima, std::int32_t least, Slots& best) {
    for (std::size_t g = 0; g < groups; ++g) {
        if (maxima[g] < least) continue;
        for (std::size_t round = 0; round < rounds.number; ++round) {
            if (of_rounds[round][g] < least) continue;
            for (std::size_t step = round * rounds.length; step < rounds.end_of(round); ++step) {
                const std::size_t position = step * groups + g;
                if (order_at(row, position) >= least) best.offer(rank_at(row, position), position);
            }
        }
    }
}

// Offers the first elements of a rank, until no more can enter.
void offer_first(const std::byte* row, std::size_t count, std::int32_t rank, Slots& best) {
    for (std::size_t k = 0; k < count && !best.full_of(rank); k += groups) {
        const std::size_t length = std::min(groups, count - k);
        if (!holds(row + 4 * k, length, rank)) continue;
        for (std::size_t i = 0; i < length; ++i)
            if (rank_at(row, k + i) == rank) best.offer(rank, k + i);
    }
}

}  // namespace

void top8_row(const std::byte* row, std::size_t count, std::uint32_t* largest) {
    if (avx512_top8(row, count, largest)) return;
    Slots best;
    const std::size_t steps = count / groups, whole = steps * groups;
    if (steps < 2) {
        for (std::size_t k = 0; k < count; ++k) best.offer(rank_at(row, k), k);
        return best.write(row, largest);
    }
    const Rounds rounds(steps);
    Maxima of_rounds[most_rounds], maxima;
    for (std::size_t round = 0; round < rounds.number; ++round) {
        const std::size_t first = round * rounds.length;
        group_maxima(row + 4 * first * groups, rounds.end_of(round) - first,
                     of_rounds[round].data());
    }
    combine(of_rounds, rounds.number, maxima);
    std::int32_t threshold = eighth_largest(maxima);
    if (threshold == order_of_zero) threshold = order_of_minus_zero;
    const std::int32_t rank = rank_of_order(threshold);
    const auto ties = std::count_if(maxima.begin(), maxima.end(), [=](std::int32_t maximum) {
        return rank_of_order(maximum) == rank;
    });
    // Many groups that only just reach the threshold mean many equal elements: then the first of
    // them are looked for from the start of the row, and only larger ones in the groups.
    const bool many = static_cast<std::size_t>(ties) > 2 * slots;
    const std::int32_t same = threshold == order_of_minus_zero ? order_of_zero : threshold;
    if (many && same == INT32_MAX) {
        offer_first(row, count, rank, best);
        return best.write(row, largest);
    }
    const std::int32_t least = many ? same + 1 : threshold;
    offer_groups(row, rounds, of_rounds, maxima, least, best);
    for (std::size_t k = whole; k < count; ++k)
        if (order_at(row, k) >= least) best.offer(rank_at(row, k), k);
    if (many && rank > rank_of_minus_infinity) offer_first(row, count, rank, best);
    best.write(row, largest);
}

}  // namespace lanewise
