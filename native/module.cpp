// The Python face of the row kernels: arguments are checked here, when a step is made, and never
// in loops. lanewise.kernels.rows describes what each does.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "avx512.hpp"
#include "buffer.hpp"
#include "program.hpp"
#include "python_step.hpp"

namespace nb = nanobind;

namespace lanewise {
namespace {

struct PyConversion {
    Conversion conversion;
    nb::object table;  // keeps the entries alive
};

void run(PyStep& step, std::size_t threads) {
    nb::gil_scoped_release released;
    run_step(*step.step, threads);
}

// Below this much work other Python threads wait rather than the interpreter lock is let go.
constexpr std::size_t elements_worth_the_lock = 1 << 14;

class PyProgram {
   public:
    explicit PyProgram(nb::sequence steps) {
        for (nb::handle item : steps) {
            kept_.push_back(nb::borrow<nb::object>(item));
            steps_.push_back(nb::cast<PyStep*>(item)->step.get());
            elements_ += steps_.back()->elements();
        }
    }

    // None, or a list of (index of the step, flags as bytes) for what was noted.
    nb::object run(std::size_t threads) const {
        std::vector<Noted> noted;
        if (elements_ < elements_worth_the_lock) {
            noted = run_steps(steps_, threads);
        } else {
            nb::gil_scoped_release released;
            noted = run_steps(steps_, threads);
        }
        if (noted.empty()) return nb::none();
        nb::list found;
        for (const Noted& one : noted)
            found.append(nb::make_tuple(one.index, nb::bytes(one.flags.data(), one.flags.size())));
        return found;
    }

