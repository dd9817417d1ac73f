// E-states as typed graphs over objects, atoms, the goal, worlds and rows, see `epigym/encoding/relational.py`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "features.hpp"
#include "none.hpp"
#include "space.hpp"

namespace epi {

// The most worlds of an e-state that become nodes: designated ones first, then the first in canonical order.
constexpr std::size_t kMaxWorlds = 64;

enum NodeKind : std::uint32_t { kObject, kGoal, kFact, kFluent, kBelief, kWorld, kRow, kNodeKinds };

// The number of states of nodes of each kind; states are numbered over all kinds.
constexpr std::array<std::uint32_t, kNodeKinds> kStatesOfKind{
    1, Atoms::kGoalStates, 1, Atoms::kFluentStates, Atoms::kBeliefStates, 2, 1};

// The first state of a kind; for kNodeKinds the number of all states.
constexpr std::uint32_t first_state(std::uint32_t kind) {
    std::uint32_t first = 0;
    for (std::uint32_t k = 0; k < kind; ++k) first += kStatesOfKind[k];
    return first;
}
constexpr std::uint32_t kNodeStates = first_state(kNodeKinds);
constexpr auto kKindOfState = [] {
    std::array<std::uint8_t, kNodeStates> kind{};
    for (std::uint32_t k = 0; k < kNodeKinds; ++k)
        for (std::uint32_t s = first_state(k); s < first_state(k + 1); ++s) kind[s] = static_cast<std::uint8_t>(k);
    return kind;
}();

// Relations of forward edges; reversed edges have numbers from kBack on.
constexpr std::uint32_t kPlaces = 4;  // distinguished argument positions; the last includes all further ones
enum EdgeRelation : std::uint32_t {
    kArgument,
    kLeaf = kArgument + kPlaces,  // an argument of a fluent in the goal
    kWho = kLeaf + kPlaces,
    kChild,
    kAbout,
    kHolds,
    kAt,
    kPossible,
    kBack,
    kEdgeRelations = 2 * kBack
};

struct Edge {
    std::uint32_t source, target, relation;
};

struct TypedGraph {
    std::vector<std::uint32_t> state;  // per node
    std::vector<std::uint32_t> place;  // per node: its row in the table of types
    std::vector<Edge> edges;           // forward edges, then the same reversed
};

// The graphs of e-states of a space under a goal. Potential nodes that all e-states share have a *place*: objects,
// subformulas of the goal, facts, fluents, then beliefs (agents x fluents). Nodes are in the order of their places;
// worlds and rows follow.
class RelationalGraphs {
public:
    // `types` has `columns` type ids per place. Throws std::invalid_argument when tables or types do not fit each other
    // or the task.
    RelationalGraphs(const Space& space, FeatureTables tables, std::vector<std::int64_t> types, std::size_t columns);
    RelationalGraphs(const RelationalGraphs&) = delete;
    RelationalGraphs& operator=(const RelationalGraphs&) = delete;

    // The same graphs for another thread.
    std::unique_ptr<RelationalGraphs> copy() const;

    std::size_t columns() const { return columns_; }
    const std::int64_t* types(std::uint32_t place) const { return types_.data() + place * columns_; }
    std::int64_t largest_type() const { return largest_type_; }

    void build(StateId id, TypedGraph& out);  // throws std::out_of_range when the id is unknown
    // The graph of objects, facts, and the goal with all subformulas false.
    void build_without_worlds(TypedGraph& out) const;

private:
    void list_edges();
    void add_places(std::uint32_t kind, std::uint32_t first, std::uint32_t end, TypedGraph& out) const;
    template <class P>
    void choose_worlds(Evaluator<P>& state);
    void add_atoms(TypedGraph& out);
    void add_truths(const std::vector<std::uint64_t>& holds, const std::uint32_t* node, TypedGraph& out);
    template <class P>
    void add_worlds(const Model<P>& model, TypedGraph& out);

    const Space* space_;
    FeatureTables tables_;
    std::vector<std::int64_t> types_;  // per place, then zeros for worlds and rows
    std::size_t columns_;
    std::int64_t largest_type_;
    std::uint32_t fluents_, agents_;
    std::uint32_t goal_at_, fact_at_, fluent_at_, belief_at_, untyped_;  // the first places of each kind
    Evaluators evaluators_;
    std::vector<std::uint32_t> fluent_edge_ptr_;        // fluents + 1
    std::vector<Edge> fluent_edges_, fixed_edges_;      // to objects: from fluents; from facts and the goal
    std::vector<Edge> child_edges_;                     // of the goal: to children, and from leaves to fluents

    // Of the e-state at hand.
    Atoms atoms_;
    std::vector<World> kept_;                           // worlds that are nodes
    std::vector<std::uint32_t> rank_;                   // per world: its position in kept_, or kMaxWorlds
    std::vector<std::uint64_t> fluent_holds_, goal_holds_;  // bits over kept_: where each is true
    std::vector<std::uint32_t> node_;                   // per place: its node, or kNone
    std::vector<std::uint32_t> row_at_;                 // kept worlds x agents: the node of the row
    std::vector<Edge> possible_, who_;                  // from rows
};

}  // namespace epi
