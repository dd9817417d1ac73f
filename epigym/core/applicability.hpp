// An index of actions by the literals that they require.
#pragma once

#include <cstdint>
#include <vector>

#include "formula.hpp"
#include "update.hpp"

namespace epi {

// Actions by the literals that every designated world has to satisfy: conjuncts of the applicability formula and of the
// preconditions of all designated events.
//
// The index is a trie in preorder. An action stands below its literals, frequent ones first, so that one false literal
// rules out many actions.
class ActionIndex {
public:
    ActionIndex(const Formulas& formulas, const ActionTable& table);

    // Writes the actions whose literals hold, in any order; holds(fluent, value) evaluates a literal.
    template <class Holds>
    void find_candidates(Holds&& holds, std::vector<ActionId>& out) const {
        out.assign(actions_.begin(), actions_.begin() + unconditional_);
        for (std::size_t at = 0; at < nodes_.size();) {
            const Node& node = nodes_[at];
            if (!holds(node.literal.fluent, node.literal.value)) {
                at = node.end;
                continue;
            }
            out.insert(out.end(), actions_.begin() + node.first_action, actions_.begin() + node.last_action);
            ++at;
        }
    }

private:
    struct Literal {
        std::uint32_t fluent;
        bool value;
        auto operator<=>(const Literal&) const = default;
    };
    using Literals = std::vector<Literal>;
    struct Node {
        Literal literal;
        std::uint32_t end;                        // the first node that is not below this one
        std::uint32_t first_action, last_action;  // into actions_: the actions that require no further literal
    };

    static Literals find_required(const Formulas& formulas, const ActionTable& table, const Action& action);
    static void collect(const Formulas& formulas, FormulaId id, Literals& out);
    void build(const std::vector<Literals>& required);

    std::vector<Node> nodes_;
    std::vector<ActionId> actions_;
    std::uint32_t unconditional_ = 0;  // actions_ starts with so many actions that require no literal
};

}  // namespace epi
