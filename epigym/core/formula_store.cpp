#include "formula_store.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace epi {

FormulaStore::FormulaStore(const Formulas& formulas) : numbers_(0, Hash{&formulas_}, Equal{&formulas_}) {
    for (FormulaId id = 0; id < formulas.size(); ++id) {
        const auto agents = formulas.agents(id);
        const auto children = formulas.children(id);
        Formula formula{formulas.op[id], formulas.fluent[id], {agents.begin(), agents.end()},
                        {children.begin(), children.end()}};
        if (intern(std::move(formula)) != id) throw std::invalid_argument("two formulas are equal");
    }
    constants_ = {intern({Op::False, 0, {}, {}}), intern({Op::True, 0, {}, {}})};
}

std::size_t FormulaStore::Hash::operator()(FormulaId id) const {
    const Formula& formula = (*formulas)[id];
    std::uint64_t hash = static_cast<std::uint64_t>(formula.op) << 32 | formula.fluent;
    const auto mix = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    };
    for (auto agent : formula.agents) mix(agent + 1);
    mix(0);
    for (auto child : formula.children) mix(child + 1);
    return hash;
}

FormulaId FormulaStore::intern(Formula formula) {
    const auto next = static_cast<FormulaId>(formulas_.size());
    formulas_.push_back(std::move(formula));
    const auto [found, is_new] = numbers_.insert(next);
    if (!is_new) {
        formulas_.pop_back();
        return *found;
    }
    const Formula& added = formulas_.back();
    Derived derived;
    for (FormulaId child : added.children) {
        derived.depth = std::max(derived.depth, derived_[child].depth);
        derived.has_actually |= derived_[child].has_actually;
    }
    derived.depth += added.op == Op::Believes || added.op == Op::Everybody || added.op == Op::Common;
    derived.has_actually |= added.op == Op::Actually;
    derived_.push_back(derived);
    marks_.push_back(0);
    return next;
}

FormulaId FormulaStore::strip_negation(FormulaId id) const {
    return formulas_[id].op == Op::Not ? formulas_[id].children.front() : id;
}

std::vector<FormulaId> FormulaStore::conjuncts(FormulaId id) const {
    return formulas_[id].op == Op::And ? formulas_[id].children : std::vector{id};
}

FormulaId FormulaStore::literal(std::uint32_t fluent, bool value) {
    const FormulaId positive = intern({Op::Fluent, fluent, {}, {}});
    return value ? positive : negation(positive);
}

FormulaId FormulaStore::negation(FormulaId id) {
    switch (formulas_[id].op) {
        case Op::Not: return formulas_[id].children.front();
        case Op::True: return constant(false);
        case Op::False: return constant(true);
        default: return intern({Op::Not, 0, {}, {id}});
    }
}

std::vector<FormulaId> FormulaStore::negations(const std::vector<FormulaId>& ids) {
    std::vector<FormulaId> found;
    for (FormulaId id : ids) found.push_back(negation(id));
    return found;
}

FormulaId FormulaStore::junction(Op op, const std::vector<FormulaId>& parts) {
    const FormulaId neutral = constant(op == Op::And), absorbing = constant(op != Op::And);
    std::vector<FormulaId> kept;
    ++junctions_;
    const auto keep = [&](FormulaId part) {
        if (part == neutral || marks_[part] == junctions_) return;
        marks_[part] = junctions_;
        kept.push_back(part);
    };
    for (FormulaId part : parts) {
        if (formulas_[part].op == op) std::ranges::for_each(formulas_[part].children, keep);
        else keep(part);
    }
    if (marks_[absorbing] == junctions_) return absorbing;
    if (kept.empty()) return neutral;
    return kept.size() == 1 ? kept.front() : intern({op, 0, {}, std::move(kept)});
}

FormulaId FormulaStore::believes(std::uint32_t agent, FormulaId id) {
    return id == constant(true) ? id : intern({Op::Believes, 0, {agent}, {id}});
}

