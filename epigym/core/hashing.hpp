// Mixing of 64-bit numbers.
#pragma once

#include <cstdint>

namespace epi {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

}  // namespace epi
