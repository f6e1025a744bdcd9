#include "program.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

namespace lanewise {
namespace {

// Threads live for one step and not in a pool: a pool does not survive the fork that process
// pools start with, and where threads pay, starting one is little.
void share_rows(Step& step, std::size_t threads) {
    const std::size_t rows = step.rows();
    std::vector<std::exception_ptr> failures(threads);
    const auto part = [&](std::size_t index) {
        try {
            step.run(rows * index / threads, rows * (index + 1) / threads);
        } catch (...) {
            failures[index] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        others.reserve(threads - 1);
        for (std::size_t index = 1; index < threads; ++index) {
            try {
                others.emplace_back(part, index);
            } catch (const std::system_error&) {
                part(index);  // where the system has no more threads to give
            }
        }
        part(0);
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace

void run_step(Step& step, std::size_t threads) {
    step.begin();
    threads = std::min(threads, step.rows());
    if (threads < 2 || step.elements() < elements_worth_threads) {
        step.run(0, step.rows());
    } else {
        share_rows(step, threads);
    }
}

std::vector<Noted> run_steps(const std::vector<Step*>& steps, std::size_t threads) {
    std::vector<Noted> noted;
    for (std::size_t index = 0; index < steps.size(); ++index) {
        run_step(*steps[index], threads);
        if (const auto* flags = steps[index]->noted()) noted.push_back({index, *flags});
    }
    return noted;
}

}  // namespace lanewise
