// A two-dimensional view of a Python object's memory, strides in bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "rows.hpp"

namespace lanewise {

// Goes through the buffer protocol and not DLPack, because rows of a memory image may be any
// number of bytes apart and start at any address; DLPack counts strides in whole elements.
class Block {
   public:
    Block(nanobind::handle object, const char* name, bool writable) : name_(name) {
        const int flags = writable ? PyBUF_STRIDES | PyBUF_WRITABLE : PyBUF_STRIDES;
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nanobind::python_error();
    }
    ~Block() { PyBuffer_Release(&view_); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    const char* name() const { return name_; }
    int dimensions() const { return view_.ndim; }
    std::size_t rows() const { return static_cast<std::size_t>(view_.shape[0]); }
    std::size_t columns() const { return static_cast<std::size_t>(view_.shape[1]); }
    std::size_t width() const { return static_cast<std::size_t>(view_.itemsize); }
    bool empty() const { return rows() == 0 || columns() == 0; }
    bool unit_stride() const { return columns() < 2 || view_.strides[1] == view_.itemsize; }
    std::ptrdiff_t pitch() const { return view_.strides[0]; }
    std::byte* first() const { return static_cast<std::byte*>(view_.buf); }

    Rows mutable_rows() const { return {first(), pitch()}; }
    ConstRows const_rows() const { return {first(), pitch()}; }

    // The bytes from the lowest to one past the highest that the block touches; not for empty ones.
    const std::byte* lowest() const { return first() + (pitch() < 0 ? last_row() : 0); }
    const std::byte* end() const {
        return first() + (pitch() > 0 ? last_row() : 0) +
               static_cast<std::ptrdiff_t>(columns() * width());
    }
    bool may_overlap(const Block& other) const {
        return lowest() < other.end() && other.lowest() < end();
    }
    bool rows_overlap() const {
        const auto size = static_cast<std::ptrdiff_t>(columns() * width());
        return rows() > 1 && pitch() < size && -pitch() < size;
    }

   private:
    std::ptrdiff_t last_row() const { return static_cast<std::ptrdiff_t>(rows() - 1) * pitch(); }

    Py_buffer view_{};
    const char* name_;
};

}  // namespace lanewise
