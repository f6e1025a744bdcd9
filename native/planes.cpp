// Planes of bits: what compares publish, selects read, and a transpose turns into bytes.
// Words are little-endian, as everything here is.
#include <cstring>

#include "cells.hpp"
#include "fp32.hpp"
#include "multiversion.hpp"
#include "tiles.hpp"

namespace lanewise {
namespace {

// Bytes 0 or 1 as bits, and back, eight at a time: a product moves each to its place.
LANEWISE_INLINE std::uint64_t bits_of(const std::byte* truth, std::size_t count) {
    std::uint64_t bits = 0;
    std::size_t k = 0;
    for (; k + 8 <= count; k += 8)
        bits |= (load<std::uint64_t>(truth + k) * 0x0102040810204080u >> 56) << k;
    for (; k < count; ++k) bits |= std::uint64_t{truth[k] != std::byte{0}} << k;
    return bits;
}

LANEWISE_INLINE std::uint64_t bytes_of(std::uint64_t eight_bits) {
    const std::uint64_t apart = (eight_bits & 0xFF) * 0x0101010101010101u & 0x8040201008040201u;
    return ((apart + 0x7F7F7F7F7F7F7F7Fu) | apart) >> 7 & 0x0101010101010101u;
}

LANEWISE_INLINE bool any(const std::byte* truth, std::size_t count) {
    std::uint64_t found = 0;
    std::size_t k = 0;
    for (; k + 8 <= count; k += 8) found |= load<std::uint64_t>(truth + k);
    for (; k < count; ++k) found |= static_cast<std::uint64_t>(truth[k]);
    return found != 0;
}

// Exchanges the bits of `mask` with those `shift` above them.
LANEWISE_INLINE std::uint64_t exchange(std::uint64_t x, std::uint64_t mask, unsigned shift) {
    const std::uint64_t t = (x ^ x >> shift) & mask;
    return x ^ t ^ t << shift;
}

// Bits at even places to the low half and at odd places to the high half of each part of
// `2 << stages` bits; 5 stages for all 64 bits. `shuffle` undoes it.
LANEWISE_INLINE std::uint64_t unshuffle(std::uint64_t x, int stages) {
    x = exchange(x, 0x2222222222222222u, 1);
    x = exchange(x, 0x0C0C0C0C0C0C0C0Cu, 2);
    x = exchange(x, 0x00F000F000F000F0u, 4);
    x = exchange(x, 0x0000FF000000FF00u, 8);
    return stages < 5 ? x : exchange(x, 0x00000000FFFF0000u, 16);
}

LANEWISE_INLINE std::uint64_t shuffle(std::uint64_t x, int stages) {
    if (stages == 5) x = exchange(x, 0x00000000FFFF0000u, 16);
    x = exchange(x, 0x0000FF000000FF00u, 8);
    x = exchange(x, 0x00F000F000F000F0u, 4);
    x = exchange(x, 0x0C0C0C0C0C0C0C0Cu, 2);
    return exchange(x, 0x2222222222222222u, 1);
}

LANEWISE_INLINE std::uint64_t low_bits(unsigned count) {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// The truths of a cell in the order of its elements, as planes: `two` columns and planes of any
// size that holds the rows, `four` columns and planes of 16 bits.
LANEWISE_INLINE std::uint64_t two_planes(std::uint64_t truths, unsigned plane) {
    const std::uint64_t halves = unshuffle(truths, 5);
    return (halves & low_bits(32)) | halves >> 32 << plane;
}

LANEWISE_INLINE std::uint64_t four_planes(std::uint64_t truths) {
    // Columns 0 2 1 3 after both; the middle ones change places.
    return exchange(unshuffle(unshuffle(truths, 5), 4), 0x00000000FFFF0000u, 16);
}

// The same for any number of columns, from bytes.
LANEWISE_INLINE std::uint64_t planes_of(const std::byte* truth, std::size_t rows,
                                        std::size_t columns, unsigned plane) {
    std::uint64_t word = 0;
    for (std::size_t column = 0; column < columns; ++column)
        for (std::size_t row = 0; row < rows; ++row)
            word |= std::uint64_t{truth[row * columns + column] != std::byte{0}}
                    << (row + column * plane);
    return word;
}

// The other way: planes as truths in the order of elements; of three columns, as if there were
// four.
LANEWISE_INLINE std::uint64_t truths_of(std::uint64_t word, std::size_t columns, unsigned plane) {
    if (columns == 1) return word;
    if (columns == 2)
        return shuffle((word & low_bits(plane)) | (word >> plane & low_bits(plane)) << 32, 5);
    return shuffle(shuffle(exchange(word, 0x00000000FFFF0000u, 16), 4), 5);
}

LANEWISE_INLINE void put_truths(std::byte* truth, std::uint64_t bits, std::size_t rows,
                                std::size_t columns) {
    // A word has 64 bits, which compilers are told so that they need not warn.
    const std::size_t count = std::min<std::size_t>(64, rows * columns);
    if (columns == 3) {
        for (std::size_t k = 0; k < count; ++k)
            truth[k] = static_cast<std::byte>(bits >> (k / 3 * 4 + k % 3) & 1);
        return;
    }
    std::size_t k = 0;
    for (; k + 8 <= count; k += 8) store<std::uint64_t>(truth + k, bytes_of(bits >> k));
    for (; k < count; ++k) truth[k] = static_cast<std::byte>(bits >> k & 1);
}

// Word `index` of a cell, of which there may be only a half.
LANEWISE_INLINE std::uint64_t word_at(const std::byte* words, std::size_t index,
                                      std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, words + 8 * index, std::min<std::size_t>(8, bytes - 8 * index));
    return word;
}

// A cell whose planes lie in several words.
LANEWISE_INLINE void expand_words(std::byte* truth, const std::byte* words, std::size_t bytes,
                                  std::size_t rows, std::size_t columns, unsigned plane) {
    const std::size_t in_word = 64 / plane;
    for (std::size_t column = 0, index = 0; column < columns; column += in_word, ++index) {
        const std::size_t here = std::min(in_word, columns - column);
        std::byte part[64];
        put_truths(part, truths_of(word_at(words, index, bytes), here, plane), rows, here);
        for (std::size_t row = 0; row < rows; ++row)
            std::memcpy(truth + row * columns + column, part + row * here, here);
    }
}

constexpr std::size_t together = 32;

LANEWISE_MULTIVERSION void pack_cells(std::byte* words, const std::byte* truth, std::size_t cells,
                                      std::size_t rows, std::size_t columns, unsigned plane,
                                      unsigned word_bytes) {
    const std::size_t count = rows * columns;
    const bool two = columns == 2 && rows <= 32, four = columns == 4 && plane == 16;
    // Several cells at a time, so that their words can lie in one register.
    std::uint64_t made[together] = {};
    for (std::size_t done = 0; done < cells; done += together) {
        const std::size_t here = std::min(together, cells - done);
        for (std::size_t cell = 0; cell < here; ++cell) {
            const std::byte* one = truth + (done + cell) * count;
            made[cell] = two || four || columns == 1 ? bits_of(one, count)
                                                     : planes_of(one, rows, columns, plane);
        }
        if (two)
            for (std::size_t cell = 0; cell < together; ++cell)
                made[cell] = two_planes(made[cell], plane);
        if (four)
            for (std::size_t cell = 0; cell < together; ++cell)
                made[cell] = four_planes(made[cell]);
        for (std::size_t cell = 0; cell < here; ++cell)
            std::memcpy(words + (done + cell) * word_bytes, &made[cell], word_bytes);
    }
}

LANEWISE_MULTIVERSION void expand_cells(std::byte* truth, const std::byte* words,
                                        std::size_t cells, std::size_t bytes, std::size_t rows,
                                        std::size_t columns, unsigned plane) {
    const std::size_t count = rows * columns;
    if (columns * plane > 64) {
        for (std::size_t cell = 0; cell < cells; ++cell)
            expand_words(truth + cell * count, words + cell * bytes, bytes, rows, columns, plane);
        return;
    }
    std::uint64_t found[together] = {};
    for (std::size_t done = 0; done < cells; done += together) {
        const std::size_t here = std::min(together, cells - done);
        for (std::size_t cell = 0; cell < here; ++cell)
            found[cell] = word_at(words + (done + cell) * bytes, 0, bytes);
        for (std::size_t cell = 0; cell < together; ++cell)
            found[cell] = truths_of(found[cell], columns, plane);
        for (std::size_t cell = 0; cell < here; ++cell)
            put_truths(truth + (done + cell) * count, found[cell], rows, columns);
    }
}

// Vectors of any compiler and processor; where there are no registers of 32 bytes they are made
// of smaller ones.
typedef std::uint8_t Bytes __attribute__((vector_size(32)));
typedef std::uint64_t Blocks __attribute__((vector_size(32)));

// Four blocks of 8x8 bits, byte r of each a row, turned over.
LANEWISE_INLINE void transpose_blocks(Blocks& x) {
    Blocks t = (x ^ x >> 7) & 0x00AA00AA00AA00AAu;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000CCCC0000CCCCu;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000F0F0F0F0u;
    x ^= t ^ t << 28;
}

LANEWISE_MULTIVERSION void transpose_8x32(std::byte* out, const std::byte* in, std::size_t cells) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
        Bytes planes;
        std::memcpy(&planes, in + 32 * cell, 32);
        // Block k gets byte k of every plane; its rows are rows 8k and on of the cell.
        const Bytes gathered = __builtin_shufflevector(
            planes, planes, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29, 2, 6, 10, 14,
            18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
        Blocks blocks = reinterpret_cast<Blocks>(gathered);
        transpose_blocks(blocks);
        std::memcpy(out + 32 * cell, &blocks, 32);
    }
}

LANEWISE_MULTIVERSION void transpose_16x16(std::byte* out, const std::byte* in,
                                           std::size_t cells) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
        Bytes planes;
        std::memcpy(&planes, in + 32 * cell, 32);
        // Block 2j + k gets byte k of planes 8j and on; it makes byte j of rows 8k and on.
        const Bytes gathered = __builtin_shufflevector(
            planes, planes, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 16, 18, 20, 22,
            24, 26, 28, 30, 17, 19, 21, 23, 25, 27, 29, 31);
        Blocks blocks = reinterpret_cast<Blocks>(gathered);
        transpose_blocks(blocks);
        const Bytes rows = reinterpret_cast<Bytes>(blocks);
        const Bytes paired = __builtin_shufflevector(
            rows, rows, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10,
            26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        std::memcpy(out + 32 * cell, &paired, 32);
    }
}

