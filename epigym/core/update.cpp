#include "update.hpp"

#include <algorithm>
#include <bit>

namespace epi {

namespace {

template <class Visit>
void each_event(EventMask events, Visit&& visit) {
    for (; events != 0; events &= events - 1) visit(static_cast<std::size_t>(std::countr_zero(events)));
}

}  // namespace

template <class P>
void Updater<P>::load(const std::uint8_t* packed) {
    state_.load(packed, fluents_, agents_);
    seen_.clear();
    seen_types_.clear();
}

template <class P>
bool Updater<P>::applicable(ActionId id) {
    const Action& action = table_->actions[id];
    if (!state_.truths.holds(action.applicability)) return false;
    const EventModel& model = table_->event_models[action.event_model];
    Set left = state_.model.designated;
    each_event(model.designated, [&](std::size_t e) {
        left.subtract(state_.truths.worlds(table_->events[model.events[e]].precondition));
    });
    return !left.any();
}

template <class P>
void Updater<P>::choose_types(ActionId id) {
    const Action& action = table_->actions[id];
    type_.resize(agents_);
    for (std::uint32_t i = 0; i < agents_; ++i) {
        constexpr auto none = ~std::uint32_t{0};
        std::uint32_t chosen = none;
        Set left = state_.model.designated;
        for (const auto& [condition, relation] : table_->observability[action.observability[i]]) {
            const Set& holds = state_.truths.worlds(condition);
            if (!intersects(left, holds)) continue;
            if (chosen != none && chosen != relation) throw Disagreement(id, i);
            chosen = relation;
            left.subtract(holds);
            if (!left.any()) break;
        }
        type_[i] = chosen;
    }
}

// The first action applied to this e-state that makes the same update: actions often differ in name or
// applicability only.
template <class P>
ActionId Updater<P>::first_like(ActionId id) {
    const std::uint32_t model = table_->actions[id].event_model;
    std::uint64_t hash = model;
    for (auto type : type_) hash = (hash ^ type) * 0x9e3779b97f4a7c15u;
    for (std::size_t k = 0; k < seen_.size(); ++k) {
        if (seen_[k].hash != hash || table_->actions[seen_[k].action].event_model != model) continue;
        if (!std::equal(type_.begin(), type_.end(), seen_types_.begin() + static_cast<std::ptrdiff_t>(k * agents_)))
            continue;
        return seen_[k].action;
    }
    seen_.push_back({id, hash});
    seen_types_.insert(seen_types_.end(), type_.begin(), type_.end());
    return id;
}

// Agents with one relation and one type have one relation in the product.
template <class P>
void Updater<P>::pair_relations() {
    pairs_.clear();
    pair_of_.resize(agents_);
    for (std::uint32_t i = 0; i < agents_; ++i) {
        const Pair pair{state_.model.relation_of[i], type_[i]};
        const auto found = std::find(pairs_.begin(), pairs_.end(), pair);
        pair_of_[i] = static_cast<std::uint32_t>(found - pairs_.begin());
        if (found == pairs_.end()) pairs_.push_back(pair);
    }
}

// Finds the reachable (world, event) pairs, starting from the designated ones.
template <class P>
void Updater<P>::reach() {
    const Model<P>& model = state_.model;
    const auto count = event_model_->events.size();
    enabled_.resize(count);
    reached_.resize(count);
    for (std::size_t e = 0; e < count; ++e) {
        enabled_[e] = &state_.truths.worlds(table_->events[event_model_->events[e]].precondition);
        P::clear(reached_[e], model.worlds);
        if (event_model_->designated >> e & 1) {
            reached_[e] = model.designated;
            reached_[e] &= *enabled_[e];
        }
    }
    std::size_t flags = 0;
    for (const auto& [relation, type] : pairs_) flags += model.relation(relation).size() * table_->relations[type].size();
    used_.assign(flags, 0);
    for (bool changed = true; changed;) {
        changed = false;
        auto used = used_.begin();
        for (const auto& [relation, type] : pairs_) {
            for (const auto& row : model.relation(relation)) {
                for (const auto& group : table_->relations[type]) {
                    const auto flag = used++;
                    if (*flag) continue;
                    bool starts = false;
                    each_event(group.sources, [&](std::size_t e) { starts = starts || intersects(row.members, reached_[e]); });
                    if (!starts) continue;
                    *flag = changed = true;
                    each_event(group.targets, [&](std::size_t f) { unite(reached_[f], row.successors, *enabled_[f]); });
                }
            }
        }
    }
    active_ = 0;
    product_worlds_ = 0;
    for (std::size_t e = 0; e < count; ++e) {
        if (!reached_[e].any()) continue;
        active_ |= EventMask{1} << e;
        product_worlds_ += reached_[e].count();
    }
}

template <class P>
template <class Q>
void Updater<P>::build_valuation(const Placement<P, Q>& placement, Model<Q>& product) {
    product.valuation.resize(fluents_);
    for (auto& truth : product.valuation) Q::clear(truth, product_worlds_);
    each_event(active_, [&](std::size_t e) {
        const auto& effects = table_->events[event_model_->events[e]].effects;
        auto effect = effects.begin();
        for (std::uint32_t f = 0; f < fluents_; ++f) {
            const Set& before = state_.model.valuation[f];
            if (effect == effects.end() || effect->fluent != f) {
                if (before.any()) placement.add(product.valuation[f], before, e);
                continue;
            }
            Set truth = before, added;
            P::clear(added, state_.model.worlds);
            for (; effect != effects.end() && effect->fluent == f; ++effect) {
                const Set& where = state_.truths.worlds(effect->condition);
                if (effect->value) added |= where;
                else truth.subtract(where);
            }
            truth |= added;
            placement.add(product.valuation[f], truth, e);
        }
    });
}

template <class P>
template <class Q>
void Updater<P>::build(Placement<P, Q>& placement, Model<Q>& product) {
    placement.reset(reached_, state_.model.worlds);
    product.worlds = product_worlds_;
    Q::clear(product.designated, product_worlds_);
    each_event(event_model_->designated & active_,
               [&](std::size_t e) { placement.add(product.designated, state_.model.designated, e); });
    build_valuation(placement, product);

    product.relation_of = pair_of_;
    product.classes.clear();
    product.class_first.assign(1, 0);
    auto used = used_.begin();
    for (const auto& [relation, type] : pairs_) {
        for (const auto& row : state_.model.relation(relation)) {
            for (const auto& group : table_->relations[type]) {
                if (!*used++) continue;
                auto& target = product.classes.emplace_back();
                each_event(group.sources & active_, [&](std::size_t e) { placement.add(target.members, row.members, e); });
                each_event(group.targets & active_, [&](std::size_t f) { placement.add(target.successors, row.successors, f); });
            }
        }
        product.close_relation();
    }
}

template <class P>
ActionId Updater<P>::apply(ActionId id, Bytes& out) {
    choose_types(id);
    if (const ActionId same_as = first_like(id); same_as != id) return same_as;
    event_model_ = &table_->event_models[table_->actions[id].event_model];
    pair_relations();
    reach();
    with_policy(product_worlds_, [&]<class Q>() {
        auto& scratch = std::get<Scratch<Q>>(scratch_);
        build(scratch.placement, scratch.product);
        scratch.contraction.pack(scratch.product, out);
    });
    return id;
}

template class Updater<Dense<1>>;
template class Updater<Dense<2>>;
template class Updater<Dense<4>>;
template class Updater<Dense<8>>;
template class Updater<Sparse>;

}  // namespace epi
