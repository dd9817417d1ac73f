// Formulas that events of actions make true, and the conditions under which they do.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "formula_store.hpp"
#include "update.hpp"

namespace epi {

// The observability type of an agent.
struct AgentType {
    std::uint32_t agent;
    std::uint32_t relation;  // into ActionTable::relations
    auto operator<=>(const AgentType&) const = default;
};

using AgentTypes = std::vector<AgentType>;  // in the order of the choices

// A condition for an event to add a formula. With `now` it has to hold in the e-state itself, as nothing in the
// relaxation makes it true.
struct Condition {
    FormulaId formula;
    bool now = false;
    auto operator<=>(const Condition&) const = default;
};

// One way to add a formula: the types of some agents, and conditions.
struct Alternative {
    AgentTypes types;
    std::vector<Condition> conditions;
    auto operator<=>(const Alternative&) const = default;
};

class Additions {
public:
    // `doubts` are the negated beliefs, in normal form, that events may add.
    Additions(const ActionTable& table, FormulaStore& store, std::unordered_set<FormulaId> doubts);

    // Formulas that hold after some event of an action; they may repeat.
    std::vector<FormulaId> list_guaranteed(ActionId action) const;

    // The ways in which each event of a set adds a formula.
    std::vector<Alternative> find_alternatives(ActionId action, EventMask events, FormulaId formula) const;

    // The condition, in normal form, under which an agent has its type.
    FormulaId type_condition(ActionId action, const AgentType& type) const;

private:
    class Search;
    struct Type {
        std::uint32_t relation;
        FormulaId condition;
    };
    // A formula that holds after an event if the condition held before.
    struct Guarantee {
        FormulaId formula, condition;
        bool operator==(const Guarantee&) const = default;
    };
    using Guarantees = std::vector<Guarantee>;

    Guarantees guarantees_of(const Event& event) const;
    void guarantee_effects(const Event& event, Guarantees& out) const;
    void guarantee_part(const Event& event, FormulaId part, Guarantees& out) const;
    void guarantee(const Guarantee& added, Guarantees& out) const;
    bool is_overwritten(const Event& event, FormulaId formula) const;
    std::vector<Type> types_of(const std::vector<Observability>& conditions) const;

    const ActionTable* table_;
    FormulaStore* store_;
    std::unordered_set<FormulaId> doubts_;
    std::vector<Guarantees> guarantees_;    // per event, by formula
    std::vector<std::vector<Type>> types_;  // per list of observability conditions, in their order
};

}  // namespace epi