class CompareWords final : public Step {
   public:
    CompareWords(const Walk& words, const Walk& left, const Walk& right, std::size_t columns,
            unsigned plane, const Ordering& ordering, Relation relation, Raised raised)
        : words_(words), left_(left), right_(right), columns_(columns), plane_(plane),
          ordering_(ordering), relation_(relation), raised_(raised) {}

    std::size_t rows() const override { return words_.rows; }
    std::size_t elements() const override { return left_.rows * left_.count; }

    void run(std::size_t first, std::size_t last) override {
        const std::size_t count = left_.count, most = cells_together(count);
        CellReader left(left_, most), right(right_, most);
        CellWriter words(words_, most);
        std::vector<std::byte> truth(most * count);
        in_blocks(first, last, most, [&](std::size_t cell, std::size_t cells) {
            const std::byte *a = left.take(cell, cells), *b = right.take(cell, cells);
            const bool no_numbers =
                relate_run(truth.data(), a, b, cells * count, ordering_, relation_);
            pack_cells(words.place(cell), truth.data(), cells, count / columns_, columns_, plane_,
                       words_.size);
            words.done(cell, cells);
            // Which cells have signalling codes is asked only where any can be.
            if (!no_numbers) return;
            signalling_run(truth.data(), a, b, cells * count, ordering_);
            for (std::size_t k = 0; k < cells; ++k)
                if (any(truth.data() + k * count, count))
                    raised_.flags[static_cast<std::ptrdiff_t>(cell + k) * raised_.pitch] =
                        std::byte{1};
        });
    }

