// A delete relaxation over facts that are formulas: costs, relaxed plans and preferred actions of e-states.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "belief_paths.hpp"
#include "cost_queue.hpp"
#include "none.hpp"
#include "parallel.hpp"
#include "space.hpp"

namespace epi {

// The and-or graph of a relaxation. Nodes stand for facts and for requirements of operators and goals.
struct RelaxationData {
    enum class Kind : std::uint8_t { Fact, Any, All };

    Formulas formulas;
    std::vector<Kind> kind;                // per node: a fact, the cheapest child, or the sum of the children
    std::vector<FormulaId> formula;        // per node; a fact or an "any" holds where its formula does
    std::vector<std::uint32_t> child_ptr;  // nodes + 1
    std::vector<std::uint32_t> child;
    // Adders of facts, fact after fact, in the order of tie-breaking.
    std::vector<std::uint32_t> adder_ptr;    // nodes + 1; only facts have adders
    std::vector<std::uint32_t> requirement;  // per adder: the node that it requires
    std::vector<std::uint32_t> op;           // per adder: the operator
    std::vector<std::uint32_t> action;       // per operator
    std::vector<std::uint32_t> op_requirement;  // per operator: its requirement without conditions of facts
    std::vector<std::uint32_t> goal;         // the nodes of the subgoals, each once
};

// The relaxations of some e-states; preferred_ptr has one entry more than e-states.
struct Relaxed {
    std::vector<double> h_add, h_ff;  // infinite if the goal is unreachable
    std::vector<double> cost;         // h_add over the reachable subgoals
    std::vector<std::int32_t> actions, unreached;  // actions of the relaxed plan; subgoals that it does not reach
    std::vector<std::int64_t> preferred_ptr{0};
    std::vector<std::int32_t> preferred;  // actions of the relaxed plan whose requirement holds, ascending
};

// The landmarks of an e-state: nodes that every relaxed plan makes true. Parts of conjunctions replace conjunctions.
struct Landmarks {
    std::vector<std::uint32_t> goal;   // the parts of the goal, ascending, satisfied ones included
    std::vector<std::uint32_t> nodes;  // unsatisfied landmarks, ascending; empty if the goal is unreachable
    std::vector<std::pair<std::uint32_t, std::uint32_t>> orders;  // (a, b): every first adder of b requires a
};

// The and-or graph with its inverse edges: what all threads read.
class RelaxationGraph {
public:
    using Node = std::uint32_t;
    using Cost = std::uint64_t;
    static constexpr Cost kInfinite = ~Cost{0};

    // The state of a node in a computation: unknown; free (cost 0); done (another cost); costly (not free). While its
    // cost is being computed, a costly node has its kind as its status: a fact, a disjunction ("any") or a sum ("all").
    enum class Status : std::uint8_t { Unknown, Free, Done, Costly, Fact, Any, All };

    struct State {
        Cost cost;              // final once the node is done; before, of a sum, the cost of its finished children
        std::uint32_t missing;  // unfinished children of a sum
    };

    RelaxationGraph(const Space& space, RelaxationData content);
    RelaxationGraph(const RelaxationGraph&) = delete;
    RelaxationGraph& operator=(const RelaxationGraph&) = delete;

    const Space& space;
    const RelaxationData data;
    const BeliefPaths paths;
    std::vector<std::uint32_t> above_ptr;  // nodes + 1
    std::vector<Node> above;               // the nodes that depend on a node
    std::vector<Node> atoms, empty;        // nodes that hold where a formula does; empty sums
    std::vector<Status> all_open;          // initial values to compute the costs of all nodes
    std::vector<State> all_states;         // as above
    std::vector<std::uint8_t> is_goal;

    // Replaces conjunctions (and disjunctions) among nodes by their parts.
    std::vector<Node> split_parts(std::vector<Node> nodes, bool of_disjunctions = false) const;
};

// The result for an e-state.
struct RelaxedState {
    double cost;
    std::int32_t actions, unreached;
    std::vector<std::int32_t> preferred;
};

// Relaxes one e-state after the other: the working memory of one thread.
class Relaxer {
public:
    explicit Relaxer(const RelaxationGraph& graph);
    Relaxer(const Relaxer&) = delete;
    Relaxer& operator=(const Relaxer&) = delete;

