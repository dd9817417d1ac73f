#include "relaxation.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

namespace epi {

using Kind = RelaxationData::Kind;

Relaxation::Relaxation(const Space& space, RelaxationData data)
    : space_(&space),
      data_(std::move(data)),
      paths_(data_.formulas, space.task().agents, data_.formula),
      evaluators_(data_.formulas, space.task().fluents, space.task().agents, &paths_),
      entries_(1),
      status_(data_.kind.size()),
      states_(data_.kind.size()),
      queue_(data_.kind.size()),
      wanted_(data_.kind.size()),
      is_goal_(data_.kind.size()),
      used_(space.task().actions.actions.size()) {
    const auto nodes = static_cast<Node>(data_.kind.size());
    for (Node node : data_.goal) is_goal_[node] = 1;
    const auto each_edge = [&](auto&& visit) {
        for (Node node = 0; node < nodes; ++node) {
            for (auto k = data_.child_ptr[node]; k < data_.child_ptr[node + 1]; ++k) visit(data_.child[k], node);
            for (auto k = data_.adder_ptr[node]; k < data_.adder_ptr[node + 1]; ++k) visit(data_.requirement[k], node);
        }
    };
    above_ptr_.assign(nodes + 1, 0);
    each_edge([&](Node below, Node) { ++above_ptr_[below + 1]; });
    for (Node node = 0; node < nodes; ++node) above_ptr_[node + 1] += above_ptr_[node];
    above_.resize(above_ptr_.back());
    auto next = above_ptr_;
    each_edge([&](Node below, Node node) { above_[next[below]++] = node; });
    constexpr std::array kOpen{Status::Fact, Status::Any, Status::All};
    for (Node node = 0; node < nodes; ++node) {
        const Kind kind = data_.kind[node];
        all_open_.push_back(kOpen[static_cast<std::size_t>(kind)]);
        all_states_.push_back({0, data_.child_ptr[node + 1] - data_.child_ptr[node]});
        if (kind != Kind::All) atoms_.push_back(node);
        else if (all_states_.back().missing == 0) empty_.push_back(node);
    }
}

// Determines whether a node costs nothing.
template <class Truths>
bool Relaxation::test(Node node, Truths& truths) {
    const auto first = data_.child_ptr[node], end = data_.child_ptr[node + 1];
    bool found;
    if (data_.kind[node] == Kind::All) {
        std::uint32_t missing = 0;
        for (auto k = first; k < end; ++k) missing += !is_free(data_.child[k], truths);
        states_[node] = {0, missing};
        found = missing == 0;
    } else {
        found = truths.holds(data_.formula[node]);
        for (auto k = first; k < end && !found; ++k) found = is_free(data_.child[k], truths);
    }
    status_[node] = found ? Status::Free : Status::Costly;
    return found;
}

// Starts to compute the cost of a costly node.
void Relaxation::open(Node node) {
    ++opened_;
    status_[node] = all_open_[node];
    if (data_.kind[node] == Kind::Fact) {
        open_.push_back(node);
        return;
    }
    for (auto k = data_.child_ptr[node]; k < data_.child_ptr[node + 1]; ++k)
        if (status_[data_.child[k]] == Status::Costly) open(data_.child[k]);
}

// Propagates the cost of a node, which is the current level, to the nodes that depend on it. Nodes are settled in
// ascending order of cost, so that the first settled one determines the cost of a fact or a disjunction.
void Relaxation::settle(Node node) {
    const Cost cost = queue_.level();
    for (auto k = above_ptr_[node]; k < above_ptr_[node + 1]; ++k) {
        const Node above = above_[k];
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
void Relaxation::open_needed(Truths& truths) {
    std::ranges::fill(status_, Status::Unknown);
    for (Node node : data_.goal) {
        if (is_free(node, truths)) --unreached_goals_;
        else if (status_[node] == Status::Costly) open(node);
    }
    while (!open_.empty()) {
        const Node fact = open_.back();
        open_.pop_back();
        costly_.clear();
        auto k = data_.adder_ptr[fact];
        for (; k < data_.adder_ptr[fact + 1]; ++k) {
            const Node requirement = data_.requirement[k];
            if (is_free(requirement, truths)) break;
            if (status_[requirement] == Status::Costly) costly_.push_back(requirement);
        }
        if (k < data_.adder_ptr[fact + 1]) finish(fact, 1);
        else
            for (Node requirement : costly_)
                if (status_[requirement] == Status::Costly) open(requirement);
    }
}

// Opens all nodes.
template <class Truths>
void Relaxation::open_all(Truths& truths) {
    status_ = all_open_;
    states_ = all_states_;
    for (Node node : atoms_)
        if (truths.holds(data_.formula[node])) finish(node, 0);
    for (Node node : empty_) finish(node, 0);
    while (!queue_.empty()) settle(queue_.pop());
}

// Computes costs in ascending order until all subgoals have one, with all adders of that cost, or none is left. The
// node `excluded`, if any, never becomes true. When nearly all nodes are needed, it is cheaper to open all of them; the
// next few computations then do.
template <class Truths>
void Relaxation::reach(Truths& truths, Node excluded) {
    ++evaluations_;
    excluded_ = excluded;
    queue_.clear();
    unreached_goals_ = data_.goal.size();
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

void Relaxation::need(Node node) {
    if (wanted_[node] || cost(node) == 0) return;
    wanted_[node] = 1;
    touched_.push_back(node);
    stack_.push_back(node);
}

// Extracts the relaxed plan of cheapest supporters for the reachable subgoals. Returns whether all are reachable.
template <class Truths>
bool Relaxation::extract(Truths& truths) {
    stack_.clear();
    for (Node node : data_.goal)
        if (is_known(node)) need(node);
    while (!stack_.empty()) {
        const Node node = stack_.back();
        stack_.pop_back();
        const Cost level = states_[node].cost;
        const auto first = data_.child_ptr[node], end = data_.child_ptr[node + 1];
        switch (data_.kind[node]) {
            case Kind::All:
                for (auto k = first; k < end; ++k) need(data_.child[k]);
                break;
            case Kind::Any:
                for (auto k = first; k < end; ++k) {
                    if (cost(data_.child[k]) != level) continue;
                    need(data_.child[k]);
                    break;
                }
                break;
            case Kind::Fact:
                for (auto k = data_.adder_ptr[node]; k < data_.adder_ptr[node + 1]; ++k) {
                    const Node requirement = data_.requirement[k];
                    if (cost(requirement) != level - 1) continue;
                    const auto op = data_.op[k], action = data_.action[op];
                    if (used_[action] == 0) used_actions_.push_back(action);
                    used_[action] |= is_free(data_.op_requirement[op], truths) ? 3 : 1;
                    need(requirement);
                    break;
                }
                break;
        }
    }
    return unreached_goals_ == 0;
}

// Clears the relaxed plan.
void Relaxation::clear_plan() {
    for (auto action : used_actions_) used_[action] = 0;
    for (Node node : touched_) wanted_[node] = 0;
    used_actions_.clear();
    touched_.clear();
}

// Computes costs and the relaxed plan. Returns whether it reaches the goal.
bool Relaxation::compute(StateId id) {
    return evaluators_.with(space_->packed_form(id), [&](auto& state) {
        reach(state.truths);
        return extract(state.truths);
    });
}

void Relaxation::remember(StateId id, bool reached) {
    if (entry_of_.size() <= id) entry_of_.resize(space_->size(), 0);
    if (entry_of_[id] != 0) return;
    entry_of_[id] = static_cast<std::uint32_t>(entries_.size());
    double total = 0;
    for (Node node : data_.goal)
        if (is_known(node)) total += static_cast<double>(cost(node));
    entries_.push_back({total, static_cast<std::int32_t>(used_actions_.size()), static_cast<std::int32_t>(unreached_goals_),
                        preferred_.size()});
    if (!reached) return;
    std::sort(used_actions_.begin(), used_actions_.end());
    for (auto action : used_actions_)
        if (used_[action] & 2) preferred_.push_back(static_cast<std::int32_t>(action));
}

void Relaxation::evaluate(StateId id, Relaxed& out) {
    if (id >= entry_of_.size() || entry_of_[id] == 0) {
        remember(id, compute(id));
        clear_plan();
    }
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

std::vector<std::int32_t> Relaxation::find_added_facts(StateId id) {
    std::vector<std::int32_t> found;
    const bool reached = compute(id);
    if (reached)
        for (Node node : touched_)
            if (data_.kind[node] == Kind::Fact) found.push_back(static_cast<std::int32_t>(node));
    std::sort(found.begin(), found.end());
    remember(id, reached);
    clear_plan();
    return found;
}

// Replaces conjunctions (and disjunctions) among nodes by their parts.
std::vector<Relaxation::Node> Relaxation::split_parts(std::vector<Node> nodes, bool of_disjunctions) const {
    std::vector<Node> found;
    while (!nodes.empty()) {
        const Node node = nodes.back();
        nodes.pop_back();
        const auto kind = data_.kind[node];
        if (kind == Kind::All || (of_disjunctions && kind == Kind::Any))
            for (auto k = data_.child_ptr[node]; k < data_.child_ptr[node + 1]; ++k) nodes.push_back(data_.child[k]);
        else
            found.push_back(node);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// A node is a landmark if the goal is unreachable when it never becomes true. Its possible first adders are those whose
// requirements are still reachable then.
Landmarks Relaxation::find_landmarks(StateId id) {
    std::vector<Node> candidates;
    Landmarks out{split_parts(data_.goal), {}, {}};
    std::vector<std::uint32_t> requiring(data_.kind.size());
    evaluators_.with(space_->packed_form(id), [&](auto& state) {
        reach(state.truths);
        if (extract(state.truths))  // every landmark is in this plan
            std::ranges::copy_if(touched_, std::back_inserter(candidates),
                                 [&](Node node) { return data_.kind[node] != Kind::All; });
        clear_plan();
        std::ranges::sort(candidates);
        for (Node landmark : candidates) {
            reach(state.truths, landmark);
            if (unreached_goals_ == 0) continue;
            out.nodes.push_back(landmark);
            std::uint32_t adders = 0;
            std::ranges::fill(requiring, 0);
            for (Node fact : split_parts({landmark}, true)) {
                for (auto k = data_.adder_ptr[fact]; k < data_.adder_ptr[fact + 1]; ++k) {
                    if (!is_known(data_.requirement[k])) continue;
                    ++adders;
                    for (Node part : split_parts({data_.requirement[k]})) ++requiring[part];
                }
            }
            for (Node other : candidates)
                if (requiring[other] == adders) out.orders.emplace_back(other, landmark);
        }
    });
    return out;
}

}  // namespace epi