   private:
    Walk words_, left_, right_;
    std::size_t columns_;
    unsigned plane_;
    Ordering ordering_;
    Relation relation_;
    Raised raised_;
};

class SelectWords final : public Step {
   public:
    SelectWords(const Walk& destination, const Walk& words, const Walk& chosen, const Walk& other,
           std::size_t columns, unsigned plane)
        : destination_(destination), words_(words), chosen_(chosen), other_(other),
          columns_(columns), plane_(plane) {}

    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        const std::size_t count = destination_.count, most = cells_together(count);
        CellReader words(words_, most), chosen(chosen_, most), other(other_, most);
        CellWriter made(destination_, most);
        std::vector<std::byte> truth(most * count);
        in_blocks(first, last, most, [&](std::size_t cell, std::size_t cells) {
            expand_cells(truth.data(), words.take(cell, cells), cells, words_.bytes(),
                         count / columns_, columns_, plane_);
            choose_run(made.place(cell), truth.data(), chosen.take(cell, cells),
                       other.take(cell, cells), cells * count, destination_.size);
            made.done(cell, cells);
        });
    }

   private:
    Walk destination_, words_, chosen_, other_;
    std::size_t columns_;
    unsigned plane_;
};

class ExpandWords final : public Step {
   public:
    ExpandWords(const Walk& truth, const Walk& words, std::size_t columns, unsigned plane)
        : truth_(truth), words_(words), columns_(columns), plane_(plane) {}

