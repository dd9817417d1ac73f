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

}  // namespace epi
