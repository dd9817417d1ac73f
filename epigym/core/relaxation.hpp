// A delete relaxation over facts that are formulas: costs, relaxed plans and helpful actions of e-states.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "space.hpp"

namespace epi {

// What a relaxation is made of. Nodes stand for facts and for what operators and goals require.
struct RelaxationData {
    enum class Kind : std::uint8_t { Fact, Any, All };

    Formulas formulas;
    std::vector<Kind> kind;                // per node: a fact, the cheapest child, or the sum of the children
    std::vector<FormulaId> formula;        // per node: what it stands for; a fact or an "any" holds where this does
    std::vector<std::uint32_t> child_ptr;  // nodes + 1
    std::vector<std::uint32_t> child;
    // Ways to add facts, fact after fact, in the order in which ties are broken.
    std::vector<std::uint32_t> adder_ptr;    // nodes + 1; empty for what is no fact
    std::vector<std::uint32_t> requirement;  // per adder: the node that it requires
    std::vector<std::uint32_t> op;           // per adder: the operator
    std::vector<std::uint32_t> action;       // per operator
    std::vector<std::uint32_t> op_requirement;  // per operator: the node without the conditions of what it adds
    std::vector<std::uint32_t> goal;         // the nodes of the subgoals, each once
};

// The relaxations of some e-states; the ragged list has one more pointer than e-states.
struct Relaxed {
    std::vector<double> h_add, h_ff;  // infinite where the goal is out of reach
    std::vector<std::int32_t> actions, unreached;  // of the relaxed plan for what is within reach; subgoals that are not
    std::vector<std::int64_t> helpful_ptr{0};
    std::vector<std::int32_t> helpful;  // actions of the relaxed plan whose requirement holds, ascending
};

// The landmarks of an e-state, which every relaxed plan makes true; none is a conjunction, whose parts are instead.
struct Landmarks {
    std::vector<std::uint32_t> goal;   // the parts of the goal, ascending, whether they hold or not
    std::vector<std::uint32_t> nodes;  // what does not hold yet, ascending; none where the goal is out of reach
    std::vector<std::pair<std::uint32_t, std::uint32_t>> orders;  // whatever first adds the second requires the first
};

// A queue of nodes whose costs are whole numbers and never below the cost popped last (a radix heap: Ahuja, Mehlhorn,
// Orlin & Tarjan 1990).
class CostQueue {
public:
    void clear() {
        for (auto& bucket : buckets_) bucket.clear();
        last_ = size_ = 0;
    }
    bool empty() const { return size_ == 0; }
    void push(std::uint64_t cost, std::uint32_t node) {
        buckets_[bucket_of(cost)].emplace_back(cost, node);
        ++size_;
    }
    // The cost that pop() will return.
    std::uint64_t lowest() {
        if (buckets_[0].empty()) refill();
        return last_;
    }
    std::uint32_t pop() {
        lowest();
        const auto node = buckets_[0].back().second;
        buckets_[0].pop_back();
        --size_;
        return node;
    }

private:
    std::size_t bucket_of(std::uint64_t cost) const { return static_cast<std::size_t>(std::bit_width(cost ^ last_)); }
    void refill() {
        std::size_t b = 1;
        while (buckets_[b].empty()) ++b;
        last_ = std::min_element(buckets_[b].begin(), buckets_[b].end())->first;
        for (const auto& entry : buckets_[b]) buckets_[bucket_of(entry.first)].push_back(entry);
        buckets_[b].clear();
    }

    std::array<std::vector<std::pair<std::uint64_t, std::uint32_t>>, 65> buckets_;
    std::uint64_t last_ = 0;
    std::size_t size_ = 0;
};

// Relaxes each e-state once and remembers what it found.
class Relaxation {
public:
    Relaxation(const Space& space, RelaxationData data);
    Relaxation(const Relaxation&) = delete;
    Relaxation& operator=(const Relaxation&) = delete;

    const RelaxationData& data() const { return data_; }
    // Nodes and edges between them.
    std::size_t size() const { return data_.kind.size() + data_.child.size() + data_.requirement.size(); }
    // How often costs were computed.
    std::uint64_t evaluated() const { return evaluated_; }

    // These throw std::out_of_range when an id is unknown.
    void evaluate(StateId id, Relaxed& out);
    std::vector<std::int32_t> added(StateId id);  // facts that the relaxed plan adds, as nodes, ascending; not remembered
    Landmarks landmarks(StateId id);

private:
    using Node = std::uint32_t;
    using Cost = std::uint64_t;
    static constexpr Cost kInfinite = ~Cost{0};
    static constexpr Node kNone = ~Node{0};

    // What is remembered of an e-state; its helpful actions end where those of the next one start.
    struct Entry {
        double h_add;
        std::int32_t actions, unreached;
        std::uint64_t helpful_first;
    };

    bool compute(StateId id);
    void remember(StateId id, bool reached);
    void load(StateId id);
    void reach(Node never = kNone);
    void push(Node node, Cost cost);
    void settle(Node node, Cost cost);
    bool extract();
    void need(Node node);
    void forget();
    std::vector<Node> parts(std::vector<Node> nodes, bool of_disjunctions = false) const;

    const Space* space_;
    RelaxationData data_;
    Evaluators evaluators_;
    std::vector<Node> with_formula_, empty_;             // nodes that hold where a formula does; sums of nothing
    std::vector<std::uint32_t> parent_ptr_, added_ptr_;  // nodes + 1
    std::vector<Node> parent_, adds_;                    // conjunctions and disjunctions over a node; facts it lets add
    std::vector<std::uint32_t> children_;                // per node

    std::uint64_t evaluated_ = 0;
    std::vector<std::uint32_t> entry_of_;  // per e-state: its entry; 0: none
    std::vector<Entry> entries_;           // the first stands for none, the last tells where helpful actions end
    std::vector<std::int32_t> helpful_;

    // Of the e-state at hand.
    std::vector<Cost> cost_, sum_;
    std::vector<std::uint32_t> missing_;
    std::vector<std::uint8_t> settled_, wanted_, is_goal_;
    CostQueue queue_;
    std::size_t open_goals_ = 0;
    std::vector<Node> holding_, stack_, touched_;
    std::vector<std::uint8_t> used_;  // per action: 1 in the relaxed plan, 2 helpful
    std::vector<std::uint32_t> used_actions_;
};

}  // namespace epi
