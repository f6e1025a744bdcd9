// The Python face of the tile machine's kernels; lanewise.kernels.tiles_reference describes what each does.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "buffer.hpp"
#include "python_step.hpp"
#include "tiles.hpp"

namespace nb = nanobind;

namespace lanewise {
namespace {

Walk tile_walk(const nb::object& object, const char* name, bool writable = false) {
    return walk_of(object, name, writable, true);
}

// A destination that shares no memory with what is read.
Walk fresh(const nb::object& object, const char* name, std::initializer_list<Walk> read) {
    const Walk walk = tile_walk(object, name, true);
    for (const Walk& other : read)
        if (walk.may_overlap(other)) refuse(std::string(name) + " must not share memory with others");
    if (walk.count && !walk.injective()) refuse(std::string(name) + " must not overlap itself");
    if (walk.count && walk.rows > 1) {
        const auto [low, high] = walk.extent();
        if (walk.pitch < high - low && -walk.pitch < high - low)
            refuse(std::string(name) + " must have rows that do not overlap");
    }
    return walk;
}

Ordering ordering_of(unsigned size, unsigned width, const std::string& kind, std::uint64_t largest,
                     std::uint64_t quiet) {
    if (width < 2 || width > 8 * size) refuse("width must be 2 bits to that of an element");
    const std::uint64_t sign = std::uint64_t{1} << (width - 1), all = ~std::uint64_t{0};
    Ordering ordering{size, 0, all, 0, 0, sign, all, all, 0};
    if (kind == "signed") {
        ordering.flip = sign;
    } else if (kind == "sign_magnitude") {
        ordering.kept = ordering.magnitude = sign - 1;
        ordering.negated = all;
        ordering.bias = sign;
        ordering.largest = largest;
        ordering.quiet = quiet;
    } else if (kind != "unsigned") {
        refuse("kind must be unsigned, signed or sign_magnitude");
    }
    return ordering;
}

// A relation by name. Greater is less with the sides in each other's place.
Relation relation_named(const std::string& name, Walk& left, Walk& right) {
    if (name == "GT" || name == "GE") std::swap(left, right);
    if (name == "EQ" || name == "NE") return {false, true, name == "NE"};
    if (name == "LT" || name == "GT") return {true, false, false};
    if (name == "LE" || name == "GE") return {true, true, false};
    refuse("relation must be EQ, NE, LT, GT, LE or GE");
}

Raised raised_of(const nb::object& flags, std::size_t rows) {
    const Walk walk = tile_walk(flags, "raised", true);
    check_shape(walk, "raised", rows, 1);
    check_size(walk, "raised", 1);
    return {walk.base, walk.pitch};
}

void check_sides(const Walk& left, const Walk& right, const Ordering& ordering) {
    check_shape(right, "right", left.rows, left.count);
    check_size(left, "left", ordering.size);
    check_size(right, "right", ordering.size);
}

// Cells of `columns` columns whose planes of `plane` bits fit in `bytes`.
void check_cells(const Walk& cells, std::size_t columns, unsigned plane, std::size_t bytes) {
    if (columns < 1 || cells.count % columns != 0) refuse("cells must have whole rows of columns");
    if (plane > 64 || cells.count / columns > plane) refuse("a plane must hold a cell's rows");
    if (columns * plane > 8 * bytes) refuse("words must hold a plane for each column");
}

PyStep* make_relate(nb::object truth, nb::object left, nb::object right, const Ordering& ordering,
                    const std::string& relation, nb::object raised) {
    Walk a = tile_walk(left, "left"), b = tile_walk(right, "right");
    const Walk to = fresh(truth, "truth", {a, b});
    check_sides(a, b, ordering);
    const Relation holds = relation_named(relation, a, b);
    check_shape(to, "truth", a.rows, a.count);
    check_size(to, "truth", 1);
    return made(relate_step(to, a, b, ordering, holds, raised_of(raised, a.rows)), truth, left,
                right, raised);
}

PyStep* make_choose(nb::object destination, nb::object truth, nb::object chosen,
                    nb::object other) {
    const Walk where = tile_walk(truth, "truth"), yes = tile_walk(chosen, "chosen");
    const Walk no = tile_walk(other, "other");
    const Walk to = fresh(destination, "destination", {where, yes, no});
    check_shape(where, "truth", to.rows, to.count);
    check_shape(yes, "chosen", to.rows, to.count);
    check_shape(no, "other", to.rows, to.count);
    check_size(where, "truth", 1);
    check_size(yes, "chosen", to.size);
    check_size(no, "other", to.size);
    return made(choose_step(to, where, yes, no), destination, truth, chosen, other);
}

PyStep* make_compare(nb::object words, nb::object left, nb::object right, std::size_t columns,
                     unsigned plane, const Ordering& ordering, const std::string& relation,
                     nb::object raised) {
    Walk a = tile_walk(left, "left"), b = tile_walk(right, "right");
    const Walk to = fresh(words, "words", {a, b});
    check_sides(a, b, ordering);
    const Relation holds = relation_named(relation, a, b);
    check_shape(to, "words", a.rows, 1);
    if (to.size < 4) refuse("words must have 4 or 8 bytes");
    check_cells(a, columns, plane, to.size);
    return made(compare_words_step(to, a, b, columns, plane, ordering, holds,
                             raised_of(raised, a.rows)),
                words, left, right, raised);
}

// Planes of 16 or 32 bits in packed rows.
Walk planes_of(const nb::object& words, unsigned plane) {
    const Walk walk = tile_walk(words, "words");
    if (!walk.unit()) refuse("words must have packed rows");
    if (plane != 16 && plane != 32) refuse("planes must have 16 or 32 bits");
    return walk;
}

PyStep* make_select(nb::object destination, nb::object words, nb::object chosen, nb::object other,
                    std::size_t columns, unsigned plane) {
    const Walk masks = planes_of(words, plane), yes = tile_walk(chosen, "chosen");
    const Walk no = tile_walk(other, "other");
    const Walk to = fresh(destination, "destination", {masks, yes, no});
    check_shape(masks, "words", to.rows, masks.count);
    check_shape(yes, "chosen", to.rows, to.count);
    check_shape(no, "other", to.rows, to.count);
    check_size(yes, "chosen", to.size);
    check_size(no, "other", to.size);
    check_cells(to, columns, plane, masks.bytes());
    return made(select_words_step(to, masks, yes, no, columns, plane), destination, words, chosen, other);
}

PyStep* make_expand(nb::object truth, nb::object words, std::size_t columns, unsigned plane) {
    const Walk masks = planes_of(words, plane);
    const Walk to = fresh(truth, "truth", {masks});
    check_shape(masks, "words", to.rows, masks.count);
    check_size(to, "truth", 1);
    check_cells(to, columns, plane, masks.bytes());
    return made(expand_words_step(to, masks, columns, plane), truth, words);
}

PyStep* make_transpose(nb::object destination, nb::object words, unsigned plane) {
    const Walk planes = planes_of(words, plane);
    const Walk to = fresh(destination, "destination", {planes});
    check_size(to, "destination", 1);
    check_shape(to, "destination", planes.rows, 32);
    if (planes.bytes() != 32) refuse("words must have 32 bytes a row");
    return made(transpose_words_step(to, planes, plane), destination, words);
}

}  // namespace

void bind_tiles(nb::module_& module) {
    nb::class_<Ordering>(module, "Ordering");
    module.def("ordering", &ordering_of, nb::arg("size"), nb::arg("width"), nb::arg("kind"),
               nb::arg("largest"), nb::arg("quiet"));
    module.def("relate", &make_relate);
    module.def("choose", &make_choose);
    module.def("compare_words", &make_compare);
    module.def("select_words", &make_select);
    module.def("expand_words", &make_expand);
    module.def("transpose_words", &make_transpose);
}

}  // namespace lanewise
