#include "additions.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

namespace epi {

namespace {

// Of one event and formula; the first are kept. Nested beliefs about several possible events have exponentially many.
constexpr std::size_t kMostAlternatives = 256;

EventMask targets(const EventRelation& relation, EventMask sources) {
    EventMask found = 0;
    for (const EventGroup& group : relation)
        if (group.sources & sources) found |= group.targets;
    return found;
}

std::optional<std::uint32_t> find_type(const AgentTypes& types, std::uint32_t agent) {
    const auto found = std::ranges::find(types, agent, &AgentType::agent);
    return found == types.end() ? std::nullopt : std::optional(found->relation);
}

AgentTypes add_type(AgentTypes types, AgentType type) {
    types.push_back(type);
    return types;
}

}  // namespace

Additions::Additions(const ActionTable& table, FormulaStore& store, std::unordered_set<FormulaId> doubts)
    : table_(&table), store_(&store), doubts_(std::move(doubts)) {
    for (const Event& event : table.events) guarantees_.push_back(guarantees_of(event));
    for (const auto& conditions : table.observability) types_.push_back(types_of(conditions));
}

std::vector<FormulaId> Additions::list_guaranteed(ActionId action) const {
    std::vector<FormulaId> found;
    for (auto event : table_->event_models[table_->actions[action].event_model].events)
        for (const Guarantee& guarantee : guarantees_[event]) found.push_back(guarantee.formula);
    return found;
}

FormulaId Additions::type_condition(ActionId action, const AgentType& type) const {
    const auto& types = types_[table_->actions[action].observability[type.agent]];
    return std::ranges::find(types, type.relation, &Type::relation)->condition;
}

Additions::Guarantees Additions::guarantees_of(const Event& event) const {
    Guarantees found;
    guarantee_effects(event, found);
    // Op::Actually stays here: it marks conditions that do not depend on the observer.
    for (FormulaId part : store_->conjuncts(store_->negation_normal_form(event.precondition)))
        guarantee_part(event, part, found);
    std::ranges::stable_sort(found, {}, &Guarantee::formula);
    return found;
}

void Additions::guarantee_effects(const Event& event, Guarantees& out) const {
    for (const Effect& effect : event.effects) {
        std::vector<FormulaId> conditions{effect.condition};
        for (const Effect& other : event.effects)  // an addition undoes a deletion
            if (!effect.value && other.fluent == effect.fluent && other.value)
                conditions.push_back(store_->negation(other.condition));
        guarantee({store_->literal(effect.fluent, effect.value), store_->conjunction(conditions)}, out);
    }
}

// Adds the guarantees that follow from a conjunct of the precondition.
void Additions::guarantee_part(const Event& event, FormulaId part, Guarantees& out) const {
    const FormulaStore& store = *store_;
    if (store[part].op == Op::Or) {
        for (FormulaId alternative : store[part].children) {
            std::vector<FormulaId> others = store[part].children;
            std::erase(others, alternative);
            const FormulaId condition = store_->conjunction(store_->negations(others));
            for (FormulaId piece : store.conjuncts(alternative))
                if (store[store.strip_negation(piece)].op == Op::Fluent && !is_overwritten(event, piece))
                    guarantee({piece, condition}, out);
        }
    } else if (store[store.strip_negation(part)].op != Op::Actually) {
        for (FormulaId piece : store.conjuncts(store_->normal_form(part)))
            if (piece != store.constant(true) && piece != store.constant(false) && !is_overwritten(event, piece))
                guarantee({piece, store.constant(true)}, out);
    }
}

// Adds a guarantee. A belief in the precondition held before the event, so that observers also learn its content.
void Additions::guarantee(const Guarantee& added, Guarantees& out) const {
    if (std::ranges::find(out, added) == out.end()) out.push_back(added);
    const Formula& formula = (*store_)[added.formula];
    if (formula.op == Op::Believes)
        for (FormulaId part : store_->conjuncts(formula.children.front())) guarantee({part, added.condition}, out);
}

// Whether the event changes the fluent of a literal.
bool Additions::is_overwritten(const Event& event, FormulaId formula) const {
    const Formula& atom = (*store_)[store_->strip_negation(formula)];
    return atom.op == Op::Fluent && std::ranges::find(event.effects, atom.fluent, &Effect::fluent) != event.effects.end();
}

std::vector<Additions::Type> Additions::types_of(const std::vector<Observability>& conditions) const {
    std::vector<Type> types;
    for (const Observability& observability : conditions) {
        const auto known = std::ranges::find(types, observability.relation, &Type::relation);
        if (known == types.end()) types.push_back({observability.relation, observability.condition});
        else known->condition = store_->disjunction({known->condition, observability.condition});
    }
    for (Type& type : types) type.condition = store_->normal_form(type.condition);
    return types;
}

// Finds the alternatives in which events of one action add a formula.
class Additions::Search {
public:
    Search(const Additions& additions, const Action& action)
        : additions_(&additions),
          store_(additions.store_),
          action_(&action),
          model_(&additions.table_->event_models[action.event_model]) {}

