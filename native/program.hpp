// Lists of steps that run in one call.
#pragma once

#include <cstddef>
#include <vector>

#include "step.hpp"

namespace lanewise {

// Steps of fewer elements are not worth a thread.
inline constexpr std::size_t elements_worth_threads = 256 * 1024;

// Runs one step; its rows are shared between up to `threads` threads where it is large.
void run_step(Step& step, std::size_t threads);

// What a step noted: its index and the flags of its rows.
struct Noted {
    std::size_t index;
    std::vector<std::byte> flags;
};

// Runs steps in order and gives what they noted.
std::vector<Noted> run_steps(const std::vector<Step*>& steps, std::size_t threads);

}  // namespace lanewise
