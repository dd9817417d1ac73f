#include "formula.hpp"

#include <algorithm>
#include <utility>

#include "belief_paths.hpp"
#include "none.hpp"

namespace epi {

namespace {

// Adds the successors of the designated worlds.
void add_successors(std::span<const RowClass<Dense>> rows, Bits designated, Bits& out) {
    for (const auto& row : rows)
        if (intersects(row.members, designated)) unite(out, row.successors);
}

void add_successors(const Relation& relation, const WideBits& designated, WideBits& out) {
    std::vector<std::uint8_t> rows(relation.count, 0);
    each(designated, [&](World w) { rows[relation.row_of[w]] = 1; });
    if (relation.is_introspective) {
        for (std::size_t i = 0; i < out.words.size(); ++i)
            out.words[i] |= relation.reflexive.words[i] & relation.select_marked(rows.data(), i);
        return;
    }
    for (std::uint32_t row = 0; row < relation.count; ++row)
        if (rows[row]) unite(out, relation.successors(row));
}

// Adds the worlds all of whose successors lie in `inner`.
void add_believers(std::span<const RowClass<Dense>> rows, Bits inner, Bits& out) {
    for (const auto& row : rows)
        if (is_subset(row.successors, inner)) unite(out, row.members);
}

void add_believers(const Relation& relation, const WideBits& inner, WideBits& out) {
    std::vector<std::uint8_t> believes(relation.count, 1);  // per row
    std::uint32_t believing = relation.count;               // rows; in most calls soon none
    const auto refute = [&](std::uint32_t row) { believing -= std::exchange(believes[row], 0); };
    if (relation.is_introspective) {
        for (std::size_t i = 0; i < inner.words.size() && believing > 0; ++i)
            each_bit(relation.reflexive.words[i] & ~inner.words[i], static_cast<World>(64 * i),
                     [&](World w) { refute(relation.row_of[w]); });
    } else {
        for (std::uint32_t row = 0; row < relation.count; ++row)
            if (!is_subset(relation.successors(row), inner)) refute(row);
    }
    if (believing == 0) return;
    for (std::size_t i = 0; i < out.words.size(); ++i) out.words[i] |= relation.select_marked(believes.data(), i);
}

}  // namespace

template <class P>
bool Truths<P>::decide(FormulaId id) {
    const auto children = formulas_->children(id);
    // In small models the truth sets of the parts cost no more, and actions need them anyway.
    const auto is_single = [&] { return (!P::dense || paths_ != nullptr) && model_->designated.count() == 1; };
    switch (formulas_->op[id]) {
        case Op::And: return std::ranges::all_of(children, [&](FormulaId child) { return holds(child); });
        case Op::Or:
            if (is_single()) return std::ranges::any_of(children, [&](FormulaId child) { return holds(child); });
            return holds_throughout(model_->designated, id);
        case Op::Not:
            if (is_single()) return !holds(children.front());
            return holds_throughout(model_->designated, id);
        case Op::Believes:
            if (paths_ != nullptr) {
                const auto [path, rest] = paths_->divide(*formulas_, id);
                return holds_throughout(follow(path), rest);
            }
            [[fallthrough]];
        case Op::Everybody:
            return std::ranges::all_of(formulas_->agents(id), [&](std::uint32_t agent) {
                return holds_throughout(find_successors(agent), children.front());
            });
        default: return holds_throughout(model_->designated, id);
    }
}

// Whether the formula holds at all worlds of a set; spares the truth set of a negation.
template <class P>
bool Truths<P>::holds_throughout(const typename P::Set& where, FormulaId id) {
    if (formulas_->op[id] == Op::Not) return !intersects(where, worlds(formulas_->children(id).front()));
    return is_subset(where, worlds(id));
}

template <class P>
const typename P::Set& Truths<P>::follow(std::uint32_t path) {
    if (path_stamps_.empty()) {
        const std::size_t paths = paths_ == nullptr ? model_->agents() : paths_->paths().size();
        path_worlds_.resize(paths);
        path_stamps_.resize(paths, 0);
    }
    auto& found = path_worlds_[path];
    if (path_stamps_[path] != stamp_) {
        const auto [before, agent] = paths_ == nullptr ? BeliefPaths::Path{kNone, path} : paths_->paths()[path];
        P::clear(found, model_->worlds);
        add_successors(model_->rows(agent), before == kNone ? model_->designated : follow(before), found);
        path_stamps_[path] = stamp_;
    }
    return found;
}

template <class P>
void Truths<P>::compute(FormulaId id) {
    const auto children = formulas_->children(id);
    const auto agents = formulas_->agents(id);
    typename P::Set& out = sets_[id];
    switch (formulas_->op[id]) {
        case Op::True: P::fill(out, model_->worlds); break;
        case Op::False: P::clear(out, model_->worlds); break;
        case Op::Fluent: break;  // worlds() returns the valuation
        case Op::Not: {
            const auto& inner = worlds(children.front());
            P::fill(out, model_->worlds);
            out.subtract(inner);
            break;
        }
        case Op::And:
            out = worlds(children.front());
            for (FormulaId child : children.subspan(1)) {
                if (!out.any()) break;
                out &= worlds(child);
            }
            break;
        case Op::Or:
            out = worlds(children.front());
            for (FormulaId child : children.subspan(1)) out |= worlds(child);
            break;
        case Op::Believes: evaluate_belief(agents.front(), worlds(children.front()), out); break;
        case Op::Everybody: {
            const auto& inner = worlds(children.front());
            typename P::Set one;
            P::fill(out, model_->worlds);
            for (auto agent : agents) {
                evaluate_belief(agent, inner, one);
                out &= one;
            }
            break;
        }
        case Op::Common: evaluate_common_belief(id, worlds(children.front()), out); break;
        case Op::Actually:
            if (holds(children.front())) P::fill(out, model_->worlds);
            else P::clear(out, model_->worlds);
            break;
    }
}

template <class P>
void Truths<P>::evaluate_belief(std::uint32_t agent, const typename P::Set& inner, typename P::Set& out) const {
    P::clear(out, model_->worlds);
    add_believers(model_->rows(agent), inner, out);
}

// Finds the worlds from which one or more steps lead outside `inner`; the belief holds at all others.
template <class P>
void Truths<P>::evaluate_common_belief(FormulaId id, const typename P::Set& inner, typename P::Set& out) {
    typename P::Set bad, found;
    P::fill(bad, model_->worlds);
    bad.subtract(inner);
    P::clear(found, model_->worlds);
    std::vector<RowClass<P>> open;
    for (auto agent : formulas_->agents(id))
        for (const auto& row : model_->rows(agent)) open.push_back(row);
    for (bool changed = true; changed;) {
        changed = false;
        std::erase_if(open, [&](const auto& row) {
            if (!intersects(row.successors, bad)) return false;
            unite(found, row.members);
            return changed = true;
        });
        bad |= found;
    }
    P::fill(out, model_->worlds);
    out.subtract(found);
}

template class Truths<Dense>;
template class Truths<Sparse>;

}  // namespace epi
