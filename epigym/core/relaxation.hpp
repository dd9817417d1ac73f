// A delete relaxation over facts that are formulas: costs, relaxed plans and preferred actions of e-states.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "belief_paths.hpp"
#include "cost_queue.hpp"
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
    std::vector<double> cost;         // h_add of the subgoals that are within reach
    std::vector<std::int32_t> actions, unreached;  // of the relaxed plan for what is within reach; subgoals that are not
    std::vector<std::int64_t> preferred_ptr{0};
    std::vector<std::int32_t> preferred;  // actions of the relaxed plan whose requirement holds, ascending
};

// The landmarks of an e-state, which every relaxed plan makes true; none is a conjunction, whose parts are instead.
struct Landmarks {
    std::vector<std::uint32_t> goal;   // the parts of the goal, ascending, whether they hold or not
    std::vector<std::uint32_t> nodes;  // what does not hold yet, ascending; none where the goal is out of reach
    std::vector<std::pair<std::uint32_t, std::uint32_t>> orders;  // whatever first adds the second requires the first
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
    std::uint64_t evaluations() const { return evaluations_; }

    // These throw std::out_of_range when an id is unknown.
    void evaluate(StateId id, Relaxed& out);
    std::vector<std::int32_t> find_added_facts(StateId id);  // facts that the relaxed plan adds, as nodes, ascending; not remembered
    Landmarks find_landmarks(StateId id);

private:
    using Node = std::uint32_t;
    using Cost = std::uint64_t;
    static constexpr Cost kInfinite = ~Cost{0};
    static constexpr Node kNone = ~Node{0};

    // What is remembered of an e-state; its preferred actions end where those of the next one start.
    struct Entry {
        double cost;
        std::int32_t actions, unreached;
        std::uint64_t preferred_first;
    };

    // What the computation at hand knows of a node: nothing; that it costs nothing; its cost, if that is another one; that
    // it costs something; and, where its cost is looked for, besides that it is a fact, a disjunction or a sum.
    enum class Status : std::uint8_t { Unknown, Free, Done, Costly, Fact, Any, All };

    struct State {
        Cost cost;              // once it is done; before, of a sum, that of the children that are
        std::uint32_t missing;  // the other children of a sum
    };

    bool compute(StateId id);
    void remember(StateId id, bool reached);
    template <class Truths>
    bool test(Node node, Truths& truths);
    template <class Truths>
    bool is_free(Node node, Truths& truths) {
        return status_[node] == Status::Unknown ? test(node, truths) : status_[node] == Status::Free;
    }
    void open(Node node);
    template <class Truths>
    void open_needed(Truths& truths);
    template <class Truths>
    void open_all(Truths& truths);
    template <class Truths>
    void reach(Truths& truths, Node excluded = kNone);
    // Fixes the cost of a node, which is that at hand or more; sums that outgrow 64 bits are as good as infinite.
    void finish(Node node, Cost cost) {
        if (node == excluded_ || cost == kInfinite) return;
        status_[node] = cost == 0 ? Status::Free : Status::Done;
        states_[node].cost = cost;
        unreached_goals_ -= is_goal_[node];
        queue_.push(cost, node);
    }
    void settle(Node node);
    template <class Truths>
    bool extract(Truths& truths);
    void need(Node node);
    void clear_plan();
    std::vector<Node> split_parts(std::vector<Node> nodes, bool of_disjunctions = false) const;

    bool is_known(Node node) const { return status_[node] == Status::Free || status_[node] == Status::Done; }
    Cost cost(Node node) const {
        return status_[node] == Status::Free ? 0 : status_[node] == Status::Done ? states_[node].cost : kInfinite;
    }

    const Space* space_;
    RelaxationData data_;
    BeliefPaths paths_;
    Evaluators evaluators_;
    std::vector<std::uint32_t> above_ptr_;  // nodes + 1
    std::vector<Node> above_;               // what depends on a node
    std::vector<Node> atoms_, empty_;       // nodes that hold where a formula does; sums of nothing
    std::vector<Status> all_open_;          // where the costs of all nodes are looked for
    std::vector<State> all_states_;         // the same

    std::uint64_t evaluations_ = 0;
    std::vector<std::uint32_t> entry_of_;  // per e-state: its entry; 0: none
    std::vector<Entry> entries_;           // the first stands for none, the last tells where preferred actions end
    std::vector<std::int32_t> preferred_;

    // Of the e-state at hand.
    std::vector<Status> status_;
    std::vector<State> states_;
    Node excluded_ = kNone;
    CostQueue queue_;
    std::vector<std::uint8_t> wanted_, is_goal_;
    std::size_t unreached_goals_ = 0, opened_ = 0;
    unsigned full_computations_ = 0;  // how many of the next computations look for the costs of all nodes
    std::vector<Node> open_, costly_, stack_, touched_;
    std::vector<std::uint8_t> used_;  // per action: 1 in the relaxed plan, 2 preferred
    std::vector<std::uint32_t> used_actions_;
};

}  // namespace epi
