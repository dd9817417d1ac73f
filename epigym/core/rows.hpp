// E-states in flat arrays: the only form in which relations leave the core.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "space.hpp"

namespace epi {

// Numbers the distinct (valuation, repetition index) pairs of worlds, in the order in which they are met.
// The repetition index of a world counts the worlds of equal valuation before it in canonical order.
class WorldLabels {
public:
    // Appends the label of every world of a model.
    template <class P>
    void label(const Model<P>& model, std::vector<std::int32_t>& out);

    std::size_t size() const { return repetition_.size(); }
    // For each label from `first` on: truth values of all fluents (bytes 0 or 1) and the repetition index. Throws
    // std::invalid_argument when their worlds have another number of fluents.
    void describe(std::size_t first, std::uint32_t fluents, std::uint8_t* valuations, std::int64_t* repetitions) const;

private:
    std::unordered_map<std::string, std::int32_t> number_;
    std::vector<const std::string*> key_;
    std::vector<std::int64_t> repetition_;
    std::vector<std::string> keys_;  // of the worlds of the model being labelled
};

// The worlds and relations of k e-states, one after the other. Worlds and rows are numbered from 0 in each e-state;
// agents with equal relations share rows.
struct Rows {
    std::vector<std::int64_t> world_ptr{0};      // k + 1: where the worlds of each e-state start
    std::vector<std::int32_t> label;             // per world
    std::vector<std::uint8_t> designated;        // per world
    std::vector<std::int32_t> row_of;            // worlds x agents
    std::vector<std::int64_t> row_ptr{0};        // k + 1: where the rows of each e-state start
    std::vector<std::int64_t> successor_ptr{0};  // rows + 1
    std::vector<std::int32_t> successor;         // worlds, ascending within a row
};

// The rows of e-states. The label of a world is its number in `labels`, or its rank where there are none. Throws
// std::out_of_range when an id is unknown.
Rows rows_of(const Space& space, std::span<const StateId> ids, WorldLabels* labels);

// `Rows` that somebody else holds, with -1 in row_of for agents that an e-state does not have.
struct RowsView {
    std::span<const std::int64_t> world_ptr;
    std::span<const std::uint8_t> designated;
    std::span<const std::int32_t> row_of;
    std::span<const std::int64_t> row_ptr, successor_ptr;
    std::span<const std::int32_t> successor;

    std::size_t states() const { return world_ptr.size() - 1; }
    std::size_t agents() const { return worlds() == 0 ? 0 : row_of.size() / worlds(); }
    std::size_t worlds() const { return designated.size(); }
    std::span<const std::int32_t> successors(std::int64_t row) const {
        return successor.subspan(static_cast<std::size_t>(successor_ptr[static_cast<std::size_t>(row)]),
                                 static_cast<std::size_t>(successor_ptr[static_cast<std::size_t>(row) + 1] -
                                                          successor_ptr[static_cast<std::size_t>(row)]));
    }
    // Throws std::invalid_argument when the arrays do not fit together.
    void check() const;
};

// The parts of graphs that all e-states under one goal share, for several goals one after the other: nodes epsilon, goal
// root and the goal graph.
struct GoalParts {
    std::size_t nodes = 0, width = 0;
    const std::uint8_t* bits = nullptr;                // nodes x width
    std::span<const std::int64_t> from, to;            // of edges, counted through all goals
    std::span<const std::int64_t> edge_label;          // per edge
    std::span<const std::int64_t> node_ptr, edge_ptr;  // goals + 1: where the nodes and edges of each goal start
    std::span<const std::int64_t> of;                  // per e-state: its goal
};

// Throws std::invalid_argument when the goal parts do not fit together or to the rows, or labels are not below the number
// of identifiers.
void check(const RowsView& rows, const GoalParts& goals, std::span<const std::int32_t> label, std::size_t identifiers);

// Where the graphs of a batch start.
struct GraphLayout {
    std::vector<std::int64_t> node_ptr{0}, edge_ptr{0};  // e-states + 1
};
GraphLayout compute_layout(const RowsView& rows, const GoalParts& goals);

// Unrolls rows to graphs: node_bits[nodes x width], edge_index[2 x edges] and edge_label[edges]. Each graph starts with
// the part of its goal, then has the worlds; an edge leads from node 0 to every designated world, then under each agent from
// each world to each successor. Row `label` of `identifiers` is the identifier of a world.
void write_graphs(const RowsView& rows, const GoalParts& goals, const GraphLayout& layout,
                  std::span<const std::int32_t> label, const std::uint8_t* identifiers, std::uint8_t* node_bits,
                  std::int64_t* edge_index, std::int64_t* edge_label);

// One round of colour refinement (Weisfeiler and Leman) over the worlds of a batch of e-states. A world receives, for
// every row of an agent that it is in, the multiset of the messages of the worlds with that row; the message of a world
// of colour c under agent i is c * agents + i. Worlds get equal colours iff they had equal ones, agree on being
// designated and receive the same. Multisets are told apart by 64-bit hashes.
struct Refinement {
    std::vector<std::int64_t> sent;               // the messages of each distinct multiset
    std::vector<std::int64_t> sent_ptr{0};        // multisets + 1
    std::vector<std::int64_t> received;           // the multisets that each new colour receives
    std::vector<std::int64_t> received_ptr{0};    // new colours + 1
    std::vector<std::int64_t> own;                // the old colour of each new one
    std::vector<std::int64_t> designated;         // the new colours of designated worlds, ascending
    std::vector<std::int64_t> colour;             // the new colour of every world
};

// `colour` has one entry per world. Throws std::invalid_argument when something does not fit.
Refinement refine(const RowsView& rows, std::span<const std::int64_t> colour);

}  // namespace epi
