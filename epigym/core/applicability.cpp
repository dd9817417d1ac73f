#include "applicability.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <numeric>

namespace epi {

ActionIndex::ActionIndex(const Formulas& formulas, const ActionTable& table) {
    std::vector<Literals> literals;
    std::map<Literal, std::size_t> uses;
    for (const Action& action : table.actions)
        for (const Literal& literal : literals.emplace_back(find_required(formulas, table, action))) ++uses[literal];
    for (Literals& list : literals)
        std::sort(list.begin(), list.end(), [&](const Literal& a, const Literal& b) {
            return uses[a] != uses[b] ? uses[a] > uses[b] : a < b;
        });
    build(literals);
}

// The literals, ascending, that hold at all designated worlds of every e-state in which the action is applicable.
ActionIndex::Literals ActionIndex::find_required(const Formulas& formulas, const ActionTable& table,
                                                 const Action& action) {
    const EventModel& model = table.event_models[action.event_model];
    Literals shared, of_event, both;
    bool is_first = true;
    for (EventMask left = model.designated; left != 0; left &= left - 1) {
        of_event.clear();
        collect(formulas, table.events[model.events[std::countr_zero(left)]].precondition, of_event);
        std::sort(of_event.begin(), of_event.end());
        if (is_first) {
            shared = of_event;
        } else {
            both.clear();
            std::set_intersection(shared.begin(), shared.end(), of_event.begin(), of_event.end(), std::back_inserter(both));
            shared.swap(both);
        }
        is_first = false;
    }
    collect(formulas, action.applicability, shared);
    std::sort(shared.begin(), shared.end());
    shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
    return shared;
}

// Adds the conjuncts of a formula that are literals.
void ActionIndex::collect(const Formulas& formulas, FormulaId id, Literals& out) {
    const auto children = formulas.children(id);
    switch (formulas.op[id]) {
        case Op::Fluent: out.push_back({formulas.fluent[id], true}); break;
        case Op::Not:
            if (formulas.op[children.front()] == Op::Fluent) out.push_back({formulas.fluent[children.front()], false});
            break;
        case Op::And:
            for (FormulaId child : children) collect(formulas, child, out);
            break;
        default: break;
    }
}

void ActionIndex::build(const std::vector<Literals>& required) {
    actions_.resize(required.size());
    std::iota(actions_.begin(), actions_.end(), ActionId{0});
    std::stable_sort(actions_.begin(), actions_.end(), [&](ActionId a, ActionId b) { return required[a] < required[b]; });
    std::vector<std::size_t> path;  // the nodes above the next action
    const auto close = [&](std::size_t depth) {
        for (; path.size() > depth; path.pop_back()) nodes_[path.back()].end = static_cast<std::uint32_t>(nodes_.size());
    };
    for (std::uint32_t k = 0; k < actions_.size(); ++k) {
        const Literals& literals = required[actions_[k]];
        std::size_t depth = 0;
        while (depth < path.size() && depth < literals.size() && nodes_[path[depth]].literal == literals[depth]) ++depth;
        close(depth);
        for (; depth < literals.size(); ++depth) {
            path.push_back(nodes_.size());
            nodes_.push_back({literals[depth], 0, k, k});
        }
        (path.empty() ? unconditional_ : nodes_[path.back()].last_action) = k + 1;
    }
    close(0);
}

}  // namespace epi