    // Alternatives in which all events of a set add a formula, given the types of some agents.
    std::vector<Alternative> all(EventMask events, FormulaId formula, const AgentTypes& types) {
        std::vector<Alternative> found{{types, {}}};
        for (; events != 0 && !found.empty(); events &= events - 1)
            found = extend(found, static_cast<std::uint32_t>(std::countr_zero(events)), formula);
        return found;
    }

private:
    using Alternatives = std::vector<Alternative>;

    // Extends each alternative so that an event adds a further formula.
    Alternatives extend(const Alternatives& alternatives, std::uint32_t event, FormulaId formula) {
        Alternatives found;
        for (const Alternative& alternative : alternatives) {
            Alternatives further;
            add(event, formula, alternative.types, further);
            for (Alternative& next : further) {
                if (found.size() == kMostAlternatives) return found;
                next.conditions.insert(next.conditions.begin(), alternative.conditions.begin(),
                                       alternative.conditions.end());
                found.push_back(std::move(next));
            }
        }
        return found;
    }

    void add(std::uint32_t event, FormulaId id, const AgentTypes& types, Alternatives& out) {
        const Formula& formula = (*store_)[id];
        if (formula.op == Op::And || formula.op == Op::Or) {
            const Alternatives& found = add_junction(event, id, types);
            out.insert(out.end(), found.begin(), found.end());
            return;
        }
        add_guaranteed(event, id, types, out);
        switch (formula.op) {
            case Op::Believes: add_belief(event, id, types, out); break;
            case Op::Common: add_common_belief(event, id, types, out); break;
            case Op::Not:
                if (additions_->doubts_.contains(id)) add_doubt(event, formula.children.front(), types, out);
                break;
            default: break;
        }
    }

    // The distinct alternatives for a conjunction or disjunction; found once, as formulas may share such parts.
    const Alternatives& add_junction(std::uint32_t event, FormulaId id, const AgentTypes& types) {
        const auto key = std::tuple(event, id, types);
        if (const auto known = junctions_.find(key); known != junctions_.end()) return known->second;
        Alternatives found;
        add_guaranteed(event, id, types, found);
        const Formula& formula = (*store_)[id];
        if (formula.op == Op::And) {
            Alternatives together{{types, {}}};
            for (FormulaId part : formula.children) together = extend(together, event, part);
            std::ranges::move(together, std::back_inserter(found));
        } else {
            for (FormulaId part : formula.children) add(event, part, types, found);
        }
        std::set<Alternative> seen;
        std::erase_if(found, [&](const Alternative& one) { return !seen.insert(one).second; });
        return junctions_[key] = std::move(found);
    }

    void add_guaranteed(std::uint32_t event, FormulaId id, const AgentTypes& types, Alternatives& out) const {
        const Guarantees& guarantees = additions_->guarantees_[model_->events[event]];
        for (const auto& [formula, condition] : std::ranges::equal_range(guarantees, id, {}, &Guarantee::formula)) {
            out.push_back({types, {}});
            if (condition != store_->constant(true)) out.back().conditions.push_back({condition});
        }
    }

    void add_belief(std::uint32_t event, FormulaId belief, const AgentTypes& types, Alternatives& out) {
        const Formula& formula = (*store_)[belief];
        for_types(formula.agents.front(), types, [&](std::uint32_t relation, const auto& chosen) {
            const EventMask considered = targets_of(relation, event);
            if (considered != 0) append_below(belief, all(considered, formula.children.front(), chosen()), out);
        });
    }

