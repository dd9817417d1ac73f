#include "update.hpp"

#include <algorithm>
#include <bit>

#include "applicability.hpp"

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
void Updater<P>::applicable_actions(const ActionIndex& index, std::vector<ActionId>& out) {
    const Set& designated = state_.model.designated;
    const auto holds = [&](std::uint32_t fluent, bool value) {
        const Set& truth = state_.model.valuation[fluent];
        return value ? subset(designated, truth) : !intersects(designated, truth);
    };
    index.candidates(holds, out);
    std::erase_if(out, [&](ActionId id) { return !applicable(id); });
    std::sort(out.begin(), out.end());
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

template <class P>
void Updater<P>::start() {
    const auto count = event_model_->events.size();
    enabled_.resize(count);
    reached_.resize(count);
    for (std::size_t e = 0; e < count; ++e) {
        enabled_[e] = &state_.truths.worlds(table_->events[event_model_->events[e]].precondition);
        P::clear(reached_[e], state_.model.worlds);
        if (event_model_->designated >> e & 1) {
            reached_[e] = state_.model.designated;
            reached_[e] &= *enabled_[e];
        }
    }
    std::size_t flags = 0;
    for (const auto& [relation, type] : pairs_)
        flags += state_.model.relation(relation).size() * table_->relations[type].size();
    used_.assign(flags, 0);
}

// Finds the reachable (world, event) pairs, starting from the designated ones. The product is bisimilar to
// the e-state when every successor survives in some event and no reachable event changes a fact: then
// w and (w, e) match.
template <class P>
void Updater<P>::reach() {
    start();
    unchanged_ = true;
    EventMask grown = event_model_->designated;  // events that may have got new worlds since the last pass
    while (grown != 0) {
        EventMask growing = 0;
        auto used = used_.begin();
        for (const auto& [relation, type] : pairs_) {
            const auto rows = state_.model.relation(relation);
            for (const auto& group : table_->relations[type]) {
                const auto flags = used;
                used += static_cast<std::ptrdiff_t>(rows.size());
                if (!(group.sources & (grown | growing))) continue;
                Set sources;
                P::clear(sources, state_.model.worlds);
                each_event(group.sources, [&](std::size_t e) { sources |= reached_[e]; });
                for (std::size_t r = 0; r < rows.size(); ++r) {
                    auto& flag = flags[static_cast<std::ptrdiff_t>(r)];
                    if (flag || !intersects(rows[r].members, sources)) continue;
                    flag = true;
                    growing |= group.targets;
                    each_event(group.targets, [&](std::size_t f) { unite(reached_[f], rows[r].successors, *enabled_[f]); });
                    unchanged_ = unchanged_ && survive(rows[r].successors, group.targets);
                }
            }
        }
        grown = growing;
    }
    active_ = 0;
    product_worlds_ = 0;
    for (std::size_t e = 0; e < reached_.size(); ++e) {
        if (!reached_[e].any()) continue;
        active_ |= EventMask{1} << e;
        product_worlds_ += reached_[e].count();
        unchanged_ = unchanged_ && !changes_facts(e);
    }
}

template <class P>
bool Updater<P>::survive(const typename P::Row& successors, EventMask targets) const {
    if constexpr (P::dense) {
        auto left = successors;
        each_event(targets, [&](std::size_t f) { left.subtract(*enabled_[f]); });
        return !left.any();
    } else {
        return std::all_of(successors.begin(), successors.end(), [&](World w) {
            bool found = false;
            each_event(targets, [&](std::size_t f) { found = found || enabled_[f]->test(w); });
            return found;
        });
    }
}

// The worlds of the old model where the fluent of `effect` is true after the event; moves past its effects.
template <class P>
typename P::Set Updater<P>::truth_after(const Event& event, std::vector<Effect>::const_iterator& effect) {
    const auto fluent = effect->fluent;
    Set truth = state_.model.valuation[fluent], added;
    P::clear(added, state_.model.worlds);
    for (; effect != event.effects.end() && effect->fluent == fluent; ++effect) {
        const Set& where = state_.truths.worlds(effect->condition);
        if (effect->value) added |= where;
        else truth.subtract(where);
    }
    truth |= added;
    return truth;
}

template <class P>
bool Updater<P>::changes_facts(std::size_t e) {
    const Event& event = table_->events[event_model_->events[e]];
    for (auto effect = event.effects.begin(); effect != event.effects.end();) {
        Set before = state_.model.valuation[effect->fluent], after = truth_after(event, effect);
        before &= reached_[e];
        after &= reached_[e];
        if (before != after) return true;
    }
    return false;
}

template <class P>
template <class Q>
void Updater<P>::build_valuation(const Placement<P, Q>& placement, Model<Q>& product) {
    product.valuation.resize(fluents_);
    for (auto& truth : product.valuation) Q::clear(truth, product_worlds_);
    each_event(active_, [&](std::size_t e) {
        const Event& event = table_->events[event_model_->events[e]];
        auto effect = event.effects.begin();
        for (std::uint32_t f = 0; f < fluents_; ++f) {
            if (effect != event.effects.end() && effect->fluent == f)
                placement.add(product.valuation[f], truth_after(event, effect), e);
            else if (state_.model.valuation[f].any())
                placement.add(product.valuation[f], state_.model.valuation[f], e);
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
    product.clear_relations();
    auto used = used_.begin();
    for (const auto& [relation, type] : pairs_) {
        for (const auto& group : table_->relations[type]) {
            for (const auto& row : state_.model.relation(relation)) {
                if (!*used++) continue;
                auto& target = product.add_class();
                each_event(group.sources & active_, [&](std::size_t e) { placement.add(target.members, row.members, e); });
                each_event(group.targets & active_, [&](std::size_t f) { placement.add(target.successors, row.successors, f); });
            }
        }
        product.close_relation();
    }
}

template <class P>
std::optional<std::uint32_t> Updater<P>::collapsing(ActionId id) {
    choose_types(id);
    const EventModel& model = table_->event_models[table_->actions[id].event_model];
    const auto enabled = [&](std::size_t e) -> const Set& {
        return state_.truths.worlds(table_->events[model.events[e]].precondition);
    };
    for (std::uint32_t i = 0; i < agents_; ++i) {
        for (const auto& [sources, targets] : table_->relations[type_[i]]) {
            Set starts;  // worlds that are designated with one of the sources
            P::clear(starts, state_.model.worlds);
            each_event(sources & model.designated, [&](std::size_t e) { starts |= enabled(e); });
            starts &= state_.model.designated;
            for (const auto& row : state_.model.rows(i)) {
                if (!intersects(row.members, starts)) continue;
                bool possible = false;
                each_event(targets, [&](std::size_t f) { possible = possible || intersects(row.successors, enabled(f)); });
                if (!possible) return i;
            }
        }
    }
    return std::nullopt;
}

template <class P>
ActionId Updater<P>::apply(ActionId id, Bytes& out) {
    choose_types(id);
    if (const ActionId same_as = first_like(id); same_as != id) return same_as;
    event_model_ = &table_->event_models[table_->actions[id].event_model];
    pair_relations();
    reach();
    if (unchanged_) return kUnchanged;
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
