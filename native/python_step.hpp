// A step with the objects whose memory it works on, as Python has it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "step.hpp"

namespace lanewise {

struct PyStep {
    std::unique_ptr<Step> step;
    std::vector<nanobind::object> kept;
};

template <typename... Objects>
PyStep* made(std::unique_ptr<Step> step, const Objects&... objects) {
    return new PyStep{std::move(step), {nanobind::borrow<nanobind::object>(objects)...}};
}

// The kernels of the tile machine (tile_module.cpp).
void bind_tiles(nanobind::module_& module);

}  // namespace lanewise