    std::uint64_t evaluations() const { return evaluations_; }

    // These throw std::out_of_range when the id is unknown.
    void relax(StateId id, RelaxedState& out);
    // Also the nodes of facts in the relaxed plan, ascending.
    std::vector<std::int32_t> find_added_facts(StateId id, RelaxedState& out);
    Landmarks find_landmarks(StateId id);

private:
    using Node = RelaxationGraph::Node;
    using Cost = RelaxationGraph::Cost;
    using Status = RelaxationGraph::Status;
    using State = RelaxationGraph::State;
    static constexpr Cost kInfinite = RelaxationGraph::kInfinite;

    bool compute(StateId id);
    void store(bool reached, RelaxedState& out);
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
    // Fixes the cost of a node, which is at least the current level; sums that exceed 64 bits count as infinite.
    void finish(Node node, Cost cost) {
        if (node == excluded_ || cost == kInfinite) return;
        status_[node] = cost == 0 ? Status::Free : Status::Done;
        states_[node].cost = cost;
        unreached_goals_ -= graph_.is_goal[node];
        queue_.push(cost, node);
    }
    void settle(Node node);
    template <class Truths>
    bool extract(Truths& truths);
    void need(Node node);
    void clear_plan();

    bool is_known(Node node) const { return status_[node] == Status::Free || status_[node] == Status::Done; }
    Cost cost(Node node) const {
        return status_[node] == Status::Free ? 0 : status_[node] == Status::Done ? states_[node].cost : kInfinite;
    }

    const RelaxationGraph& graph_;
    Evaluators evaluators_;
    std::uint64_t evaluations_ = 0;

    // Of the e-state at hand.
    std::vector<Status> status_;
    std::vector<State> states_;
    Node excluded_ = kNone;
    CostQueue queue_;
    std::vector<std::uint8_t> wanted_;
    std::size_t unreached_goals_ = 0, opened_ = 0;
    unsigned full_computations_ = 0;  // so many further computations compute the costs of all nodes
    std::vector<Node> open_, costly_, stack_, touched_;
    std::vector<std::uint8_t> used_;  // per action: 1 in the relaxed plan, 2 preferred
    std::vector<std::uint32_t> used_actions_;
};

// Relaxes each e-state once and stores the result.
class Relaxation {
public:
    Relaxation(const Space& space, RelaxationData data);

    const RelaxationData& data() const { return graph_.data; }
    // The number of nodes and edges.
    std::size_t size() const {
        return graph_.data.kind.size() + graph_.data.child.size() + graph_.data.requirement.size();
    }
    // The number of computations of costs.
    std::uint64_t evaluations() const;

    // These throw std::out_of_range when an id is unknown. The results do not depend on the number of threads.
    void evaluate(std::span<const StateId> ids, unsigned threads, Relaxed& out);
    // The nodes of facts in the relaxed plan, ascending; not stored.
    std::vector<std::int32_t> find_added_facts(StateId id);
    Landmarks find_landmarks(StateId id) { return relaxers_.front()->find_landmarks(id); }

private:
    // The stored result for an e-state; its preferred actions end where the next entry starts.
    struct Entry {
        double cost;
        std::int32_t actions, unreached;
        std::uint64_t preferred_first;
    };

    bool is_stored(StateId id) const { return id < entry_of_.size() && entry_of_[id] != 0; }
    void store(StateId id, const RelaxedState& relaxed);
    void append(StateId id, Relaxed& out) const;

    RelaxationGraph graph_;
    std::vector<std::unique_ptr<Relaxer>> relaxers_;  // one for each thread
    Pace pace_;
    std::vector<std::uint32_t> entry_of_;  // per e-state: its entry, or 0
    std::vector<Entry> entries_;           // the first is a dummy
    std::vector<std::int32_t> preferred_;
    std::vector<StateId> missing_;         // of the e-states at hand
    std::vector<RelaxedState> relaxed_;    // their results
};

}  // namespace epi