   private:
    std::vector<nb::object> kept_;
    std::vector<Step*> steps_;
    std::size_t elements_ = 0;
};

PyConversion copying(unsigned size) {
    if (size != 1 && size != 2 && size != 4) refuse("elements have 1, 2 or 4 bytes");
    return {Conversion::copying(size), nb::none()};
}

PyConversion looking_up(nb::object table) {
    const Walk walk = walk_of(table, "table", false);
    const bool narrow = walk.rows == 256;
    if (walk.count != 1 || walk.pitch != static_cast<std::ptrdiff_t>(walk.size) ||
        !(narrow || walk.rows == 65536))
        refuse("table must be a packed row of 256 or 65536 entries");
    return {Conversion::looking_up(narrow ? 1 : 2, walk.size, walk.base), std::move(table)};
}

// What the codes of a source are: "fp32", "int32", "uint32", or, where there is arithmetic for
// them, "int16", "uint16", "upper_half" and "fp16".
struct PySource {
    Conversion::Source kind;
    std::uint32_t flip;
};

PySource source_named(const std::string& name, std::uint32_t flip) {
    using Kind = Conversion::Source;
    const std::pair<const char*, Kind> kinds[] = {
        {"fp32", Kind::fp32},     {"int32", Kind::int32},   {"uint32", Kind::uint32},
        {"upper_half", Kind::upper_half}, {"fp16", Kind::fp16}, {"int16", Kind::int16},
        {"uint16", Kind::uint16}};
    for (const auto& [known, kind] : kinds) {
        if (name != known) continue;
        const bool narrow = kind != Kind::fp32 && kind != Kind::int32 && kind != Kind::uint32;
        if (narrow && !has_avx512()) break;
        if (flip && kind != Kind::fp32) break;
        return {kind, flip};
    }
    refuse("no kernel decodes such a source");
}

PyConversion encoding(const PySource& source, const Target& target) {
    return {Conversion::encoding(source.kind, source.flip, target), nb::none()};
}

PyConversion to_fp32(const PySource& source, bool keep_nan) {
    Target target;
    if (keep_nan) target.kind = Target::Kind::bits;
    return encoding(source, target);
}

PyConversion to_float(const PySource& source, unsigned size, std::uint32_t mantissa_bits,
                      std::uint32_t bias, std::uint32_t low_zero_bits, std::uint32_t largest,
                      std::uint32_t overflow, std::uint32_t infinity, std::uint32_t nan) {
    const bool fits = bias == 127 ? size >= 2 : size <= 2 && bias >= 1 && bias < 127;
    if (!fits || mantissa_bits < 1 || mantissa_bits > (size == 4 ? 22u : 8u * size - 3))
        refuse("no kernel encodes such a float");
    Target target;
    target.kind = Target::Kind::floating;
    target.size = size;
    target.mantissa_bits = mantissa_bits;
    target.bias = bias;
    target.low_zero_bits = low_zero_bits;
    target.largest = largest;
    target.overflow = overflow;
    target.infinity = infinity;
    target.nan = nan;
    return encoding(source, target);
}

PyConversion to_integer(const PySource& source, unsigned size, std::uint32_t most_positive,
                        std::uint32_t most_negative, bool to_nearest) {
    if (size != 1 && size != 2 && size != 4) refuse("elements have 1, 2 or 4 bytes");
    Target target;
    target.kind = Target::Kind::integer;
    target.size = size;
    target.most_positive = most_positive;
    target.most_negative = most_negative;
    target.to_nearest = to_nearest;
    return encoding(source, target);
}

void check_conversion(const PyConversion& conversion, const Walk& source, unsigned to_size) {
    check_size(source, "source", conversion.conversion.from_size);
    if (conversion.conversion.to_size != to_size)
        refuse("the conversion must give elements of " + std::to_string(to_size) + " bytes");
}

PyStep* make_cast(nb::object destination, nb::object source, const PyConversion& conversion) {
    const Walk to = destination_of(destination), from = walk_of(source, "source", false);
    check_shape(from, "source", to.rows, to.count);
    check_conversion(conversion, from, to.size);
    return made(cast_step(to, from, conversion.conversion), destination, source,
                conversion.table);
}

PyStep* make_merge(nb::object destination, nb::object source, nb::object predicate,
                   const PyConversion& conversion) {
    const Walk to = destination_of(destination), from = walk_of(source, "source", false);
    const Walk where = walk_of(predicate, "predicate", false);
    check_shape(from, "source", to.rows, to.count);
    check_shape(where, "predicate", to.rows, to.count);
    check_conversion(conversion, from, to.size);
    return made(merge_step(to, from, where, conversion.conversion), destination, source, predicate,
                conversion.table);
}

PyStep* make_fill(nb::object destination, nb::object value, nb::object predicate, bool when) {
    const Walk to = destination_of(destination), where = walk_of(predicate, "predicate", false);
    check_shape(where, "predicate", to.rows, to.count);
    const PerRow fresh = per_row(value, "value", to);
    return made(fill_step(to, fresh, where, when), destination, value, predicate);
}

Keys keys_of(const nb::object& keys, const nb::object& matched, std::size_t rows) {
    const Walk values = walk_of(keys, "keys", false), flags = walk_of(matched, "matched", true);
    check_shape(values, "keys", rows, 8);
    check_shape(flags, "matched", rows, 8);
    check_size(values, "keys", 4);
    check_size(flags, "matched", 1);
    if (!values.unit() || !flags.unit()) refuse("keys and matched must have packed rows");
    return {values.base, flags.base, values.pitch, flags.pitch};
}

PyStep* make_top8(nb::object destination, nb::object source, const PyConversion& to_hub,
                  const PyConversion& from_hub) {
    const Walk to = destination_of(destination), from = walk_of(source, "source", false);
    check_shape(to, "destination", from.rows, 8);
    check_conversion(to_hub, from, 4);
    if (from_hub.conversion.from_size != 4 || from_hub.conversion.to_size != to.size)
        refuse("from_hub must give the destination's elements");
    return made(top8_step(to, from, to_hub.conversion, from_hub.conversion), destination, source,
                to_hub.table, from_hub.table);
}

PyStep* make_find8(nb::object destination, nb::object source, const PyConversion& to_hub,
                   nb::object keys, nb::object matched) {
    const Walk to = destination_of(destination), from = walk_of(source, "source", false);
    check_shape(to, "destination", from.rows, 8);
    check_conversion(to_hub, from, 4);
    return made(find8_step(to, from, to_hub.conversion, keys_of(keys, matched, from.rows)),
                destination, source, to_hub.table, keys, matched);
}

PyStep* make_replace8(nb::object destination, nb::object source, const PyConversion& to_hub,
                      const PyConversion& from_hub, std::uint32_t replacement, nb::object keys,
                      nb::object matched, nb::object indices) {
    const Walk to = destination_of(destination), from = walk_of(source, "source", false);
    check_shape(from, "source", to.rows, to.count);
    check_conversion(to_hub, from, 4);
    if (from_hub.conversion.from_size != 4 || from_hub.conversion.to_size != to.size)
        refuse("from_hub must give the destination's elements");
    const Walk found = walk_of(indices, "indices", true);
    check_shape(found, "indices", to.rows, 8);
    check_size(found, "indices", 4);
    if (!found.unit()) refuse("indices must have packed rows");
    return made(replace8_step(to, from, to_hub.conversion, from_hub.conversion, replacement,
                              keys_of(keys, matched, to.rows), {found.base, found.pitch, 4}),
                destination, source, to_hub.table, from_hub.table, keys, matched, indices);
}

// The parts that the two selecting kernels share.
Select select_of(const nb::object& destination, const nb::object& source,
                 const PyConversion& conversion, const PyConversion& to_hub,
                 const nb::object& other, const nb::object& other_hub,
                 const nb::object& accumulator) {
    Select select;
    select.destination = destination_of(destination);
    select.source = walk_of(source, "source", false);
    check_shape(select.source, "source", select.destination.rows, select.destination.count);
    check_conversion(conversion, select.source, select.destination.size);
    check_conversion(to_hub, select.source, 4);
    select.conversion = conversion.conversion;
    select.to_hub = to_hub.conversion;
    if (!other.is_none()) select.other = per_row(other, "other", select.destination);
    if (!other_hub.is_none()) select.other_hub = per_row(other_hub, "other_hub", select.destination);
    if (!accumulator.is_none()) {
        const PerRow place = per_row(accumulator, "accumulator", select.destination, true);
        if (place.size != 4) refuse("accumulator must have elements of 4 bytes");
        select.accumulator = {const_cast<std::byte*>(place.first), place.pitch};
    }
    return select;
}

PyStep* make_select(nb::object destination, nb::object source, nb::object predicate, bool when,
                    const PyConversion& conversion, const PyConversion& to_hub, nb::object other,
                    nb::object other_hub, nb::object accumulator) {
    const Select select =
        select_of(destination, source, conversion, to_hub, other, other_hub, accumulator);
    const Walk where = walk_of(predicate, "predicate", false);
    check_shape(where, "predicate", select.destination.rows, select.destination.count);
    return made(select_step(select, where, when), destination, source, predicate,
                conversion.table, to_hub.table, other, other_hub, accumulator);
}

PyStep* make_range(nb::object destination, nb::object source, std::optional<std::uint32_t> base,
                   std::uint8_t low_relation, nb::object low, std::uint8_t high_relation,
                   nb::object high, const PyConversion& conversion, const PyConversion& to_hub,
                   nb::object other, nb::object other_hub, nb::object accumulator) {
    const Select select =
        select_of(destination, source, conversion, to_hub, other, other_hub, accumulator);
    const Bound from{per_row(low, "low", select.destination), low_relation};
    const Bound to{per_row(high, "high", select.destination), high_relation};
    if (select.destination.count > 1 << 24) refuse("positions must be below 2^24");
    return made(range_step(select, base, from, to), destination, source, low, high,
                conversion.table, to_hub.table, other, other_hub, accumulator);
}

PyStep* make_nonzero(nb::object destination, nb::object source, nb::object offset,
                     nb::object padding, std::uint32_t mask, bool skip_nan) {
    const Walk to = destination_of(destination), from = walk_of(source, "source", false);
    check_shape(to, "destination", from.rows, from.count + 1);
    check_size(to, "destination", 4);
    check_size(from, "source", 4);
    const PerRow added = per_row(offset, "offset", to), rest = per_row(padding, "padding", to);
    return made(nonzero_step(to, from, added, rest, mask, skip_nan), destination, source, offset,
                padding);
}

PyStep* make_note(nb::object flags) {
    const Walk walk = walk_of(flags, "flags", false);
    check_shape(walk, "flags", walk.rows, 1);
    check_size(walk, "flags", 1);
    return made(note_step(walk.base, walk.pitch, walk.rows), flags);
}

}  // namespace
}  // namespace lanewise

