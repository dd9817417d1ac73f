#include "update.hpp"

#include <algorithm>
#include <bit>

#include "applicability.hpp"

namespace epi {

template <class P>
void Updater<P>::load(const std::uint8_t* packed) {
    state_.load(packed, fluents_, agents_);
    seen_.clear();
    seen_types_.clear();
    packed_ = packed;
    wide_is_loaded_ = false;
}

template <class P>
bool Updater<P>::applicable(ActionId id) {
    const Action& action = table_->actions[id];
    if (!state_.truths.holds(action.applicability)) return false;
    const EventModel& model = table_->event_models[action.event_model];
    if (std::has_single_bit(model.designated)) {
        const auto event = model.events[static_cast<std::size_t>(std::countr_zero(model.designated))];
        return state_.truths.holds(table_->events[event].precondition);
    }
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
        const auto& choices = table_->observability[action.observability[i]];
        if (choices.size() == 1) {  // whose condition is true
            type_[i] = choices.front().relation;
            continue;
        }
        std::uint32_t chosen = none;
        Set left = state_.model.designated;
        for (const auto& [condition, relation] : choices) {
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

template <class P>
void Updater<P>::occur() {
    occurrence_.model = &state_.model;
    occurrence_.designated = event_model_->designated;
    occurrence_.enabled.clear();
    for (auto event : event_model_->events) occurrence_.enabled.push_back(&state_.truths.worlds(table_->events[event].precondition));
    auto& pairs = occurrence_.pairs;
    pairs.clear();
    occurrence_.pair_of.resize(agents_);
    for (std::uint32_t i = 0; i < agents_; ++i) {
        const typename Occurrence<P>::Pair pair{state_.model.relation_of[i], &table_->relations[type_[i]]};
        const auto found = std::find(pairs.begin(), pairs.end(), pair);
        occurrence_.pair_of[i] = static_cast<std::uint32_t>(found - pairs.begin());
        if (found == pairs.end()) pairs.push_back(pair);
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
        before &= product_.reached(e);
        after &= product_.reached(e);
        if (before != after) return true;
    }
    return false;
}

template <class P>
void Updater<P>::build_valuation() {
    successor_.valuation.resize(fluents_);
    for (auto& truth : successor_.valuation) product_.begin(truth);
    each_event(product_.active(), [&](std::size_t e) {
        const Event& event = table_->events[event_model_->events[e]];
        auto effect = event.effects.begin();
        for (std::uint32_t f = 0; f < fluents_; ++f) {
            if (effect != event.effects.end() && effect->fluent == f)
                product_.add(successor_.valuation[f], truth_after(event, effect), e);
            else if (state_.model.valuation[f].any())
                product_.add(successor_.valuation[f], state_.model.valuation[f], e);
        }
    });
    for (auto& truth : successor_.valuation) product_.finish(truth);
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
    occur();
    product_.reach(occurrence_);
    bool changes = !product_.keeps_all();  // otherwise w and (w, e) match unless a fact changes
    each_event(product_.active(), [&](std::size_t e) { changes = changes || changes_facts(e); });
    if (!changes) return kUnchanged;
    if constexpr (P::dense) {
        if (product_.worlds() > P::capacity) {
            if (!wide_) wide_ = std::make_unique<Updater<Sparse>>(state_.truths.formulas(), *table_, fluents_, agents_);
            if (!wide_is_loaded_) wide_->load(packed_);
            wide_is_loaded_ = true;
            return wide_->apply(id, out);
        }
    }
    product_.build(occurrence_, successor_);
    build_valuation();
    contraction_.pack(successor_, out);
    return id;
}

template class Updater<Dense>;
template class Updater<Sparse>;

}  // namespace epi
