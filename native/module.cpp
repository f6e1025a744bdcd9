// The Python face of the row kernels: arguments are checked here, once a call, and never in loops.
#include <nanobind/nanobind.h>

#include <cstring>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "rows.hpp"

namespace nb = nanobind;

namespace lanewise {
namespace {

std::string shape_of(const Block& block) {
    return std::to_string(block.rows()) + "x" + std::to_string(block.columns());
}

[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

// The messages are those of lanewise.kernels.merge, which the tests hold equal.
void check(const Block& destination, const Block& source, const Block& predicate) {
    for (const Block* block : {&destination, &source, &predicate}) {
        const std::string name = block->name();
        if (block->dimensions() != 2)
            refuse(name + " must have 2 dimensions (rows, columns), not " +
                   std::to_string(block->dimensions()));
        if (block->rows() != destination.rows() || block->columns() != destination.columns())
            refuse(name + " must have the destination's shape " + shape_of(destination) +
                   ", not " + shape_of(*block));
        if (!block->unit_stride())
            refuse(name + " must have unit stride inside a row; gather it first");
    }
    const std::size_t width = destination.width();
    if (width != 1 && width != 2 && width != 4)
        refuse("destination must have elements of 1, 2 or 4 bytes, not " + std::to_string(width));
    if (source.width() != width)
        refuse("source must have elements of " + std::to_string(width) +
               " bytes like the destination, not " + std::to_string(source.width()));
    if (predicate.width() != 1)
        refuse("predicate must have elements of 1 byte, not " + std::to_string(predicate.width()));
    if (destination.rows_overlap()) refuse("destination must have rows that do not overlap");
}

// A copy of a block with its rows packed, for when writing the destination would change it.
class Packed {
   public:
    explicit Packed(const Block& block) : size_(block.columns() * block.width()) {
        bytes_.resize(block.rows() * size_);
        const std::byte* from = block.first();
        for (std::size_t row = 0; row < block.rows(); ++row)
            std::memcpy(bytes_.data() + row * size_,
                        from + static_cast<std::ptrdiff_t>(row) * block.pitch(), size_);
    }
    ConstRows rows() const { return {bytes_.data(), static_cast<std::ptrdiff_t>(size_)}; }

   private:
    std::size_t size_;
    std::vector<std::byte> bytes_;
};

void merge(nb::handle destination_array, nb::handle source_array, nb::handle predicate_array) {
    const Block destination(destination_array, "destination", true);
    const Block source(source_array, "source", false);
    const Block predicate(predicate_array, "predicate", false);
    check(destination, source, predicate);
    if (destination.empty()) return;

    const auto run = [&](ConstRows from, ConstRows choose) {
        merge_rows(destination.mutable_rows(), from, choose, destination.rows(),
                   destination.columns(), destination.width());
    };
    const bool copy_source = destination.may_overlap(source);
    const bool copy_predicate = destination.may_overlap(predicate);
    if (!copy_source && !copy_predicate) {
        run(source.const_rows(), predicate.const_rows());
    } else if (!copy_predicate) {
        run(Packed(source).rows(), predicate.const_rows());
    } else if (!copy_source) {
        run(source.const_rows(), Packed(predicate).rows());
    } else {
        const Packed from(source);
        run(from.rows(), Packed(predicate).rows());
    }
}

}  // namespace
}  // namespace lanewise

NB_MODULE(_native, module) {
    module.doc() = "Compiled row kernels; lanewise.kernels.native is their public face.";
    module.def("merge_rows", &lanewise::merge, nb::arg("destination"), nb::arg("source"),
               nb::arg("predicate"),
               "Replace destination[r, k] by source[r, k] where predicate[r, k] is not 0.");
}
