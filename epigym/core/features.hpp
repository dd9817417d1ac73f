// Relational features of e-states: how often each colour occurs. A colour has the same meaning in every task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hashing.hpp"
#include "space.hpp"

namespace epi {

using Colour = std::uint64_t;

// The part of join(a, b) that depends on a alone, to be shared by many b.
constexpr Colour join_prefix(Colour a) { return mix(a + kGolden); }
constexpr Colour join(Colour a, Colour b) { return mix(join_prefix(a) ^ b); }

// The types and edges of everything in a task under a goal; types and labels are colours.
struct FeatureTables {
    // Ragged: the edges of row r are [ptr[r], ptr[r + 1]).
    struct Edges {
        std::vector<std::int64_t> ptr;
        std::vector<std::int32_t> object;
        std::vector<Colour> label;
    };

    Formulas formulas;
    std::vector<FormulaId> goal;             // the subformulas of the goal
    std::vector<std::int32_t> agent_object;  // per agent: its object
    std::vector<Colour> objects;
    std::vector<Colour> fluent_fine, fluent_coarse;
    std::vector<Colour> belief_fine, belief_coarse;  // agents x fluents
    std::vector<Colour> goal_fine, goal_coarse;
    std::vector<Colour> fact_fine;
    std::vector<std::uint8_t> relevant_fluent, relevant_belief;  // whether the goal mentions it
    Edges fluent_edges, goal_edges, fact_edges;
    std::vector<std::int64_t> child_ptr;  // of goal subformulas, ragged
    std::vector<std::int32_t> child;
};

// Throws std::invalid_argument when tables do not fit each other or the numbers of fluents and agents.
void check(const FeatureTables& tables, std::uint32_t fluents, std::uint32_t agents);

// The states of fluents, beliefs and subformulas of the goal at the designated worlds of an e-state.
struct Atoms {
    enum Place : std::uint8_t { Nowhere, Throughout, Somewhere };      // where a fluent is true
    enum Belief : std::uint8_t { Unsure, True, False, Inconsistent };  // an agent's belief about a fluent
    static constexpr std::uint32_t kFluentStates = 3, kBeliefStates = 12, kGoalStates = 2;
    static constexpr std::uint8_t kDefaultBelief = 4 * Nowhere + False;

    Atoms(std::uint32_t fluents, std::uint32_t agents, std::size_t goals)
        : fluent(fluents), belief(std::size_t{agents} * fluents), goal(goals) {}

    template <class P>
    void read(Evaluator<P>& state, std::span<const FormulaId> goals);

    std::vector<std::uint8_t> fluent;  // its Place
    std::vector<std::uint8_t> belief;  // agents x fluents: 4 * Place of the fluent + Belief of the agent
    std::vector<std::uint8_t> goal;    // per subformula whether it holds
};

// The features of some e-states, ascending by colour within each e-state.
struct FeatureRows {
    std::vector<std::int64_t> ptr{0};
    std::vector<Colour> colour;
    std::vector<float> value;
};

// Distinct pairs of a colour and its owner.
class OwnedColours {
public:
    void clear();
    bool insert(Colour colour, std::uint32_t owner);  // whether the pair is new
    bool contains(Colour colour, std::uint32_t owner) const;

private:
    struct Pair {
        Colour colour;
        std::uint32_t owner;
        bool operator==(const Pair&) const = default;
    };

    // Colours are hash values already.
    static std::uint64_t hash(const Pair& pair) { return pair.colour + pair.owner * kGolden; }

    HashTable numbers_;
    std::vector<Pair> pairs_;
};

// Colours and how often each occurs.
class ColourCounts {
public:
    struct Entry {
        Colour colour;
        double value;
    };

    void clear();
    void add(Colour colour, double value);
    const std::vector<Entry>& entries() const { return entries_; }
    void sort();  // ascending by colour; the next add() must follow a clear()

private:
    HashTable numbers_;
    std::vector<Entry> entries_, unsorted_;
    std::vector<std::uint32_t> bucket_;
};

// Features at level 0 are the states of atoms. Levels 1 and 2 add so many rounds of colour refinement over objects,
// atoms, subformulas of the goal and static facts. `worlds` adds the colours of worlds.
class Features {
public:
    // Throws std::invalid_argument when tables do not fit each other or the task.
    Features(const Space& space, FeatureTables tables, unsigned level, bool worlds);
    Features(const Features&) = delete;
    Features& operator=(const Features&) = delete;

    void evaluate(StateId id, FeatureRows& out);  // throws std::out_of_range when the id is unknown

private:
    // Nodes are objects, then subformulas of the goal, facts, fluents, and beliefs: agents x fluents.
    using Node = std::uint32_t;

    // The places of the colours of a type of atoms, one per state of the atom.
    struct Columns {
        std::uint32_t fine, coarse;
    };
    struct Edge {
        Node object;
        Colour prefix;  // of the label
    };
    // Fluents, or subformulas of the goal, of one type, and its contributions to worlds where one of them is true, or
    // false.
    struct WorldType {
        std::vector<std::uint32_t> members;
        Colour when_true, when_false;
    };

    void number_columns();
    void list_edges();

    template <class P>
    void colour_worlds(Evaluator<P>& state);
    void count_atoms();
    void count(Columns columns, std::uint32_t state);
    void colour_nodes();
    void refine();
    void write(FeatureRows& out);

    bool is_present(Node node) const { return node < fluent_at_ || present_[node - fluent_at_]; }
    std::span<const Edge> edges(Node node) const {  // except from beliefs to agents and to children
        return {edges_.data() + edge_ptr_[node], edges_.data() + edge_ptr_[node + 1]};
    }
    Colour colour(std::uint32_t place) const { return columns_[column_[place]]; }

    const Space* space_;
    FeatureTables tables_;
    unsigned level_;
    bool worlds_;
    std::uint32_t fluents_, agents_;
    Node goal_at_, fact_at_, fluent_at_, belief_at_, nodes_;  // the first nodes of each kind; the number of nodes
    Evaluators evaluators_;

    std::vector<Colour> columns_;        // the distinct colours of atoms, ascending
    std::vector<std::uint32_t> column_;  // per type and state: its colour in columns_
    std::vector<Columns> fluent_columns_, belief_columns_, goal_columns_;
    std::vector<std::uint32_t> edge_ptr_;  // per node up to the fluents
    std::vector<Edge> edges_;
    std::vector<WorldType> fluent_types_, goal_types_;

    // Of the e-state at hand.
    Atoms atoms_;
    std::vector<std::uint32_t> counts_;         // per column
    std::vector<std::uint64_t> counted_;        // bits: columns with a count
    std::vector<std::uint8_t> present_;         // per fluent and belief
    std::vector<Colour> colour_, next_, sums_;  // per node; sums up to the beliefs
    OwnedColours seen_;
    ColourCounts features_, world_counts_;
    std::vector<Colour> world_sums_;
};

}  // namespace epi
