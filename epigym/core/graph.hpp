// E-states as labelled graphs in flat arrays.
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
    // Appends the label of every world of the e-states, world after world.
    void label(const Space& space, std::span<const StateId> ids, std::vector<std::int32_t>& out);

    std::size_t size() const { return repetition_.size(); }
    // For each label from `first` on: truth values of all fluents (bytes 0 or 1) and the repetition index.
    void describe(std::size_t first, std::uint32_t fluents, std::uint8_t* valuations, std::int64_t* repetitions) const;

private:
    std::unordered_map<std::string, std::int32_t> number_;
    std::vector<const std::string*> key_;
    std::vector<std::int64_t> repetition_;
};

// The part of the graph that all e-states of a task share: nodes epsilon, goal root and the goal graph.
struct GoalPart {
    std::size_t nodes = 0, edges = 0;
    const std::uint8_t* bits = nullptr;          // nodes x width
    const std::int64_t* edge_index = nullptr;    // 2 x edges
    const std::int64_t* edge_label = nullptr;    // edges
};

// Where the graphs of a batch start.
struct GraphLayout {
    std::vector<std::int64_t> node, edge, world;  // ids + 1 offsets; `world` counts world nodes only
};

// Throws std::out_of_range when an id is unknown.
GraphLayout layout(const Space& space, std::span<const StateId> ids, const GoalPart& goal, unsigned threads);

// Fills node_bits[nodes x width], edge_index[2 x edges] and edge_label[edges]. Row `label` of `world_bits`
// holds the identifier of a world; `labels` has one entry per world of the batch.
void write_graphs(const Space& space, std::span<const StateId> ids, const GoalPart& goal, const GraphLayout& layout,
                  std::size_t width, const std::uint8_t* world_bits, const std::int32_t* labels, unsigned threads,
                  std::uint8_t* node_bits, std::int64_t* edge_index, std::int64_t* edge_label);

// One round of colour refinement (Weisfeiler and Leman) over the worlds of a batch of e-states. A world receives, for
// every row class of an agent that it is a successor of, the multiset of the messages of the members; the message of a
// world of colour c under agent i is c * agents + i. Worlds get equal colours iff they had equal ones, agree on being
// designated and receive the same. Multisets are told apart by 64-bit hashes.
struct Refinement {
    std::vector<std::int64_t> sent;               // the messages of each distinct multiset
    std::vector<std::int64_t> sent_first{0};      // multisets + 1
    std::vector<std::int64_t> received;           // the multisets that each new colour receives
    std::vector<std::int64_t> received_first{0};  // new colours + 1
    std::vector<std::int64_t> own;                // the old colour of each new one
    std::vector<std::int64_t> designated;         // the new colours of designated worlds, ascending
    std::vector<std::int64_t> colour;             // the new colour of every world
};

// `colour` has one entry per world of the batch, in canonical order. Throws std::out_of_range when an id is unknown
// and std::invalid_argument when the colours do not fit.
Refinement refine(const Space& space, std::span<const StateId> ids, std::span<const std::int64_t> colour);

}  // namespace epi
