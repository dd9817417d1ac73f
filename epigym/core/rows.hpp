// E-states in flat arrays, the only form in which relations leave the core. A row is a successor class: worlds that
// share an agent's set of successors.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "space.hpp"

namespace epi {

// Numbers the distinct (valuation, repetition index) pairs of worlds in order of first occurrence.
// The repetition index of a world counts the worlds of equal valuation before it in canonical order. Threads may share
// labels. Functions throw std::invalid_argument when the labels are of worlds over another number of fluents.
class WorldLabels {
public:
    // Appends the label of every world of a model.
    template <class P>
    void label(const Model<P>& model, std::vector<std::int32_t>& out);

    std::size_t size() const {
        std::lock_guard lock(mutex_);
        return number_.size();
    }
    // Writes the truth values of all fluents (bytes 0 or 1) and the repetition index of each label in [first, end).
    void describe(std::size_t first, std::size_t end, std::uint32_t fluents, std::uint8_t* valuations,
                  std::int64_t* repetitions) const;

private:
    mutable std::mutex mutex_;
    std::optional<std::size_t> fluents_;  // none before the first label
    std::unordered_map<std::string, std::int32_t> number_;
    std::vector<const std::string*> key_;
    std::vector<std::int64_t> repetition_;
    std::vector<std::string> keys_;  // of the worlds of the model being labelled
};

// The worlds and relations of k e-states, one after the other. Worlds and rows are numbered from 0 in each e-state;
// agents with equal relations share rows.
struct Rows {
    std::vector<std::int64_t> world_ptr{0};      // k + 1: the first world of each e-state
    std::vector<std::int32_t> label;             // per world
    std::vector<std::uint8_t> designated;        // per world
    std::vector<std::int32_t> row_of;            // worlds x agents
    std::vector<std::int64_t> row_ptr{0};        // k + 1: the first row of each e-state
    std::vector<std::int64_t> successor_ptr{0};  // rows + 1
    std::vector<std::int32_t> successor;         // worlds, ascending within a row
};

// The rows of e-states. The label of a world is its number in `labels`, or its rank if `labels` is null. Throws
// std::out_of_range when an id is unknown.
Rows rows_of(const Space& space, std::span<const StateId> ids, WorldLabels* labels);

// A view of `Rows`, with -1 in row_of for agents that an e-state does not have.
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

// The parts of graphs that all e-states under one goal share (the nodes epsilon and goal root, and the goal graph), for
// several goals one after the other.
struct GoalParts {
    std::size_t nodes = 0, width = 0;
    const std::uint8_t* bits = nullptr;                // nodes x width
    std::span<const std::int64_t> from, to;            // of edges; nodes are numbered over all goals
    std::span<const std::int64_t> edge_label;          // per edge
    std::span<const std::int64_t> node_ptr, edge_ptr;  // goals + 1: the first node and edge of each goal
    std::span<const std::int64_t> of;                  // per e-state: its goal
};

// Throws std::invalid_argument when the goal parts do not fit each other or the rows, or when labels are not below the
// number of identifiers.
void check(const RowsView& rows, const GoalParts& goals, std::span<const std::int32_t> label, std::size_t identifiers);

// The first node and edge of each graph of a batch.
struct GraphLayout {
    std::vector<std::int64_t> node_ptr{0}, edge_ptr{0};  // e-states + 1
};
GraphLayout compute_layout(const RowsView& rows, const GoalParts& goals);

// Unrolls rows to graphs: node_bits[nodes x width], edge_index[2 x edges] and edge_label[edges]. Each graph has the
// part of its goal, then the worlds. Edges lead from node 0 to every designated world, then for each agent from each
// world to each successor. Row `label` of `identifiers` is the identifier of a world.
void write_graphs(const RowsView& rows, const GoalParts& goals, const GraphLayout& layout,
                  std::span<const std::int32_t> label, const std::uint8_t* identifiers, std::uint8_t* node_bits,
                  std::int64_t* edge_index, std::int64_t* edge_label);

// One round of colour refinement (Weisfeiler and Leman) over the worlds of a batch of e-states. A world of colour c
// sends the message c * agents + i under agent i. For every row of agent i, each successor receives the multiset of the
// messages of the row's members. Worlds get equal colours iff they had equal colours, agree on being designated and
// receive equal multisets. 64-bit hashes identify multisets.
struct Refinement {
    std::vector<std::int64_t> sent;               // the messages of each distinct multiset
    std::vector<std::int64_t> sent_ptr{0};        // multisets + 1
    std::vector<std::int64_t> received;           // the multisets that each new colour receives
    std::vector<std::int64_t> received_ptr{0};    // new colours + 1
    std::vector<std::int64_t> own;                // the old colour of each new one
    std::vector<std::int64_t> designated;         // the new colours of designated worlds, ascending
    std::vector<std::int64_t> colour;             // the new colour of every world
};

// `colour` has one entry per world. Throws std::invalid_argument when the arrays do not fit.
Refinement refine(const RowsView& rows, std::span<const std::int64_t> colour);

}  // namespace epi