// The modality with another child.
FormulaId FormulaStore::replace_child(FormulaId modality, FormulaId child) {
    const Op op = formulas_[modality].op;
    const bool is_folded = child == constant(true) ||
                           (op == Op::Actually && (child == constant(false) || formulas_[child].op == Op::Actually));
    return is_folded ? child : intern({op, 0, formulas_[modality].agents, {child}});
}

FormulaId FormulaStore::apply_belief(FormulaId modality, FormulaId id) {
    if (formulas_[strip_negation(id)].op == Op::Actually) return id;
    if (formulas_[modality].op != Op::Everybody) return replace_child(modality, id);
    std::vector<FormulaId> parts;
    for (auto agent : formulas_[modality].agents) parts.push_back(believes(agent, id));
    return conjunction(parts);
}

FormulaId FormulaStore::normal_form(FormulaId id, bool negated) {
    const FormulaId kept = image(Form::Distributed, id, negated);
    return derived_[kept].has_actually ? image(Form::Distributed, drop_actually(kept), false) : kept;
}

// The form of a formula or of its negation; computed once.
FormulaId FormulaStore::image(Form form, FormulaId id, bool negated) {
    const auto known = derived_[id].images[static_cast<std::size_t>(form)][negated];
    if (known != kUnknown) return known;
    const FormulaId found = build_image(form, id, negated);
    derived_[id].images[static_cast<std::size_t>(form)][negated] = found;
    return found;
}

FormulaId FormulaStore::build_image(Form form, FormulaId id, bool negated) {
    const auto& [op, fluent, agents, children] = formulas_[id];
    if (op == Op::Not) return image(form, children.front(), !negated);
    if (op == Op::And || op == Op::Or) {
        std::vector<FormulaId> parts;
        for (FormulaId child : children) parts.push_back(image(form, child, negated));
        return junction((op == Op::And) != negated ? Op::And : Op::Or, parts);
    }
    FormulaId positive = id;
    if (!children.empty()) {
        const FormulaId inner = image(form, children.front(), false);
        positive = form == Form::Distributed && op != Op::Actually ? distribute(id, inner) : replace_child(id, inner);
    }
    if (!negated) return positive;
    return formulas_[positive].op == Op::And ? disjunction(negations(formulas_[positive].children)) : negation(positive);
}

// The belief `modality` in each conjunct of a formula.
FormulaId FormulaStore::distribute(FormulaId modality, FormulaId id) {
    std::vector<FormulaId> parts;
    for (FormulaId part : conjuncts(id)) parts.push_back(apply_belief(modality, part));
    return conjunction(parts);
}

FormulaId FormulaStore::drop_actually(FormulaId id) {
    if (!derived_[id].has_actually) return id;
    if (derived_[id].without_actually != kUnknown) return derived_[id].without_actually;
    const Formula& formula = formulas_[id];
    FormulaId found;
    if (formula.op == Op::Actually) {
        found = drop_actually(formula.children.front());
    } else {
        Formula image{formula.op, formula.fluent, formula.agents, {}};
        for (FormulaId child : formula.children) image.children.push_back(drop_actually(child));
        found = intern(std::move(image));
    }
    return derived_[id].without_actually = found;
}

Formulas FormulaStore::pack(std::vector<FormulaId>& roots) const {
    Formulas out;
    out.child_first.push_back(0);
    out.agent_first.push_back(0);
    std::vector<FormulaId> number(formulas_.size(), kUnknown);
    const auto add = [&](const auto& self, FormulaId id) -> FormulaId {
        if (number[id] != kUnknown) return number[id];
        const auto& [op, fluent, agents, children] = formulas_[id];
        for (FormulaId child : children) self(self, child);
        for (FormulaId child : children) out.child.push_back(number[child]);
        out.agent.insert(out.agent.end(), agents.begin(), agents.end());
        out.child_first.push_back(static_cast<std::uint32_t>(out.child.size()));
        out.agent_first.push_back(static_cast<std::uint32_t>(out.agent.size()));
        out.op.push_back(op);
        out.fluent.push_back(fluent);
        return number[id] = static_cast<FormulaId>(out.size() - 1);
    };
    for (FormulaId& root : roots) root = add(add, root);
    return out;
}

}  // namespace epi
