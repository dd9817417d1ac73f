// The forward pass of a residual graph network with sum aggregation (GINEConv: Hu et al., "Strategies for Pre-training
// Graph Neural Networks", ICLR 2020), as `learn.models.gine.network.GineNetwork` computes it in evaluation mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "relational_graphs.hpp"

namespace epi {

// The unit of arrays of floats, the width of the default network; rows are padded with zeros to a multiple of it.
struct alignas(32) Lanes {
    static constexpr std::size_t count = 16;
    float lane[count];
};
using LaneTable = std::vector<Lanes>;

struct Tensor {
    std::vector<std::size_t> shape;
    const float* data;
};
using Tensors = std::map<std::string, Tensor>;  // by their names in the state of the PyTorch module

// Working memory of a forward pass, one per thread.
struct ForwardPass {
    struct Incoming {
        std::uint32_t source, relation;  // the first lanes of their rows
    };

    std::vector<std::uint32_t> kind;  // per node
    LaneTable x;                      // per node: the input, then the output of each layer
    LaneTable next, sums, hidden, pooled;
    std::vector<Edge> edges;
    std::vector<std::uint32_t> first;  // per node: the first of its incoming edges
    std::vector<Incoming> incoming;    // by target
    std::vector<float> count;          // nodes of each kind
};

// A batch of graphs. The inputs of the n nodes are either embeddings or features.
struct GraphInput {
    std::span<const std::int64_t> nodes;  // n x columns: kind, state, type ids
    std::size_t columns = 0;
    std::span<const float> features;      // n x width
    std::size_t width = 0;
    std::span<const std::int64_t> kind;   // n
    std::span<const std::int64_t> source, target, relation;  // per edge; nodes are numbered over all graphs
    std::span<const std::int64_t> node_ptr, edge_ptr;        // graphs + 1
};

class GineNetwork {
public:
    // `index` maps type ids to rows of `types.weight`, unknown types to 0; if it is empty, type ids are these rows.
    // Throws std::invalid_argument with the name of an array that is missing or does not fit the others.
    GineNetwork(const Tensors& state, std::vector<std::int64_t> index);

    // The values of graphs. Throws std::invalid_argument with the name of an array that does not fit.
    std::vector<float> values(const GraphInput& input) const;
    // Throws std::invalid_argument when the network does not fit these graphs.
    void check(const RelationalGraphs& graphs) const;
    // The value of a graph that `graphs` has built.
    float value(const TypedGraph& graph, const RelationalGraphs& graphs, ForwardPass& pass) const;

    struct Layer {
        LaneTable relations, first, first_bias, second, second_bias, scale, shift;  // matrices are transposed
    };
    struct Weights {
        std::vector<Layer> layers;
        LaneTable head, head_bias, last, each, ones;  // ones: 1 in lanes below the width
        std::vector<float> each_bias;
        float last_bias = 0;
    };

private:
    std::size_t states() const { return states_.size() / vectors_; }
    std::size_t types() const { return index_.empty() ? types_.size() / vectors_ : index_.size(); }  // type ids
    void check(const GraphInput& input) const;
    // Makes room for the inputs of nodes, all zero.
    void reset(std::size_t nodes, ForwardPass& pass) const;
    // Adds the embeddings of a state and of types to the input of a node.
    void embed(std::size_t node, std::size_t state, const std::int64_t* types, std::size_t count, ForwardPass& pass) const;
    float run(const std::vector<Edge>& edges, ForwardPass& pass) const;

    std::size_t width_, vectors_, kinds_, relations_;
    LaneTable states_, types_;
    std::vector<std::int64_t> index_;
    Weights weights_;
};

}  // namespace epi
