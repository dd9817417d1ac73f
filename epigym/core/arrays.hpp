// Properties of arrays of numbers from Python, for validation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace epi {

// Whether numbers are in [low, end).
template <class Numbers>
bool are_within(const Numbers& numbers, std::int64_t low, std::int64_t end) {
    return std::ranges::all_of(numbers, [&](auto number) { return number >= low && number < end; });
}

template <class Numbers>
bool are_below(const Numbers& numbers, std::size_t end) {
    return are_within(numbers, 0, static_cast<std::int64_t>(end));
}

// The number of rows that offsets divide a table into.
template <class Offsets>
std::size_t count_rows(const Offsets& first) {
    return first.empty() ? 0 : first.size() - 1;
}

// Whether `first` are the offsets of rows in a table of `size` entries.
template <class Offsets>
bool are_offsets(const Offsets& first, std::size_t size) {
    return !first.empty() && first.front() == 0 && static_cast<std::size_t>(first.back()) == size &&
           std::ranges::is_sorted(first);
}

}  // namespace epi
