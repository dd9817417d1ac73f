#include "relaxation.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <unordered_set>

namespace epi {

using Kind = RelaxationData::Kind;

RelaxationGraph::RelaxationGraph(const Space& of, RelaxationData content)
    : space(of),
      data(std::move(content)),
      paths(data.formulas, of.task().agents, data.formula),
      is_goal(data.kind.size()) {
    const auto nodes = static_cast<Node>(data.kind.size());
    for (Node node : data.goal) is_goal[node] = 1;
    const auto each_edge = [&](auto&& visit) {
        for (Node node = 0; node < nodes; ++node) {
            for (auto k = data.child_ptr[node]; k < data.child_ptr[node + 1]; ++k) visit(data.child[k], node);
            for (auto k = data.adder_ptr[node]; k < data.adder_ptr[node + 1]; ++k) visit(data.requirement[k], node);
        }
    };
    above_ptr.assign(nodes + 1, 0);
    each_edge([&](Node below, Node) { ++above_ptr[below + 1]; });
    for (Node node = 0; node < nodes; ++node) above_ptr[node + 1] += above_ptr[node];
    above.resize(above_ptr.back());
    auto next = above_ptr;
    each_edge([&](Node below, Node node) { above[next[below]++] = node; });
    constexpr std::array kOpen{Status::Fact, Status::Any, Status::All};
    for (Node node = 0; node < nodes; ++node) {
        const Kind kind = data.kind[node];
        all_open.push_back(kOpen[static_cast<std::size_t>(kind)]);
        all_states.push_back({0, data.child_ptr[node + 1] - data.child_ptr[node]});
        if (kind != Kind::All) atoms.push_back(node);
        else if (all_states.back().missing == 0) empty.push_back(node);
    }
}

Relaxer::Relaxer(const RelaxationGraph& graph)
    : graph_(graph),
      evaluators_(graph.data.formulas, graph.space.task().fluents, graph.space.task().agents, &graph.paths),
      status_(graph.data.kind.size()),
      states_(graph.data.kind.size()),
      queue_(graph.data.kind.size()),
      wanted_(graph.data.kind.size()),
      used_(graph.space.task().actions.actions.size()) {}

// Determines whether a node costs nothing.
template <class Truths>
bool Relaxer::test(Node node, Truths& truths) {
    const auto first = graph_.data.child_ptr[node], end = graph_.data.child_ptr[node + 1];
    bool found;
    if (graph_.data.kind[node] == Kind::All) {
        std::uint32_t missing = 0;
        for (auto k = first; k < end; ++k) missing += !is_free(graph_.data.child[k], truths);
        states_[node] = {0, missing};
        found = missing == 0;
    } else {
        found = truths.holds(graph_.data.formula[node]);
        for (auto k = first; k < end && !found; ++k) found = is_free(graph_.data.child[k], truths);
    }
    status_[node] = found ? Status::Free : Status::Costly;
    return found;
}

// Starts to compute the cost of a costly node.
void Relaxer::open(Node node) {
    ++opened_;
    status_[node] = graph_.all_open[node];
    if (graph_.data.kind[node] == Kind::Fact) {
        open_.push_back(node);
        return;
    }
    for (auto k = graph_.data.child_ptr[node]; k < graph_.data.child_ptr[node + 1]; ++k)
        if (status_[graph_.data.child[k]] == Status::Costly) open(graph_.data.child[k]);
}

// Propagates the cost of a node, which is the current level, to the nodes that depend on it. Nodes are settled in
// ascending order of cost, so that the first settled one determines the cost of a fact or a disjunction.
void Relaxer::settle(Node node) {
    const Cost cost = queue_.level();
    for (auto k = graph_.above_ptr[node]; k < graph_.above_ptr[node + 1]; ++k) {
        const Node above = graph_.above[k];
        switch (status_[above]) {
            case Status::Fact: finish(above, cost + 1); break;
            case Status::Any: finish(above, cost); break;
            case Status::All: {
                State& state = states_[above];
                state.cost = state.cost > kInfinite - cost ? kInfinite : state.cost + cost;
                if (--state.missing == 0) finish(above, state.cost);
                break;
            }
            default: break;
        }
    }
}

// Opens the nodes that the goal depends on. Free nodes depend on nothing, and a fact with an adder whose requirement is
// free needs no other adder.
template <class Truths>
void Relaxer::open_needed(Truths& truths) {
    std::ranges::fill(status_, Status::Unknown);
    open_.clear();
    for (Node node : graph_.data.goal) {
        if (is_free(node, truths)) --unreached_goals_;
        else if (status_[node] == Status::Costly) open(node);
    }
    while (!open_.empty()) {
        const Node fact = open_.back();
        open_.pop_back();
        costly_.clear();
        auto k = graph_.data.adder_ptr[fact];
        for (; k < graph_.data.adder_ptr[fact + 1]; ++k) {
            const Node requirement = graph_.data.requirement[k];
            if (is_free(requirement, truths)) break;
            if (status_[requirement] == Status::Costly) costly_.push_back(requirement);
        }
        if (k < graph_.data.adder_ptr[fact + 1]) finish(fact, 1);
        else
            for (Node requirement : costly_)
                if (status_[requirement] == Status::Costly) open(requirement);
    }
}

// Opens all nodes.
template <class Truths>
void Relaxer::open_all(Truths& truths) {
    status_ = graph_.all_open;
    states_ = graph_.all_states;
    for (Node node : graph_.atoms)
        if (truths.holds(graph_.data.formula[node])) finish(node, 0);
    for (Node node : graph_.empty) finish(node, 0);
    while (!queue_.empty()) settle(queue_.pop());
}

// Computes costs in ascending order until all subgoals have one, with all adders of that cost, or none is left. The
// node `excluded`, if any, never becomes true. When nearly all nodes are needed, it is cheaper to open all of them; the
// next few computations then do.
template <class Truths>
void Relaxer::reach(Truths& truths, Node excluded) {
    ++evaluations_;
    excluded_ = excluded;
    queue_.clear();
    unreached_goals_ = graph_.data.goal.size();
    if (excluded == kNone && full_computations_ == 0) {
        opened_ = 0;
        open_needed(truths);
        if (opened_ > status_.size() / 4 * 3) full_computations_ = 15;
    } else {
        open_all(truths);
        if (excluded == kNone) --full_computations_;
    }
    while (unreached_goals_ > 0 && queue_.rise())
        while (!queue_.empty()) settle(queue_.pop());
}

void Relaxer::need(Node node) {
    if (wanted_[node] || cost(node) == 0) return;
    touched_.push_back(node);
    wanted_[node] = 1;
    stack_.push_back(node);
}

// Extracts the relaxed plan of cheapest supporters for the reachable subgoals. Returns whether all are reachable.
template <class Truths>
bool Relaxer::extract(Truths& truths) {
    clear_plan();
    stack_.clear();
    for (Node node : graph_.data.goal)
        if (is_known(node)) need(node);
    while (!stack_.empty()) {
        const Node node = stack_.back();
        stack_.pop_back();
        const Cost level = states_[node].cost;
        const auto first = graph_.data.child_ptr[node], end = graph_.data.child_ptr[node + 1];
        switch (graph_.data.kind[node]) {
            case Kind::All:
                for (auto k = first; k < end; ++k) need(graph_.data.child[k]);
                break;
            case Kind::Any:
                for (auto k = first; k < end; ++k) {
                    if (cost(graph_.data.child[k]) != level) continue;
                    need(graph_.data.child[k]);
                    break;
                }
                break;
            case Kind::Fact:
                for (auto k = graph_.data.adder_ptr[node]; k < graph_.data.adder_ptr[node + 1]; ++k) {
                    const Node requirement = graph_.data.requirement[k];
                    if (cost(requirement) != level - 1) continue;
                    const auto op = graph_.data.op[k], action = graph_.data.action[op];
                    if (used_[action] == 0) used_actions_.push_back(action);
                    used_[action] |= is_free(graph_.data.op_requirement[op], truths) ? 3 : 1;
                    need(requirement);
                    break;
                }
                break;
        }
    }
    return unreached_goals_ == 0;
}

// Clears the last relaxed plan, which may be incomplete after memory ran out.
void Relaxer::clear_plan() {
    for (auto action : used_actions_) used_[action] = 0;
    for (Node node : touched_) wanted_[node] = 0;
    used_actions_.clear();
    touched_.clear();
}

// Computes costs and the relaxed plan. Returns whether it reaches the goal.
bool Relaxer::compute(StateId id) {
    return evaluators_.with(graph_.space.packed_form(id), [&](auto& state) {
        reach(state.truths);
        return extract(state.truths);
    });
}

// Stores the result of a computation.
void Relaxer::store(bool reached, RelaxedState& out) {
    double total = 0;
    for (Node node : graph_.data.goal)
        if (is_known(node)) total += static_cast<double>(cost(node));
    out.cost = total;
    out.actions = static_cast<std::int32_t>(used_actions_.size());
    out.unreached = static_cast<std::int32_t>(unreached_goals_);
    out.preferred.clear();
    if (reached) {
        std::sort(used_actions_.begin(), used_actions_.end());
        for (auto action : used_actions_)
            if (used_[action] & 2) out.preferred.push_back(static_cast<std::int32_t>(action));
    }
}

void Relaxer::relax(StateId id, RelaxedState& out) { store(compute(id), out); }

std::vector<std::int32_t> Relaxer::find_added_facts(StateId id, RelaxedState& out) {
    std::vector<std::int32_t> found;
    const bool reached = compute(id);
    if (reached)
        for (Node node : touched_)
            if (graph_.data.kind[node] == Kind::Fact) found.push_back(static_cast<std::int32_t>(node));
    std::sort(found.begin(), found.end());
    store(reached, out);
    return found;
}

// Replaces conjunctions (and disjunctions) among nodes by their parts.
std::vector<RelaxationGraph::Node> RelaxationGraph::split_parts(std::vector<Node> nodes, bool of_disjunctions) const {
    std::vector<Node> found;
    std::unordered_set<Node> split;  // nodes with several parents
    while (!nodes.empty()) {
        const Node node = nodes.back();
        nodes.pop_back();
        const auto kind = data.kind[node];
        if (kind != Kind::All && !(of_disjunctions && kind == Kind::Any))
            found.push_back(node);
        else if (above_ptr[node + 1] - above_ptr[node] < 2 || split.insert(node).second)
            for (auto k = data.child_ptr[node]; k < data.child_ptr[node + 1]; ++k) nodes.push_back(data.child[k]);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// A node is a landmark if the goal is unreachable when it never becomes true. Its possible first adders are those whose
// requirements are still reachable then.
Landmarks Relaxer::find_landmarks(StateId id) {
    std::vector<Node> candidates;
    Landmarks out{graph_.split_parts(graph_.data.goal), {}, {}};
    std::vector<std::uint32_t> requiring(graph_.data.kind.size());
    evaluators_.with(graph_.space.packed_form(id), [&](auto& state) {
        reach(state.truths);
        if (extract(state.truths))  // every landmark is in this plan
            std::ranges::copy_if(touched_, std::back_inserter(candidates),
                                 [&](Node node) { return graph_.data.kind[node] != Kind::All; });
        std::ranges::sort(candidates);
        for (Node landmark : candidates) {
            reach(state.truths, landmark);
            if (unreached_goals_ == 0) continue;
            out.nodes.push_back(landmark);
            std::uint32_t adders = 0;
            std::ranges::fill(requiring, 0);
            for (Node fact : graph_.split_parts({landmark}, true)) {
                for (auto k = graph_.data.adder_ptr[fact]; k < graph_.data.adder_ptr[fact + 1]; ++k) {
                    if (!is_known(graph_.data.requirement[k])) continue;
                    ++adders;
                    for (Node part : graph_.split_parts({graph_.data.requirement[k]})) ++requiring[part];
                }
            }
            for (Node other : candidates)
                if (requiring[other] == adders) out.orders.emplace_back(other, landmark);
        }
    });
    return out;
}

Relaxation::Relaxation(const Space& space, RelaxationData data) : graph_(space, std::move(data)), entries_(1) {
    relaxers_.push_back(std::make_unique<Relaxer>(graph_));
}

std::uint64_t Relaxation::evaluations() const {
    std::uint64_t sum = 0;
    for (const auto& relaxer : relaxers_) sum += relaxer->evaluations();
    return sum;
}

void Relaxation::store(StateId id, const RelaxedState& relaxed) {
    if (entry_of_.size() <= id) entry_of_.resize(graph_.space.size(), 0);
    if (entry_of_[id] != 0) return;
    entries_.push_back({relaxed.cost, relaxed.actions, relaxed.unreached, preferred_.size()});
    preferred_.insert(preferred_.end(), relaxed.preferred.begin(), relaxed.preferred.end());
    entry_of_[id] = static_cast<std::uint32_t>(entries_.size() - 1);
}

void Relaxation::append(StateId id, Relaxed& out) const {
    const std::uint32_t number = entry_of_[id];
    const Entry& entry = entries_[number];
    const auto end = number + 1 < entries_.size() ? entries_[number + 1].preferred_first : preferred_.size();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    out.h_add.push_back(entry.unreached == 0 ? entry.cost : infinity);
    out.h_ff.push_back(entry.unreached == 0 ? entry.actions : infinity);
    out.cost.push_back(entry.cost);
    out.actions.push_back(entry.actions);
    out.unreached.push_back(entry.unreached);
    out.preferred.insert(out.preferred.end(), preferred_.data() + entry.preferred_first, preferred_.data() + end);
    out.preferred_ptr.push_back(static_cast<std::int64_t>(out.preferred.size()));
}

// The threads share e-states without a stored result; these are stored in ascending order.
void Relaxation::evaluate(std::span<const StateId> ids, unsigned threads, Relaxed& out) {
    missing_.clear();
    for (StateId id : ids)
        if (!is_stored(id)) missing_.push_back(id);
    if (missing_.size() > 1) {
        std::ranges::sort(missing_);
        missing_.erase(std::ranges::unique(missing_).begin(), missing_.end());
    }
    if (relaxed_.size() < missing_.size()) relaxed_.resize(missing_.size());
    while (relaxers_.size() < threads) relaxers_.push_back(std::make_unique<Relaxer>(graph_));
    pace_.run(missing_.size(), threads, [&](unsigned thread, std::size_t k) {
        relaxers_[thread]->relax(missing_[k], relaxed_[k]);
    });
    for (std::size_t k = 0; k < missing_.size(); ++k) store(missing_[k], relaxed_[k]);
    for (StateId id : ids) append(id, out);
}

std::vector<std::int32_t> Relaxation::find_added_facts(StateId id) {
    RelaxedState relaxed;
    auto found = relaxers_.front()->find_added_facts(id, relaxed);
    store(id, relaxed);
    return found;
}

}  // namespace epi
