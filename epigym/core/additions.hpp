// What the events of actions add, and what has to be the case for it.
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

using AgentTypes = std::vector<AgentType>;  // first what was chosen first

// What an event needs to add something: what must be reached; or hold now, as nothing in the relaxation makes it true.
struct Condition {
    FormulaId formula;
    bool now = false;
    auto operator<=>(const Condition&) const = default;
};

// A choice of types with what has to be the case for it.
struct Alternative {
    AgentTypes types;
    std::vector<Condition> conditions;
    auto operator<=>(const Alternative&) const = default;
};

class Additions {
public:
    // Events make agents doubt only what `doubts`, negated beliefs in normal form, say.
    Additions(const ActionTable& table, FormulaStore& store, std::unordered_set<FormulaId> doubts);

    // The formulas that some event of an action makes or leaves true; some may occur twice.
    std::vector<FormulaId> list_guaranteed(ActionId action) const;

    // The ways in which all of some events of an action add a formula.
    std::vector<Alternative> find_alternatives(ActionId action, EventMask events, FormulaId formula) const;

    // What gives an agent its type under an action, in normal form.
    FormulaId type_condition(ActionId action, const AgentType& type) const;

private:
    class Search;
    struct Type {
        std::uint32_t relation;
        FormulaId condition;
    };
    // What an event makes or leaves true where a condition holds.
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