    void add_common_belief(std::uint32_t event, FormulaId belief, const AgentTypes& types, Alternatives& out) {
        const Formula& formula = (*store_)[belief];
        for (const AgentTypes& chosen : list_choices(formula.agents, types)) {
            const EventMask reached = reach(event, formula.agents, chosen);
            if (reached != 0) append_below(belief, all(reached, formula.children.front(), chosen), out);
        }
    }

    // An agent doubts a formula once it considers an event possible that adds the opposite.
    void add_doubt(std::uint32_t event, FormulaId belief, const AgentTypes& types, Alternatives& out) {
        const auto agent = (*store_)[belief].agents.front();
        const FormulaId opposite = store_->normal_form((*store_)[belief].children.front(), true);
        for_types(agent, types, [&](std::uint32_t relation, const auto& chosen) {
            for (EventMask left = targets_of(relation, event); left != 0; left &= left - 1) {
                const auto possible = static_cast<std::uint32_t>(std::countr_zero(left));
                const FormulaId precondition = additions_->table_->events[model_->events[possible]].precondition;
                Alternatives found;
                add(possible, opposite, chosen(), found);
                const std::size_t first = out.size();
                append_below(belief, std::move(found), out);
                for (Alternative& alternative : std::span(out).subspan(first))
                    alternative.conditions.insert(alternative.conditions.begin(),
                                          {store_->considers_possible(agent, precondition), true});
            }
        });
    }

    // Appends alternatives that add the content of a B or C; the conditions come below the same B or C.
    void append_below(FormulaId belief, Alternatives alternatives, Alternatives& out) const {
        for (Alternative& alternative : alternatives) {
            for (Condition& condition : alternative.conditions)
                condition.formula = store_->apply_belief(belief, condition.formula);
            out.push_back(std::move(alternative));
        }
    }

    // Calls act(relation, chosen) for each possible type of an agent; chosen() returns `types` extended by it.
    template <class Act>
    void for_types(std::uint32_t agent, const AgentTypes& types, Act&& act) const {
        if (const auto known = find_type(types, agent)) {
            act(*known, [&] { return types; });
            return;
        }
        for (const Type& type : types_of(agent))
            act(type.relation, [&] { return add_type(types, {agent, type.relation}); });
    }

    // Extends `types` by all combinations of types of some agents; the type of the last agent varies fastest.
    std::vector<AgentTypes> list_choices(const std::vector<std::uint32_t>& agents, const AgentTypes& types) const {
        std::vector<AgentTypes> found{types};
        for (auto agent : agents) {
            std::vector<AgentTypes> longer;
            for (const AgentTypes& chosen : found)
                for_types(agent, chosen, [&](std::uint32_t, const auto& with_agent) { longer.push_back(with_agent()); });
            found = std::move(longer);
        }
        return found;
    }

    // The events that the agents' relations reach in one or more steps.
    EventMask reach(std::uint32_t event, const std::vector<std::uint32_t>& agents, const AgentTypes& types) const {
        EventMask reached = 0;
        for (EventMask border = EventMask{1} << event; border != 0;) {
            EventMask next = 0;
            for (auto agent : agents) next |= targets(additions_->table_->relations[*find_type(types, agent)], border);
            border = next & ~reached;
            reached |= border;
        }
        return reached;
    }

    EventMask targets_of(std::uint32_t relation, std::uint32_t event) const {
        return targets(additions_->table_->relations[relation], EventMask{1} << event);
    }
    const std::vector<Type>& types_of(std::uint32_t agent) const {
        return additions_->types_[action_->observability[agent]];
    }

    const Additions* additions_;
    FormulaStore* store_;
    const Action* action_;
    const EventModel* model_;
    std::map<std::tuple<std::uint32_t, FormulaId, AgentTypes>, Alternatives> junctions_;
};

std::vector<Alternative> Additions::find_alternatives(ActionId action, EventMask events, FormulaId formula) const {
    return Search(*this, table_->actions[action]).all(events, formula, {});
}

}  // namespace epi