NB_MODULE(_native, module) {
    using namespace lanewise;
    module.doc() = "Compiled row kernels; lanewise.kernels.native is their public face.";
    nb::class_<PyConversion>(module, "Conversion")
        .def_prop_ro("to_size", [](const PyConversion& made) { return made.conversion.to_size; });
    module.def("copying", &copying, nb::arg("size"));
    module.def("looking_up", &looking_up, nb::arg("table"));
    nb::class_<PySource>(module, "Source");
    module.def("source", &source_named, nb::arg("name"), nb::arg("flip") = 0);
    module.def("to_fp32", &to_fp32, nb::arg("source"), nb::arg("keep_nan"));
    module.def("to_float", &to_float, nb::arg("source"), nb::arg("size"),
               nb::arg("mantissa_bits"), nb::arg("bias"), nb::arg("low_zero_bits"),
               nb::arg("largest"), nb::arg("overflow"), nb::arg("infinity"), nb::arg("nan"));
    module.def("to_integer", &to_integer, nb::arg("source"), nb::arg("size"),
               nb::arg("most_positive"), nb::arg("most_negative"), nb::arg("to_nearest"));
    module.attr("HAS_AVX512") = has_avx512();

    nb::class_<PyStep>(module, "Step").def("run", &run, nb::arg("threads") = 1);
    nb::class_<PyProgram>(module, "Program")
        .def(nb::init<nb::sequence>(), nb::arg("steps"))
        .def("run", &PyProgram::run, nb::arg("threads") = 1);

    module.def("cast_rows", &make_cast);
    module.def("merge_rows", &make_merge);
    module.def("fill_rows", &make_fill);
    module.def("top8_rows", &make_top8);
    module.def("find8_rows", &make_find8);
    module.def("replace8_rows", &make_replace8);
    module.def("select_rows", &make_select, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none());
    module.def("range_rows", &make_range, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
               nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg().none(), nb::arg().none());
    module.def("nonzero_rows", &make_nonzero);
    module.def("note_rows", &make_note);
    bind_tiles(module);
}
