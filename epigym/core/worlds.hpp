// Sets of worlds. `Dense` stores a set in one machine word, for models of up to 64 worlds. `Sparse` stores truth sets
// as bit vectors and rows as lists, so that the size of larger models is linear in worlds and agents.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace epi {

using World = std::uint32_t;

struct Bits {
    std::uint64_t word = 0;

    bool test(World w) const { return word >> w & 1; }
    void set(World w) { word |= std::uint64_t{1} << w; }
    bool any() const { return word != 0; }
    World count() const { return static_cast<World>(std::popcount(word)); }
    Bits& operator|=(Bits other) {
        word |= other.word;
        return *this;
    }
    Bits& operator&=(Bits other) {
        word &= other.word;
        return *this;
    }
    Bits& subtract(Bits other) {
        word &= ~other.word;
        return *this;
    }
    bool operator==(const Bits&) const = default;
};

struct WideBits {
    std::vector<std::uint64_t> words;

    bool test(World w) const { return (words[w >> 6] >> (w & 63)) & 1; }
    void set(World w) { words[w >> 6] |= std::uint64_t{1} << (w & 63); }

    bool any() const {
        return std::any_of(words.begin(), words.end(), [](auto word) { return word != 0; });
    }
    World count() const {
        World total = 0;
        for (auto word : words) total += static_cast<World>(std::popcount(word));
        return total;
    }
    WideBits& operator|=(const WideBits& other) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] |= other.words[i];
        return *this;
    }
    WideBits& operator&=(const WideBits& other) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] &= other.words[i];
        return *this;
    }
    WideBits& subtract(const WideBits& other) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] &= ~other.words[i];
        return *this;
    }
    bool operator==(const WideBits&) const = default;
};

using List = std::vector<World>;         // ascending
using ListView = std::span<const World>;  // ascending

struct Dense {
    static constexpr bool dense = true;
    static constexpr World capacity = 64;
    using Set = Bits;
    using Row = Bits;

    static void clear(Set& set, World) { set.word = 0; }
    static void fill(Set& set, World n) { set.word = n == 0 ? 0 : ~std::uint64_t{0} >> (64 - n); }
};

struct Sparse {
    static constexpr bool dense = false;
    using Set = WideBits;
    using Row = ListView;

    static void clear(Set& set, World n) { set.words.assign((n + 63) / 64, 0); }
    static void fill(Set& set, World n) {
        set.words.assign((n + 63) / 64, ~std::uint64_t{0});
        if (n % 64 != 0) set.words.back() = (std::uint64_t{1} << (n % 64)) - 1;
    }
};

// Calls `action.template operator()<Policy>()` with the representation for models of n worlds.
template <class Action>
decltype(auto) with_policy(World n, Action&& action) {
    if (n <= Dense::capacity) return action.template operator()<Dense>();
    return action.template operator()<Sparse>();
}

template <class Visit>
void each_bit(std::uint64_t word, World base, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(base + static_cast<World>(std::countr_zero(word)));
}

template <class Visit>
void each(Bits set, Visit&& visit) {
    each_bit(set.word, 0, visit);
}

template <class Visit>
void each(const WideBits& set, Visit&& visit) {
    for (std::size_t i = 0; i < set.words.size(); ++i) each_bit(set.words[i], 64 * static_cast<World>(i), visit);
}

template <class Visit>
void each(ListView row, Visit&& visit) {
    for (World w : row) visit(w);
}

inline bool is_subset(Bits a, Bits b) { return (a.word & ~b.word) == 0; }

inline bool is_subset(const WideBits& a, const WideBits& b) {
    for (std::size_t i = 0; i < a.words.size(); ++i)
        if (a.words[i] & ~b.words[i]) return false;
    return true;
}

inline bool is_subset(ListView row, const WideBits& set) {
    return std::all_of(row.begin(), row.end(), [&](World w) { return set.test(w); });
}

inline bool intersects(Bits a, Bits b) { return (a.word & b.word) != 0; }

inline bool intersects(const WideBits& a, const WideBits& b) {
    for (std::size_t i = 0; i < a.words.size(); ++i)
        if (a.words[i] & b.words[i]) return true;
    return false;
}

inline bool intersects(ListView row, const WideBits& set) {
    return std::any_of(row.begin(), row.end(), [&](World w) { return set.test(w); });
}

inline void unite(Bits& set, Bits row) { set |= row; }

inline void unite(WideBits& set, ListView row) {
    for (World w : row) set.set(w);
}

}  // namespace epi
