#include "update.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "applicability.hpp"
#include "none.hpp"

namespace epi {

template <class P>
void Updater<P>::load(const std::uint8_t* packed) {
    state_.load(packed, fluents_, agents_);
    updates_.clear();
    update_types_.clear();
    packed_ = packed;
    wide_is_loaded_ = false;
}

template <class P>
bool Updater<P>::is_applicable(ActionId id) {
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
void Updater<P>::find_applicable(const ActionIndex& index, std::vector<ActionId>& out) {
    const Set& designated = state_.model.designated;
    const auto holds = [&](std::uint32_t fluent, bool value) {
        const Set& truth = state_.model.valuation[fluent];
        return value ? is_subset(designated, truth) : !intersects(designated, truth);
    };
    index.find_candidates(holds, out);
    std::erase_if(out, [&](ActionId id) { return !is_applicable(id); });
    std::sort(out.begin(), out.end());
}

// Selects an action with the designated events `designated` at the designated worlds `starts`, which must outlive it.
template <class P>
void Updater<P>::choose(ActionId id, const Set& starts, EventMask designated) {
    event_model_ = &model_of(id);
    occurrence_.starts = &starts;
    occurrence_.designated = designated;
    choose_types(id);
}

template <class P>
void Updater<P>::choose_types(ActionId id) {
    const Action& action = table_->actions[id];
    type_.resize(agents_);
    for (std::uint32_t i = 0; i < agents_; ++i) {
        const auto& choices = table_->observability[action.observability[i]];
        if (choices.size() == 1) {  // its condition is true
            type_[i] = choices.front().relation;
            continue;
        }
        std::uint32_t chosen = kNone;
        Set left = *occurrence_.starts;
        for (const auto& [condition, relation] : choices) {
            const Set& holds = state_.truths.worlds(condition);
            if (!intersects(left, holds)) continue;
            if (chosen != kNone && chosen != relation) throw Disagreement(id, i);
            chosen = relation;
            left.subtract(holds);
            if (!left.any()) break;
        }
        type_[i] = chosen;
    }
}

// Divides designated worlds into parts that agree on all agents' types, in the order of the conditions.
template <class P>
std::vector<typename P::Set> Updater<P>::divide(ActionId id, const Set& worlds) {
    std::vector<Set> parts{worlds}, finer;
    for (auto observability : table_->actions[id].observability) {
        const auto& choices = table_->observability[observability];
        if (choices.size() == 1) continue;
        finer.clear();
        for (Set& left : parts) {
            Set none;
            P::clear(none, state_.model.worlds);
            std::vector<Set> of_choice(choices.size(), none);  // in the first place of each type
            for (const auto& [condition, relation] : choices) {
                Set here = left;
                here &= state_.truths.worlds(condition);
                left.subtract(here);
                const auto first = std::ranges::find(choices, relation, &Observability::relation) - choices.begin();
                of_choice[static_cast<std::size_t>(first)] |= here;
            }
            std::ranges::copy_if(of_choice, std::back_inserter(finer), &Set::any);
        }
        parts.swap(finer);
    }
    return parts;
}

// The first action with the same update of this e-state: actions often differ in name or applicability only.
template <class P>
ActionId Updater<P>::find_same_update(ActionId id) {
    const std::uint32_t model = table_->actions[id].event_model;
    std::uint64_t hash = model;
    for (auto type : type_) hash = (hash ^ type) * 0x9e3779b97f4a7c15u;
    for (std::size_t k = 0; k < updates_.size(); ++k) {
        if (updates_[k].hash != hash || table_->actions[updates_[k].action].event_model != model) continue;
        if (!std::equal(type_.begin(), type_.end(), update_types_.begin() + static_cast<std::ptrdiff_t>(k * agents_)))
            continue;
        return updates_[k].action;
    }
    updates_.push_back({id, hash});
    update_types_.insert(update_types_.end(), type_.begin(), type_.end());
    return id;
}

template <class P>
void Updater<P>::prepare_occurrence() {
    occurrence_.model = &state_.model;
    occurrence_.enabled.clear();
    for (std::size_t e = 0; e < event_model_->events.size(); ++e) occurrence_.enabled.push_back(&enabled_worlds(e));
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

// The worlds of the e-state where the fluent of `effect` is true after the event; advances past the fluent's effects.
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
        before &= product_.reached_worlds(e);
        after &= product_.reached_worlds(e);
        if (before != after) return true;
    }
    return false;
}

template <class P>
void Updater<P>::build_valuation() {
    if (std::has_single_bit(product_.active()) && product_.worlds() == state_.model.worlds) {
        // The worlds stay the same.
        successor_.valuation = state_.model.valuation;
        const auto e = static_cast<std::size_t>(std::countr_zero(product_.active()));
        const Event& event = table_->events[event_model_->events[e]];
        for (auto effect = event.effects.begin(); effect != event.effects.end();) {
            Set& truth = successor_.valuation[effect->fluent];
            truth = truth_after(event, effect);
        }
        return;
    }
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
std::optional<std::uint32_t> Updater<P>::find_inconsistent_agent(ActionId id) {
    choose(id);
    return find_inconsistent_agent();
}

template <class P>
std::optional<std::uint32_t> Updater<P>::find_inconsistent_agent() {
    for (std::uint32_t i = 0; i < agents_; ++i) {
        for (const auto& [sources, targets] : table_->relations[type_[i]]) {
            Set starts;  // designated worlds with one of the sources
            P::clear(starts, state_.model.worlds);
            each_event(sources & occurrence_.designated, [&](std::size_t e) { starts |= enabled_worlds(e); });
            starts &= *occurrence_.starts;
            for (const auto& row : state_.model.rows(i)) {
                if (!intersects(row.members, starts)) continue;
                bool possible = false;
                each_event(targets, [&](std::size_t f) {
                    possible = possible || intersects(row.successors, enabled_worlds(f));
                });
                if (!possible) return i;
            }
        }
    }
    return std::nullopt;
}

template <class P>
ActionId Updater<P>::apply(ActionId id, Bytes& out) {
    choose(id);
    if (const ActionId same_as = find_same_update(id); same_as != id) return same_as;
    return update(id, out) ? id : kUnchanged;
}

template <class P>
bool Updater<P>::outcomes(ActionId id, bool consistent_beliefs, Bytes& bytes, std::vector<Outcome>& out) {
    const EventModel& model = model_of(id);
    for (std::uint32_t e = 0; e < model.events.size(); ++e) {
        if ((model.designated >> e & 1) == 0) continue;
        Set worlds = state_.model.designated;
        worlds &= state_.truths.worlds(table_->events[model.events[e]].precondition);
        if (!worlds.any()) continue;
        std::uint32_t assignment = 0;
        for (const Set& part : divide(id, worlds)) {
            choose(id, part, EventMask{1} << e);
            if (consistent_beliefs && find_inconsistent_agent()) return false;
            const std::size_t begin = bytes.size();
            update(id, bytes);
            out.push_back({e, assignment++, begin, bytes.size()});
        }
    }
    return true;
}

// Appends the packed successor by the selected action. Appends nothing and returns false if that is the e-state itself.
template <class P>
bool Updater<P>::update(ActionId id, Bytes& out) {
    prepare_occurrence();
    product_.reach(occurrence_);
    // If no successor is lost and all designated worlds start, w and (w, e) are bisimilar unless a fact changes.
    bool changes = !product_.keeps_all() || !(*occurrence_.starts == state_.model.designated);
    each_event(product_.active(), [&](std::size_t e) { changes = changes || changes_facts(e); });
    if (!changes) return false;
    if constexpr (P::dense) {
        if (product_.worlds() > P::capacity) {
            if (!wide_) wide_ = std::make_unique<Updater<Sparse>>(state_.truths.formulas(), *table_, fluents_, agents_);
            if (!wide_is_loaded_) wide_->load(packed_);
            wide_is_loaded_ = true;
            wide_starts_.words.assign(1, occurrence_.starts->word);
            wide_->choose(id, wide_starts_, occurrence_.designated);
            return wide_->update(id, out);
        }
    }
    product_.build(occurrence_, successor_);
    build_valuation();
    contraction_.pack(successor_, out);
    return true;
}

template class Updater<Dense>;
template class Updater<Sparse>;

}  // namespace epi
