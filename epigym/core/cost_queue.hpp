// A queue of nodes by their costs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "none.hpp"

namespace epi {

// Nodes by their costs, which are integers. The level is the cost of the nodes to be popped; costs never lie below it.
// Costs close to the level have one linked list each. A node must not be in the queue twice.
class CostQueue {
public:
    explicit CostQueue(std::size_t nodes) : next_(nodes) { clear(); }
    std::uint64_t level() const { return level_; }
    // Empties it, at level 0.
    void clear() {
        first_.fill(kNone);
        far_ = {};
        level_ = 0;
    }
    void push(std::uint64_t cost, std::uint32_t node) {
        if (cost - level_ < kLists) next_[node] = std::exchange(first_[cost % kLists], node);
        else far_.emplace(cost, node);
    }
    // Whether the level has nodes.
    bool empty() const { return first_[level_ % kLists] == kNone; }
    std::uint32_t pop() {
        const std::uint32_t node = first_[level_ % kLists];
        first_[level_ % kLists] = next_[node];
        return node;
    }
    // Raises the level, which has no nodes left, to the next cost; returns false if the queue is empty.
    bool rise() {
        std::uint64_t step = 1;
        while (step < kLists && first_[(level_ + step) % kLists] == kNone) ++step;
        if (step == kLists) step = kNever;
        if (!far_.empty()) step = std::min(step, far_.top().first - level_);
        if (step == kNever) return false;
        level_ += step;
        for (; !far_.empty() && far_.top().first == level_; far_.pop()) push(level_, far_.top().second);
        return true;
    }

private:
    static constexpr std::uint64_t kLists = 256;
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    using Entry = std::pair<std::uint64_t, std::uint32_t>;
    std::array<std::uint32_t, kLists> first_;  // per cost modulo kLists
    std::vector<std::uint32_t> next_;          // per node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> far_;
    std::uint64_t level_ = 0;
};

}  // namespace epi
