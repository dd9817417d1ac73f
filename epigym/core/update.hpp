// Ground actions and the product update.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "contraction.hpp"
#include "formula.hpp"
#include "model.hpp"
#include "product.hpp"

namespace epi {

using ActionId = std::uint32_t;

constexpr ActionId kUnchanged = ~ActionId{0};

struct Effect {
    std::uint32_t fluent;
    bool value;
    FormulaId condition;
};

struct Event {
    FormulaId precondition;
    std::vector<Effect> effects;  // by fluent
};

// The first condition that holds decides the type; the last one is true.
struct Observability {
    FormulaId condition;
    std::uint32_t relation;
};

struct EventModel {
    std::vector<std::uint32_t> events;  // into ActionTable::events
    EventMask designated;
};

struct Action {
    FormulaId applicability;
    std::uint32_t event_model;                 // into ActionTable::event_models
    std::vector<std::uint32_t> observability;  // per agent, into ActionTable::observability
};

// Actions with shared parts: most actions of a task differ in few parts.
struct ActionTable {
    std::vector<Event> events;
    std::vector<EventModel> event_models;
    std::vector<EventRelation> relations;
    std::vector<std::vector<Observability>> observability;
    std::vector<Action> actions;
};

// The designated worlds disagree about an agent's observability type.
struct Disagreement : std::runtime_error {
    Disagreement(ActionId action, std::uint32_t agent)
        : std::runtime_error("designated worlds disagree about an observability type"), action(action), agent(agent) {}
    ActionId action;
    std::uint32_t agent;
};

// An outcome of an action: one designated event occurs, at designated worlds that agree on all observability types.
struct Outcome {
    std::uint32_t event;       // of the action
    std::uint32_t assignment;  // number of the observability types among those that occur with the event
    std::size_t begin, end;    // of the packed e-state; empty if the e-state does not change
};

class ActionIndex;

// Applies the actions of a table to one e-state after another.
template <class P>
class Updater {
public:
    Updater(const Formulas& formulas, const ActionTable& table, std::uint32_t fluents, std::uint32_t agents)
        : table_(&table), fluents_(fluents), agents_(agents), state_(formulas) {}

    // Loads a packed e-state.
    void load(const std::uint8_t* packed);

    const Model<P>& model() const { return state_.model; }

    bool is_applicable(ActionId id);

    // Writes all applicable actions, ascending; `index` must belong to the same table.
    void find_applicable(const ActionIndex& index, std::vector<ActionId>& out);

    // The first agent with inconsistent beliefs (no successors at some designated world) after an applicable action;
    // does not build the successor.
    std::optional<std::uint32_t> find_inconsistent_agent(ActionId id);

    // Appends the packed successor by an applicable action to `out` and returns the action. Appends nothing and returns
    // an earlier action if that made the same update to this e-state, or kUnchanged if the successor is the e-state
    // itself.
    ActionId apply(ActionId id, Bytes& out);

    // Appends the packed outcomes of an applicable action to `bytes` and their descriptions to `out`. Returns false,
    // with some of them appended, if an outcome has inconsistent beliefs and `consistent_beliefs` excludes it.
    bool outcomes(ActionId id, bool consistent_beliefs, Bytes& bytes, std::vector<Outcome>& out);

private:
    using Set = typename P::Set;
    struct Update {
        ActionId action;
        std::uint64_t hash;
    };

    friend class Updater<Dense>;
    void choose(ActionId id, const Set& starts, EventMask designated);
    void choose(ActionId id) { choose(id, state_.model.designated, model_of(id).designated); }
    void choose_types(ActionId id);
    std::vector<Set> divide(ActionId id, const Set& worlds);
    std::optional<std::uint32_t> find_inconsistent_agent();
    void prepare_occurrence();
    bool update(ActionId id, Bytes& out);
    const EventModel& model_of(ActionId id) const { return table_->event_models[table_->actions[id].event_model]; }
    const Set& enabled_worlds(std::size_t event) {
        return state_.truths.worlds(table_->events[event_model_->events[event]].precondition);
    }
    ActionId find_same_update(ActionId id);
    Set truth_after(const Event& event, std::vector<Effect>::const_iterator& effect);
    bool changes_facts(std::size_t event);
    void build_valuation();

    const ActionTable* table_;
    std::uint32_t fluents_, agents_;
    Evaluator<P> state_;

    const EventModel* event_model_ = nullptr;
    std::vector<std::uint32_t> type_;        // of each agent, into ActionTable::relations
    Occurrence<P> occurrence_;
    Product<P> product_;
    Model<P> successor_;
    Contraction<P> contraction_;
    std::vector<Update> updates_;              // distinct updates of this e-state
    std::vector<std::uint32_t> update_types_;  // agents x updates_

    const std::uint8_t* packed_ = nullptr;
    std::unique_ptr<Updater<Sparse>> wide_;  // for products too large for P
    WideBits wide_starts_;
    bool wide_is_loaded_ = false;
};

extern template class Updater<Dense>;
extern template class Updater<Sparse>;

}  // namespace epi
