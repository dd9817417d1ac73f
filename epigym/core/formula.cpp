#include "formula.hpp"

#include <algorithm>
#include <span>

namespace epi {

template <class P>
bool Truths<P>::holds(FormulaId id) {
    const Formulas& table = *formulas_;
    const std::span children(table.child.data() + table.child_first[id], table.child.data() + table.child_first[id + 1]);
    const std::span agents(table.agent.data() + table.agent_first[id], table.agent.data() + table.agent_first[id + 1]);
    switch (table.op[id]) {
        case Op::And: return std::ranges::all_of(children, [&](FormulaId child) { return holds(child); });
        case Op::Believes:
        case Op::Everybody:
            return std::ranges::all_of(
                agents, [&](std::uint32_t agent) { return holds_throughout(considered(agent), children.front()); });
        default: return holds_throughout(model_->designated, id);
    }
}

// Whether the formula holds at each of some worlds; cheaper than asking where it holds.
template <class P>
bool Truths<P>::holds_throughout(const typename P::Set& where, FormulaId id) {
    const Formulas& table = *formulas_;
    if (table.op[id] == Op::Not) return !intersects(where, worlds(table.child[table.child_first[id]]));
    return subset(where, worlds(id));
}

// The worlds that an agent considers possible at some designated world.
template <class P>
const typename P::Set& Truths<P>::considered(std::uint32_t agent) {
    auto& found = considered_[agent];
    if (considered_stamps_[agent] != stamp_) {
        P::clear(found, model_->worlds);
        for (const auto& row : model_->rows(agent))
            if (intersects(row.members, model_->designated)) unite(found, row.successors);
        considered_stamps_[agent] = stamp_;
    }
    return found;
}

template <class P>
void Truths<P>::compute(FormulaId id) {
    const Formulas& table = *formulas_;
    const auto first = table.child_first[id];
    const auto last = table.child_first[id + 1];
    typename P::Set& out = sets_[id];
    switch (table.op[id]) {
        case Op::True: P::fill(out, model_->worlds); break;
        case Op::False: P::clear(out, model_->worlds); break;
        case Op::Fluent: break;  // worlds() reads the valuation
        case Op::Not: {
            const auto& inner = worlds(table.child[first]);
            P::fill(out, model_->worlds);
            out.subtract(inner);
            break;
        }
        case Op::And:
            out = worlds(table.child[first]);
            for (auto i = first + 1; i < last && out.any(); ++i) out &= worlds(table.child[i]);
            break;
        case Op::Or:
            out = worlds(table.child[first]);
            for (auto i = first + 1; i < last; ++i) out |= worlds(table.child[i]);
            break;
        case Op::Believes: believed(table.agent[table.agent_first[id]], worlds(table.child[first]), out); break;
        case Op::Everybody: {
            const auto& inner = worlds(table.child[first]);
            typename P::Set one;
            P::fill(out, model_->worlds);
            for (auto i = table.agent_first[id]; i < table.agent_first[id + 1]; ++i) {
                believed(table.agent[i], inner, one);
                out &= one;
            }
            break;
        }
        case Op::Common: commonly_believed(id, worlds(table.child[first]), out); break;
        case Op::Actually:
            if (holds(table.child[first])) P::fill(out, model_->worlds);
            else P::clear(out, model_->worlds);
            break;
    }
}

template <class P>
void Truths<P>::believed(std::uint32_t agent, const typename P::Set& inner, typename P::Set& out) const {
    P::clear(out, model_->worlds);
    for (const auto& row : model_->rows(agent))
        if (subset(row.successors, inner)) unite(out, row.members);
}

// Collects the worlds from which one or more steps lead to a world outside `inner`; the rest is the answer.
template <class P>
void Truths<P>::commonly_believed(FormulaId id, const typename P::Set& inner, typename P::Set& out) {
    const Formulas& table = *formulas_;
    typename P::Set bad, found;
    P::fill(bad, model_->worlds);
    bad.subtract(inner);
    P::clear(found, model_->worlds);
    std::vector<const RowClass<P>*> open;
    for (auto i = table.agent_first[id]; i < table.agent_first[id + 1]; ++i)
        for (const auto& row : model_->rows(table.agent[i])) open.push_back(&row);
    for (bool changed = true; changed;) {
        changed = false;
        std::erase_if(open, [&](const auto* row) {
            if (!intersects(row->successors, bad)) return false;
            unite(found, row->members);
            return changed = true;
        });
        bad |= found;
    }
    P::fill(out, model_->worlds);
    out.subtract(found);
}

template class Truths<Dense<1>>;
template class Truths<Dense<2>>;
template class Truths<Dense<4>>;
template class Truths<Dense<8>>;
template class Truths<Sparse>;

}  // namespace epi
