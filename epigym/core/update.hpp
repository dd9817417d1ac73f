// Ground actions and the product update.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "contraction.hpp"
#include "formula.hpp"
#include "model.hpp"
#include "placement.hpp"

namespace epi {

using ActionId = std::uint32_t;
using EventMask = std::uint64_t;  // a set of events of one action

constexpr std::size_t kMaxEvents = 64;
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

// Events with one set of successors under an observability type.
struct EventGroup {
    EventMask sources;
    EventMask targets;
};

using Relation = std::vector<EventGroup>;

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

// Actions with their parts shared: most actions of a task differ in few of them.
struct ActionTable {
    std::vector<Event> events;
    std::vector<EventModel> event_models;
    std::vector<Relation> relations;
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

class ActionIndex;

// Applies the actions of a table to one e-state after another.
//
// The product is built for the reachable (world, event) pairs only, row class by row class: the worlds
// (w, e) with w in one class and e in one group of events share their successors.
template <class P>
class Updater {
public:
    Updater(const Formulas& formulas, const ActionTable& table, std::uint32_t fluents, std::uint32_t agents)
        : table_(&table), fluents_(fluents), agents_(agents), state_(formulas) {}

    // Moves to the e-state with this packed form.
    void load(const std::uint8_t* packed);

    const Model<P>& model() const { return state_.model; }

    bool applicable(ActionId id);

    // Writes all applicable actions, ascending; `index` must be of the same table.
    void applicable_actions(const ActionIndex& index, std::vector<ActionId>& out);

    // The first agent that considers no world possible at some designated world after an applicable action, and so
    // believes everything; told without building the successor.
    std::optional<std::uint32_t> collapsing(ActionId id);

    // Appends the packed successor under an applicable action to `out` and returns the action; or appends
    // nothing and returns an earlier action of this e-state that made the same update, or kUnchanged when
    // the successor is the e-state itself.
    ActionId apply(ActionId id, Bytes& out);

private:
    using Set = typename P::Set;
    struct Seen {
        ActionId action;
        std::uint64_t hash;
    };
    template <class Q>
    struct Scratch {
        Model<Q> product;
        Placement<P, Q> placement;
        Contraction<Q> contraction;
    };
    struct Pair {
        std::uint32_t relation;  // of the model
        std::uint32_t type;      // into ActionTable::relations
        bool operator==(const Pair&) const = default;
    };

    void choose_types(ActionId id);
    void pair_relations();
    ActionId first_like(ActionId id);
    void reach();
    void start();
    bool survive(const typename P::Row& successors, EventMask targets) const;
    Set truth_after(const Event& event, std::vector<Effect>::const_iterator& effect);
    bool changes_facts(std::size_t event);
    template <class Q>
    void build_valuation(const Placement<P, Q>& placement, Model<Q>& product);
    template <class Q>
    void build(Placement<P, Q>& placement, Model<Q>& product);

    const ActionTable* table_;
    std::uint32_t fluents_, agents_;
    Evaluator<P> state_;

    const EventModel* event_model_ = nullptr;
    std::vector<std::uint32_t> type_;      // of each agent, into ActionTable::relations
    std::vector<Pair> pairs_;              // the distinct (relation, type) of the agents
    std::vector<std::uint32_t> pair_of_;   // per agent
    std::vector<const Set*> enabled_;      // per event the worlds that satisfy its precondition
    std::vector<Set> reached_;             // per event the worlds w with (w, event) reachable
    std::vector<std::uint8_t> used_;       // pairs x groups x classes: whether one of its worlds is reachable
    EventMask active_ = 0;                 // events with reachable worlds
    bool unchanged_ = false;               // the product is bisimilar to the e-state
    World product_worlds_ = 0;
    std::vector<Seen> seen_;               // updates made from this e-state
    std::vector<std::uint32_t> seen_types_;  // agents x seen_
    std::tuple<Scratch<Dense<1>>, Scratch<Dense<2>>, Scratch<Dense<4>>, Scratch<Dense<8>>, Scratch<Sparse>> scratch_;
};

extern template class Updater<Dense<1>>;
extern template class Updater<Dense<2>>;
extern template class Updater<Dense<4>>;
extern template class Updater<Dense<8>>;
extern template class Updater<Sparse>;

}  // namespace epi
