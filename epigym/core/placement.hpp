// Renumbering of worlds after some of them have been removed.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "worlds.hpp"

namespace epi {

// Compresses the bits of a word under a mask to its low end (Hacker's Delight, section 7-4).
class Compressor {
public:
    explicit Compressor(std::uint64_t mask) : mask_(mask), contiguous_((mask & (mask + 1)) == 0) {
        if (contiguous_) return;
        std::uint64_t zeros_right = ~mask << 1;
        for (int i = 0; i < 6; ++i) {
            std::uint64_t parity = zeros_right;
            for (int shift = 1; shift < 64; shift *= 2) parity ^= parity << shift;
            moves_[i] = parity & mask;
            mask = (mask ^ moves_[i]) | (moves_[i] >> (1 << i));
            zeros_right &= ~parity;
        }
    }

    std::uint64_t operator()(std::uint64_t word) const {
        word &= mask_;
        if (contiguous_) return word;
        for (int i = 0; i < 6; ++i) {
            const std::uint64_t moved = word & moves_[i];
            word = (word ^ moved) | (moved >> (1 << i));
        }
        return word;
    }

private:
    std::uint64_t mask_;
    bool contiguous_;
    std::array<std::uint64_t, 6> moves_;
};

inline std::span<const std::uint64_t> words(const Bits& set) { return {&set.word, 1}; }
inline std::span<const std::uint64_t> words(const WideBits& set) { return set.words; }

// Maps sets of worlds to sets of worlds of a product, which is ordered event by event, or of a submodel.
template <class Set>
class Placement {
public:
    // `reached` holds per event the worlds w with (w, event) in the product.
    void reset(std::span<const Set> reached) {
        parts_.clear();
        first_.clear();
        World at = 0;
        for (const auto& worlds : reached) {
            first_.push_back(parts_.size());
            for (auto word : epi::words(worlds)) {
                parts_.push_back({Compressor(word), at});
                at += static_cast<World>(std::popcount(word));
            }
        }
    }

    // Adds the pairs (w, event) of the product with w in `worlds`.
    void add(Set& out, const Set& worlds, std::size_t event) const {
        auto part = parts_.begin() + static_cast<std::ptrdiff_t>(first_[event]);
        for (auto original : epi::words(worlds)) {
            const auto& [compress, at] = *part++;
            const std::uint64_t word = compress(original);
            if (word == 0) continue;
            if constexpr (std::is_same_v<Set, Bits>) {
                out.word |= word << at;
            } else {
                const World shift = at & 63;
                std::uint64_t* const target = out.words.data() + (at >> 6);
                target[0] |= word << shift;
                if (shift != 0 && word >> (64 - shift) != 0) target[1] |= word >> (64 - shift);
            }
        }
    }

private:
    struct Part {
        Compressor compress;
        World at;
    };
    std::vector<Part> parts_;
    std::vector<std::size_t> first_;  // per event
};

}  // namespace epi
