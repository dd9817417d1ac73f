// The number of nothing, where numbers count things.
#pragma once

#include <cstdint>

namespace epi {

constexpr auto kNone = ~std::uint32_t{0};

}  // namespace epi
