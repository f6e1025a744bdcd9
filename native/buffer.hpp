// Walks over the memory of Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "step.hpp"

namespace lanewise {

[[noreturn]] inline void refuse(const std::string& message) {
    throw nanobind::value_error(message.c_str());
}

// The elements of an array [rows, …] as a walk, the last axis fastest; up to four axes after the
// first. Goes through the buffer protocol and not DLPack, because rows of a memory image may be
// any number of bytes apart and start at any address; DLPack counts strides in whole elements.
// The memory stays where it is as long as the object lives: keep a reference. Elements have 1, 2 or
// 4 bytes, or also 8 where the kernel takes those (`eight`).
inline Walk walk_of(nanobind::handle object, const char* name, bool writable, bool eight = false) {
    Py_buffer view;
    const int flags = writable ? PyBUF_STRIDES | PyBUF_WRITABLE : PyBUF_STRIDES;
    if (PyObject_GetBuffer(object.ptr(), &view, flags) != 0) throw nanobind::python_error();
    Walk walk;
    const int axes = view.ndim;
    const bool fits = axes >= 1 && axes <= most_dimensions + 1 &&
                      (view.itemsize == 1 || view.itemsize == 2 || view.itemsize == 4 ||
                       (eight && view.itemsize == 8));
    if (fits) {
        walk.base = static_cast<std::byte*>(view.buf);
        walk.pitch = view.strides[0];
        walk.rows = static_cast<std::size_t>(view.shape[0]);
        walk.size = static_cast<unsigned>(view.itemsize);
        walk.count = 1;
        walk.dimensions = axes - 1;
        for (int axis = axes - 1, d = 0; axis >= 1; --axis, ++d) {
            walk.step[d] = view.strides[axis];
            walk.num[d] = static_cast<std::size_t>(view.shape[axis]);
            walk.count *= walk.num[d];
        }
        walk.simplify();
    }
    PyBuffer_Release(&view);
    if (!fits)
        refuse(std::string(name) +
               " must have 1 to 5 dimensions and elements of 1, 2" +
               (eight ? ", 4 or 8 bytes" : " or 4 bytes"));
    return walk;
}

inline void check_shape(const Walk& walk, const char* name, std::size_t rows, std::size_t count) {
    if (walk.rows != rows || walk.count != count)
        refuse(std::string(name) + " must have " + std::to_string(rows) + " rows of " +
               std::to_string(count) + " elements, not " + std::to_string(walk.rows) + " of " +
               std::to_string(walk.count));
}

inline void check_size(const Walk& walk, const char* name, unsigned size) {
    if (walk.size != size)
        refuse(std::string(name) + " must have elements of " + std::to_string(size) +
               " bytes, not " + std::to_string(walk.size));
}

// A destination whose rows share no place, so that rows can run in any order.
inline Walk destination_of(nanobind::handle object) {
    const Walk walk = walk_of(object, "destination", true);
    if (walk.count && walk.rows > 1) {
        const auto [low, high] = walk.extent();
        if (walk.pitch < high - low && -walk.pitch < high - low)
            refuse("destination must have rows that do not overlap");
    }
    return walk;
}

// One value a row, which the destination's writes must not change before it is read.
inline PerRow per_row(nanobind::handle object, const char* name, const Walk& destination,
                      bool writable = false) {
    const Walk walk = walk_of(object, name, writable);
    check_shape(walk, name, destination.rows, 1);
    if (walk.may_overlap(destination))
        refuse(std::string(name) + " must not share memory with the destination");
    return {walk.base, walk.pitch, walk.size};
}

}  // namespace lanewise
