#include "relaxation.hpp"

#include <limits>

namespace epi {

namespace {

// The transposition of a ragged table with so many targets: which rows hold each target.
void transpose(std::size_t targets, const std::vector<std::uint32_t>& ptr, const std::vector<std::uint32_t>& flat,
               std::vector<std::uint32_t>& out_ptr, std::vector<std::uint32_t>& out) {
    out_ptr.assign(targets + 1, 0);
    for (auto target : flat) ++out_ptr[target + 1];
    for (std::size_t t = 0; t < targets; ++t) out_ptr[t + 1] += out_ptr[t];
    out.resize(flat.size());
    auto next = out_ptr;
    for (std::uint32_t row = 0; row + 1 < ptr.size(); ++row)
        for (auto k = ptr[row]; k < ptr[row + 1]; ++k) out[next[flat[k]]++] = row;
}

}  // namespace

Relaxation::Relaxation(const Space& space, RelaxationData data)
    : space_(&space), data_(std::move(data)), evaluators_(data_.formulas, space.task().fluents, space.task().agents) {
    const auto nodes = data_.kind.size();
    transpose(nodes, data_.child_ptr, data_.child, parent_ptr_, parent_);
    transpose(nodes, data_.adder_ptr, data_.requirement, added_ptr_, adds_);
    is_goal_.assign(nodes, 0);
    for (Node node : data_.goal) is_goal_[node] = 1;
    for (Node node = 0; node < nodes; ++node) {
        children_.push_back(data_.child_ptr[node + 1] - data_.child_ptr[node]);
        if (data_.kind[node] != RelaxationData::Kind::All) with_formula_.push_back(node);
        else if (children_.back() == 0) empty_.push_back(node);
    }
    sum_.resize(nodes);
    used_.assign(space.task().actions.actions.size(), 0);
    wanted_.assign(nodes, 0);
    entries_.push_back({});
}

// Sums that outgrow 64 bits are as good as infinite.
void Relaxation::push(Node node, Cost cost) {
    if (cost >= cost_[node]) return;
    cost_[node] = cost;
    queue_.push(cost, node);
}

// Fixes the cost of a node and tells those that depend on it.
void Relaxation::settle(Node node, Cost cost) {
    settled_[node] = 1;
    cost_[node] = cost;
    if (is_goal_[node]) --open_goals_;
    for (auto k = parent_ptr_[node]; k < parent_ptr_[node + 1]; ++k) {
        const Node parent = parent_[k];
        if (settled_[parent]) continue;
        if (data_.kind[parent] == RelaxationData::Kind::Any) {
            push(parent, cost);
        } else {
            sum_[parent] = sum_[parent] > kInfinite - cost ? kInfinite : sum_[parent] + cost;
            if (--missing_[parent] == 0) push(parent, sum_[parent]);
        }
    }
    for (auto k = added_ptr_[node]; k < added_ptr_[node + 1]; ++k)
        if (!settled_[adds_[k]]) push(adds_[k], cost + 1);
}

// Finds the nodes that hold in an e-state.
void Relaxation::load(StateId id) {
    holding_ = empty_;
    evaluators_.with(space_->packed(id), [&](auto& state) {
        for (Node node : with_formula_)
            if (state.truths.holds(data_.formula[node])) holding_.push_back(node);
    });
}

// Settles nodes in the order of their costs until the goal is settled, or nothing is left; one node, if any, never
// becomes true.
void Relaxation::reach(Node never) {
    ++evaluated_;
    const auto nodes = data_.kind.size();
    cost_.assign(nodes, kInfinite);
    settled_.assign(nodes, 0);
    missing_ = children_;
    std::fill(sum_.begin(), sum_.end(), 0);
    queue_.clear();
    open_goals_ = data_.goal.size();
    if (never != kNone) settled_[never] = 1;
    // First whatever holds or follows from what holds, then the rest.
    for (Node node : holding_)
        if (!settled_[node]) settle(node, 0);
    Cost last = 0;  // also what costs as much as the goal is settled, so that ties are seen
    while (!queue_.empty() && (open_goals_ > 0 || queue_.lowest() <= last)) {
        last = queue_.lowest();
        const Node node = queue_.pop();
        if (!settled_[node]) settle(node, last);
    }
}

void Relaxation::need(Node node) {
    if (wanted_[node] || cost_[node] == 0) return;
    wanted_[node] = 1;
    touched_.push_back(node);
    stack_.push_back(node);
}

// Collects the relaxed plan of cheapest supporters for the subgoals within reach; false when these are not all.
bool Relaxation::extract() {
    stack_.clear();
    for (Node node : data_.goal)
        if (settled_[node]) need(node);
    while (!stack_.empty()) {
        const Node node = stack_.back();
        stack_.pop_back();
        const auto first = data_.child_ptr[node], end = data_.child_ptr[node + 1];
        switch (data_.kind[node]) {
            case RelaxationData::Kind::All:
                for (auto k = first; k < end; ++k) need(data_.child[k]);
                break;
            case RelaxationData::Kind::Any:
                for (auto k = first; k < end; ++k) {
                    if (!settled_[data_.child[k]] || cost_[data_.child[k]] != cost_[node]) continue;
                    need(data_.child[k]);
                    break;
                }
                break;
            case RelaxationData::Kind::Fact:
                for (auto k = data_.adder_ptr[node]; k < data_.adder_ptr[node + 1]; ++k) {
                    const Node requirement = data_.requirement[k];
                    if (!settled_[requirement] || cost_[requirement] + 1 != cost_[node]) continue;
                    const auto op = data_.op[k], action = data_.action[op];
                    const Node own = data_.op_requirement[op];
                    if (used_[action] == 0) used_actions_.push_back(action);
                    used_[action] |= settled_[own] && cost_[own] == 0 ? 3 : 1;
                    need(requirement);
                    break;
                }
                break;
        }
    }
    return open_goals_ == 0;
}

// Makes ready for the next relaxed plan.
void Relaxation::forget() {
    for (auto action : used_actions_) used_[action] = 0;
    for (Node node : touched_) wanted_[node] = 0;
    used_actions_.clear();
    touched_.clear();
}

// Finds costs and relaxed plan; whether this reaches all of the goal.
bool Relaxation::compute(StateId id) {
    load(id);
    reach();
    return extract();
}

void Relaxation::remember(StateId id, bool reached) {
    if (entry_of_.size() <= id) entry_of_.resize(space_->size(), 0);
    if (entry_of_[id] != 0) return;
    entry_of_[id] = static_cast<std::uint32_t>(entries_.size());
    double total = 0;
    for (Node node : data_.goal)
        total += settled_[node] ? static_cast<double>(cost_[node]) : std::numeric_limits<double>::infinity();
    entries_.push_back({total, static_cast<std::int32_t>(used_actions_.size()), static_cast<std::int32_t>(open_goals_),
                        helpful_.size()});
    if (!reached) return;
    std::sort(used_actions_.begin(), used_actions_.end());
    for (auto action : used_actions_)
        if (used_[action] & 2) helpful_.push_back(static_cast<std::int32_t>(action));
}

void Relaxation::evaluate(StateId id, Relaxed& out) {
    if (id >= entry_of_.size() || entry_of_[id] == 0) {
        remember(id, compute(id));
        forget();
    }
    const std::uint32_t number = entry_of_[id];
    const Entry& entry = entries_[number];
    const auto end = number + 1 < entries_.size() ? entries_[number + 1].helpful_first : helpful_.size();
    out.h_add.push_back(entry.h_add);
    out.h_ff.push_back(entry.unreached == 0 ? entry.actions : std::numeric_limits<double>::infinity());
    out.actions.push_back(entry.actions);
    out.unreached.push_back(entry.unreached);
    out.helpful.insert(out.helpful.end(), helpful_.data() + entry.helpful_first, helpful_.data() + end);
    out.helpful_ptr.push_back(static_cast<std::int64_t>(out.helpful.size()));
}

std::vector<std::int32_t> Relaxation::added(StateId id) {
    std::vector<std::int32_t> found;
    const bool reached = compute(id);
    if (reached)
        for (Node node : touched_)
            if (data_.kind[node] == RelaxationData::Kind::Fact) found.push_back(static_cast<std::int32_t>(node));
    std::sort(found.begin(), found.end());
    remember(id, reached);
    forget();
    return found;
}

// Nodes, with the parts of conjunctions (and of disjunctions) in their place.
std::vector<Relaxation::Node> Relaxation::parts(std::vector<Node> nodes, bool of_disjunctions) const {
    std::vector<Node> found;
    while (!nodes.empty()) {
        const Node node = nodes.back();
        nodes.pop_back();
        const auto kind = data_.kind[node];
        if (kind == RelaxationData::Kind::All || (of_disjunctions && kind == RelaxationData::Kind::Any))
            for (auto k = data_.child_ptr[node]; k < data_.child_ptr[node + 1]; ++k) nodes.push_back(data_.child[k]);
        else
            found.push_back(node);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// A node is a landmark if the goal is out of reach where it never becomes true. What is then within reach tells who
// may add it first.
Landmarks Relaxation::landmarks(StateId id) {
    std::vector<Node> candidates;
    if (compute(id))  // every landmark is in this plan
        for (Node node : touched_)
            if (data_.kind[node] != RelaxationData::Kind::All) candidates.push_back(node);
    forget();
    std::sort(candidates.begin(), candidates.end());
    Landmarks out{parts(data_.goal), {}, {}};
    std::vector<std::uint32_t> requiring(data_.kind.size());
    for (Node landmark : candidates) {
        reach(landmark);
        if (open_goals_ == 0) continue;
        out.nodes.push_back(landmark);
        std::uint32_t ways = 0;
        std::fill(requiring.begin(), requiring.end(), 0);
        for (Node fact : parts({landmark}, true)) {
            for (auto k = data_.adder_ptr[fact]; k < data_.adder_ptr[fact + 1]; ++k) {
                if (cost_[data_.requirement[k]] == kInfinite) continue;
                ++ways;
                for (Node part : parts({data_.requirement[k]})) ++requiring[part];
            }
        }
        for (Node other : candidates)
            if (requiring[other] == ways) out.orders.emplace_back(other, landmark);
    }
    return out;
}

}  // namespace epi
