// Mixing of 64-bit numbers, and a hash table of numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "none.hpp"

namespace epi {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

// Numbers distinct values in order of insertion. The caller stores the values and hashes them well in the low 32 bits;
// is_equal(number) compares the value at hand with a stored one.
class HashTable {
public:
    std::size_t size() const { return count_; }
    std::size_t nbytes() const { return slots_.size() * sizeof(Slot); }

    // Forgets all values; keeps room for as many.
    void clear() {
        slots_.assign(std::max(kFewestSlots, std::bit_ceil(2 * size())), Slot{});
        count_ = 0;
    }

    // The number of a value, or kNone.
    template <class IsEqual>
    std::uint32_t find(std::uint64_t hash, IsEqual&& is_equal) const {
        return slots_[find_slot(static_cast<std::uint32_t>(hash), is_equal)].number;
    }

    // The number of a value, and whether it is new; store() then stores it, before the table changes.
    template <class IsEqual, class Store>
    std::pair<std::uint32_t, bool> insert(std::uint64_t hash, IsEqual&& is_equal, Store&& store) {
        if (2 * size() >= slots_.size()) grow();
        const auto low = static_cast<std::uint32_t>(hash);
        Slot& slot = slots_[find_slot(low, is_equal)];
        if (slot.number != kNone) return {slot.number, false};
        store();
        slot = {low, count_};
        return {count_++, true};
    }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t number = kNone;  // kNone: empty
    };
    static constexpr std::size_t kFewestSlots = 64;

    // The slot of a value, or the empty slot for it.
    template <class IsEqual>
    std::size_t find_slot(std::uint32_t hash, IsEqual&& is_equal) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        for (; slots_[at].number != kNone; at = (at + 1) & mask)
            if (slots_[at].hash == hash && is_equal(slots_[at].number)) break;
        return at;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kNone) slots_[find_slot(slot.hash, [](std::uint32_t) { return false; })] = slot;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(kFewestSlots);  // a power of two, at most half full
    std::uint32_t count_ = 0;
};

}  // namespace epi