    std::size_t rows() const override { return truth_.rows; }
    std::size_t elements() const override { return truth_.rows * truth_.count; }

    void run(std::size_t first, std::size_t last) override {
        const std::size_t most = cells_together(truth_.count);
        CellReader words(words_, most);
        CellWriter truth(truth_, most);
        in_blocks(first, last, most, [&](std::size_t cell, std::size_t cells) {
            expand_cells(truth.place(cell), words.take(cell, cells), cells, words_.bytes(),
                         truth_.count / columns_, columns_, plane_);
            truth.done(cell, cells);
        });
    }

   private:
    Walk truth_, words_;
    std::size_t columns_;
    unsigned plane_;
};

class TransposeWords final : public Step {
   public:
    TransposeWords(const Walk& destination, const Walk& words, unsigned plane)
        : destination_(destination), words_(words), plane_(plane) {}

    std::size_t rows() const override { return destination_.rows; }
    std::size_t elements() const override { return destination_.rows * destination_.count; }

    void run(std::size_t first, std::size_t last) override {
        const std::size_t most = cells_together(32);
        CellReader words(words_, most);
        CellWriter bytes(destination_, most);
        in_blocks(first, last, most, [&](std::size_t cell, std::size_t cells) {
            const std::byte* planes = words.take(cell, cells);
            if (plane_ == 32)
                transpose_8x32(bytes.place(cell), planes, cells);
            else
                transpose_16x16(bytes.place(cell), planes, cells);
            bytes.done(cell, cells);
        });
    }

   private:
    Walk destination_, words_;
    unsigned plane_;
};

}  // namespace

std::unique_ptr<Step> compare_words_step(const Walk& words, const Walk& left, const Walk& right,
                                   std::size_t columns, unsigned plane, const Ordering& ordering,
                                   Relation relation, Raised raised) {
    return std::make_unique<CompareWords>(words, left, right, columns, plane, ordering, relation,
                                     raised);
}

std::unique_ptr<Step> select_words_step(const Walk& destination, const Walk& words, const Walk& chosen,
                                  const Walk& other, std::size_t columns, unsigned plane) {
    return std::make_unique<SelectWords>(destination, words, chosen, other, columns, plane);
}

std::unique_ptr<Step> expand_words_step(const Walk& truth, const Walk& words, std::size_t columns,
                                  unsigned plane) {
    return std::make_unique<ExpandWords>(truth, words, columns, plane);
}

std::unique_ptr<Step> transpose_words_step(const Walk& destination, const Walk& words, unsigned plane) {
    return std::make_unique<TransposeWords>(destination, words, plane);
}

}  // namespace lanewise
