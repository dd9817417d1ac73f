// Sets of worlds. `Dense<W>` keeps every set as W machine words and serves models of up to 64 W worlds;
// `Sparse` keeps truth sets as bit vectors and rows as sorted lists, so that models with tens of
// thousands of worlds stay linear in the number of edges between classes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace epi {

using World = std::uint32_t;

template <int W>
struct Bits {
    std::array<std::uint64_t, W> words{};

    bool test(World w) const { return (words[W == 1 ? 0 : w >> 6] >> (w & 63)) & 1; }
    void set(World w) { words[W == 1 ? 0 : w >> 6] |= std::uint64_t{1} << (w & 63); }

    bool any() const {
        std::uint64_t all = 0;
        for (auto word : words) all |= word;
        return all != 0;
    }
    World count() const {
        World total = 0;
        for (auto word : words) total += static_cast<World>(std::popcount(word));
        return total;
    }
    Bits& operator|=(const Bits& other) {
        for (int i = 0; i < W; ++i) words[i] |= other.words[i];
        return *this;
    }
    Bits& operator&=(const Bits& other) {
        for (int i = 0; i < W; ++i) words[i] &= other.words[i];
        return *this;
    }
    Bits& subtract(const Bits& other) {
        for (int i = 0; i < W; ++i) words[i] &= ~other.words[i];
        return *this;
    }
    bool operator==(const Bits& other) const {
        std::uint64_t difference = 0;
        for (int i = 0; i < W; ++i) difference |= words[i] ^ other.words[i];
        return difference == 0;
    }
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

using List = std::vector<World>;  // ascending

template <int W>
struct Dense {
    static constexpr bool dense = true;
    static constexpr int width = W;
    static constexpr World capacity = 64 * W;
    using Set = Bits<W>;
    using Row = Bits<W>;

    static void clear(Set& set, World) { set = Set{}; }
    static void fill(Set& set, World n) {
        for (int i = 0; i < W; ++i) {
            const World low = 64 * static_cast<World>(i);
            set.words[i] = n >= low + 64 ? ~std::uint64_t{0} : n > low ? (std::uint64_t{1} << (n - low)) - 1 : 0;
        }
    }
};

struct Sparse {
    static constexpr bool dense = false;
    using Set = WideBits;
    using Row = List;

    static void clear(Set& set, World n) { set.words.assign((n + 63) / 64, 0); }
    static void fill(Set& set, World n) {
        set.words.assign((n + 63) / 64, ~std::uint64_t{0});
        if (n % 64 != 0) set.words.back() = (std::uint64_t{1} << (n % 64)) - 1;
    }
};

constexpr World kMaxDense = 512;  // models with more worlds are sparse

// Calls `action.template operator()<Policy>()` with the representation for models of n worlds.
template <class Action>
decltype(auto) with_policy(World n, Action&& action) {
    if (n <= 64) return action.template operator()<Dense<1>>();
    if (n <= 128) return action.template operator()<Dense<2>>();
    if (n <= 256) return action.template operator()<Dense<4>>();
    if (n <= kMaxDense) return action.template operator()<Dense<8>>();
    return action.template operator()<Sparse>();
}

template <class Visit>
void each_bit(std::uint64_t word, World base, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(base + static_cast<World>(std::countr_zero(word)));
}

template <int W, class Visit>
void each(const Bits<W>& set, Visit&& visit) {
    for (int i = 0; i < W; ++i) each_bit(set.words[i], 64 * static_cast<World>(i), visit);
}

template <class Visit>
void each(const WideBits& set, Visit&& visit) {
    for (std::size_t i = 0; i < set.words.size(); ++i) each_bit(set.words[i], 64 * static_cast<World>(i), visit);
}

template <class Visit>
void each(const List& row, Visit&& visit) {
    for (World w : row) visit(w);
}

template <int W>
bool subset(const Bits<W>& a, const Bits<W>& b) {
    std::uint64_t missing = 0;
    for (int i = 0; i < W; ++i) missing |= a.words[i] & ~b.words[i];
    return missing == 0;
}

inline bool subset(const WideBits& a, const WideBits& b) {
    for (std::size_t i = 0; i < a.words.size(); ++i)
        if (a.words[i] & ~b.words[i]) return false;
    return true;
}

inline bool subset(const List& row, const WideBits& set) {
    return std::all_of(row.begin(), row.end(), [&](World w) { return set.test(w); });
}

template <int W>
bool intersects(const Bits<W>& a, const Bits<W>& b) {
    std::uint64_t shared = 0;
    for (int i = 0; i < W; ++i) shared |= a.words[i] & b.words[i];
    return shared != 0;
}

inline bool intersects(const WideBits& a, const WideBits& b) {
    for (std::size_t i = 0; i < a.words.size(); ++i)
        if (a.words[i] & b.words[i]) return true;
    return false;
}

inline bool intersects(const List& row, const WideBits& set) {
    return std::any_of(row.begin(), row.end(), [&](World w) { return set.test(w); });
}

template <int W>
void unite(Bits<W>& set, const Bits<W>& row) { set |= row; }

inline void unite(WideBits& set, const List& row) {
    for (World w : row) set.set(w);
}

// set |= row & mask
template <int W>
void unite(Bits<W>& set, const Bits<W>& row, const Bits<W>& mask) {
    for (int i = 0; i < W; ++i) set.words[i] |= row.words[i] & mask.words[i];
}

inline void unite(WideBits& set, const List& row, const WideBits& mask) {
    for (World w : row)
        if (mask.test(w)) set.set(w);
}

template <int W>
void clear(Bits<W>& row) { row = {}; }

inline void clear(List& row) { row.clear(); }

template <int W>
World lowest(const Bits<W>& set) {
    int i = 0;
    while (set.words[i] == 0) ++i;
    return 64 * static_cast<World>(i) + static_cast<World>(std::countr_zero(set.words[i]));
}

inline World lowest(const List& row) { return row.front(); }

template <int W>
void merge(Bits<W>& row, const Bits<W>& other) { row |= other; }

inline void merge(List& row, const List& other) {
    const auto middle = static_cast<std::ptrdiff_t>(row.size());
    row.insert(row.end(), other.begin(), other.end());
    std::inplace_merge(row.begin(), row.begin() + middle, row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
}

// Whether the ascending sequence of the members of a precedes that of b in lexicographic order.
template <int W>
bool precedes(const Bits<W>& a, const Bits<W>& b) {
    for (int i = 0; i < W; ++i) {
        const std::uint64_t difference = a.words[i] ^ b.words[i];
        if (difference == 0) continue;
        const std::uint64_t lowest = difference & -difference;
        const auto& other = a.words[i] & lowest ? b : a;  // the set without the lowest difference
        bool has_more = (other.words[i] & ~(lowest | (lowest - 1))) != 0;
        for (int j = i + 1; j < W; ++j) has_more |= other.words[j] != 0;
        return (&other == &b) == has_more;
    }
    return false;
}

inline bool precedes(const List& a, const List& b) { return a < b; }

}  // namespace epi
