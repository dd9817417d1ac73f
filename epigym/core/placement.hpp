// Where the reachable (world, event) pairs stand among the worlds of the product: event by event, worlds
// ascending.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "worlds.hpp"

namespace epi {

// Squeezes the bits of a word that lie under a mask to its low end (Hacker's Delight, section 7-4).
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

// Maps worlds of models under policy P to worlds of products under policy Q.
template <class P, class Q>
class Placement {
public:
    // `reached` holds per event the worlds w with (w, event) in the product.
    void reset(const std::vector<typename P::Set>& reached, World worlds) {
        reached_ = &reached;
        number_.resize(reached.size());
        World next = 0;
        for (std::size_t e = 0; e < reached.size(); ++e) {
            number_[e].resize(worlds);
            each(reached[e], [&](World w) { number_[e][w] = next++; });
        }
    }

    // Adds the pairs (w, event) of the product with w in `worlds`.
    template <class Worlds>
    void add(WideBits& out, const Worlds& worlds, std::size_t event) const {
        each_pair(worlds, event, [&](World pair) { out.set(pair); });
    }
    template <int W, class Worlds>
    void add(Bits<W>& out, const Worlds& worlds, std::size_t event) const {
        each_pair(worlds, event, [&](World pair) { out.set(pair); });
    }
    template <class Worlds>
    void add(List& out, const Worlds& worlds, std::size_t event) const {
        each_pair(worlds, event, [&](World pair) { out.push_back(pair); });
    }

private:
    template <class Worlds, class Visit>
    void each_pair(const Worlds& worlds, std::size_t event, Visit&& visit) const {
        each(worlds, [&](World w) {
            if ((*reached_)[event].test(w)) visit(number_[event][w]);
        });
    }

    const std::vector<typename P::Set>* reached_ = nullptr;
    std::vector<List> number_;
};

template <int V, int W>
class Placement<Dense<V>, Dense<W>> {
public:
    void reset(const std::vector<Bits<V>>& reached, World) {
        parts_.clear();
        World at = 0;
        for (const auto& worlds : reached) {
            for (int i = 0; i < V; ++i) {
                parts_.push_back({Compressor(worlds.words[i]), at});
                at += static_cast<World>(std::popcount(worlds.words[i]));
            }
        }
    }

    void add(Bits<W>& out, const Bits<V>& worlds, std::size_t event) const {
        for (int i = 0; i < V; ++i) {
            const Part& part = parts_[event * V + static_cast<std::size_t>(i)];
            const std::uint64_t word = part.compress(worlds.words[i]);
            if (word == 0) continue;
            const World shift = part.at & 63;
            out.words[part.at >> 6] |= word << shift;
            if (W > 1 && shift != 0 && word >> (64 - shift) != 0) out.words[(part.at >> 6) + 1] |= word >> (64 - shift);
        }
    }

private:
    struct Part {
        Compressor compress;
        World at;
    };
    std::vector<Part> parts_;
};

}  // namespace epi
