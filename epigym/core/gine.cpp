#include "gine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "arrays.hpp"

#define EPI_INLINE [[gnu::always_inline]] inline

namespace epi {

namespace {

constexpr std::size_t kLanes = Lanes::count;
constexpr std::size_t kBlock = 4;  // nodes that go through the perceptron together
constexpr float kEpsilon = 1e-5F;  // of layer normalisation

// The functions up to `run` are inlined into functions that are compiled for one processor, whose vectors are `Row`. A
// node has `n` vectors, and `kColumns` stay in registers together.
using Row4 = float __attribute__((vector_size(16), may_alias));
using Row8 = float __attribute__((vector_size(32), may_alias));

template <class Row>
constexpr std::size_t kSize = sizeof(Row) / sizeof(float);
template <class Row>
constexpr std::size_t kColumns = kLanes / kSize<Row>;

template <class Row>
EPI_INLINE Row* rows(LaneTable& table) {
    return reinterpret_cast<Row*>(table.data());
}
template <class Row>
EPI_INLINE const Row* rows(const LaneTable& table) {
    return reinterpret_cast<const Row*>(table.data());
}

template <class Row>
EPI_INLINE void rectify(Row& row) {
    const Row zero{};
    row = row > zero ? row : zero;
}

template <class Row>
EPI_INLINE float sum(const Row* row, std::size_t n) {
    Row total = row[0];
    for (std::size_t j = 1; j < n; ++j) total += row[j];
    if constexpr (kSize<Row> == 4) return (total[0] + total[1]) + (total[2] + total[3]);
    else return ((total[0] + total[4]) + (total[1] + total[5])) + ((total[2] + total[6]) + (total[3] + total[7]));
}

// acc[r][c] = bias[c] + sum over k < depth of in[r][k] * weights[k][c]; rows of `in` and `weights` have n_in and n
// vectors.
template <std::size_t R, std::size_t C, class Row>
EPI_INLINE void multiply(const Row* in, std::size_t n_in, const Row* weights, std::size_t n, const Row* bias,
                         std::size_t depth, Row (&acc)[R][C]) {
    const float* input = reinterpret_cast<const float*>(in);
    for (std::size_t r = 0; r < R; ++r)
        for (std::size_t c = 0; c < C; ++c) acc[r][c] = bias[c];
    for (std::size_t k = 0; k < depth; ++k)
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 8
            for (std::size_t c = 0; c < C; ++c) acc[r][c] += weights[k * n + c] * input[r * n_in * kSize<Row> + k];
}

// sums = x + the messages of incoming edges, for a block of nodes.
template <class Row>
EPI_INLINE void aggregate(const Row* x, std::size_t n, const Row* relations, const ForwardPass& pass, std::size_t node,
                          Row* sums) {
    constexpr std::size_t C = kColumns<Row>;
    for (std::size_t r = 0; r < kBlock; ++r) {
        for (std::size_t j = 0; j < n; j += C) {
            Row acc[C];
            for (std::size_t c = 0; c < C; ++c) acc[c] = x[(node + r) * n + j + c];
            for (auto e = pass.first[node + r]; e < pass.first[node + r + 1]; ++e) {
                const auto [source, relation] = pass.incoming[e];
                for (std::size_t c = 0; c < C; ++c) {
                    Row message = x[source * C + j + c] + relations[relation * C + j + c];
                    rectify(message);
                    acc[c] += message;
                }
            }
            for (std::size_t c = 0; c < C; ++c) sums[r * n + j + c] = acc[c];
        }
    }
}

template <class Row>
EPI_INLINE void normalise(Row* row, std::size_t n, std::size_t width, const Row* ones, const Row* scale, const Row* shift,
                          Row* squares) {
    const float mean = sum(row, n) / static_cast<float>(width);
    for (std::size_t j = 0; j < n; ++j) {
        row[j] -= mean * ones[j];
        squares[j] = row[j] * row[j];
    }
    const float deviation = std::sqrt(sum(squares, n) / static_cast<float>(width) + kEpsilon);
    for (std::size_t j = 0; j < n; ++j) row[j] = row[j] * (1 / deviation) * scale[j] + shift[j];
}

template <class Row>
EPI_INLINE void run_layer(const GineNetwork::Layer& layer, const Row* ones, std::size_t width, std::size_t n,
                          ForwardPass& pass) {
    constexpr std::size_t C = kColumns<Row>, R = 2 * kBlock / C;  // eight accumulators, which fit into registers
    const Row* x = rows<Row>(std::as_const(pass.x));
    Row *sums = rows<Row>(pass.sums), *hidden = rows<Row>(pass.hidden);
    for (std::size_t node = 0; node < pass.kind.size(); node += kBlock) {
        aggregate(x, n, rows<Row>(layer.relations), pass, node, sums);
        Row* out = rows<Row>(pass.next) + node * n;
        Row acc[R][C];
        for (std::size_t j = 0; j < n; j += C) {
            for (std::size_t first = 0; first < kBlock; first += R) {
                multiply(sums + first * n, n, rows<Row>(layer.first) + j, n, rows<Row>(layer.first_bias) + j, n * kSize<Row>, acc);
                for (std::size_t r = 0; r < R; ++r)
                    for (std::size_t c = 0; c < C; ++c) {
                        rectify(acc[r][c]);
                        hidden[(first + r) * n + j + c] = acc[r][c];
                    }
            }
        }
        for (std::size_t j = 0; j < n; j += C) {
            for (std::size_t first = 0; first < kBlock; first += R) {
                multiply(hidden + first * n, n, rows<Row>(layer.second) + j, n, rows<Row>(layer.second_bias) + j, n * kSize<Row>, acc);
                for (std::size_t r = 0; r < R; ++r)
                    for (std::size_t c = 0; c < C; ++c)
                        out[(first + r) * n + j + c] = acc[r][c] + x[(node + first + r) * n + j + c];
            }
        }
        for (std::size_t r = 0; r < kBlock; ++r)
            normalise(out + r * n, n, width, ones, rows<Row>(layer.scale), rows<Row>(layer.shift), hidden);
    }
    std::swap(pass.x, pass.next);
}

// pooled = mean and maximum over the nodes of each kind, 0 if there are none. Returns the sum of the nodes' own values.
template <class Row>
EPI_INLINE float pool(const GineNetwork::Weights& weights, std::size_t n, ForwardPass& pass) {
    const Row* x = rows<Row>(std::as_const(pass.x));
    Row* pooled = rows<Row>(pass.pooled);
    for (std::size_t j = 0; j < pass.count.size() * 2 * n; ++j) pooled[j] = Row{};
    for (auto& count : pass.count) count = 0;
    for (std::size_t node = 0; node < pass.kind.size(); ++node) {
        const std::size_t kind = pass.kind[node];
        Row *mean = pooled + kind * 2 * n, *most = mean + n;
        const bool is_first = pass.count[kind]++ == 0;
        for (std::size_t j = 0; j < n; ++j) {
            const Row value = x[node * n + j];
            mean[j] += value;
            most[j] = is_first ? value : (value > most[j] ? value : most[j]);
        }
    }
    Row total{};
    float value = 0;
    for (std::size_t kind = 0; kind < pass.count.size(); ++kind) {
        for (std::size_t j = 0; j < n; ++j) {
            total += pooled[kind * 2 * n + j] * rows<Row>(weights.each)[kind * n + j];
            pooled[kind * 2 * n + j] *= 1 / std::max(pass.count[kind], 1.0F);
        }
        value += pass.count[kind] * weights.each_bias[kind];
    }
    return value + sum(&total, 1);
}

template <class Row>
EPI_INLINE float run_all(const GineNetwork::Weights& weights, std::size_t width, std::size_t n, ForwardPass& pass) {
    for (const auto& layer : weights.layers) run_layer(layer, rows<Row>(weights.ones), width, n, pass);
    const float own = pool<Row>(weights, n, pass);
    Row* out = rows<Row>(pass.hidden);
    for (std::size_t j = 0; j < n; ++j) {
        Row acc[1][1];
        multiply(rows<Row>(std::as_const(pass.pooled)), 0, rows<Row>(weights.head) + j, n, rows<Row>(weights.head_bias) + j,
                 pass.count.size() * 2 * n * kSize<Row>, acc);
        rectify(acc[0][0]);
        out[j] = acc[0][0] * rows<Row>(weights.last)[j];
    }
    return sum(out, n) + weights.last_bias + own;
}

// The default width is a constant in the first of two copies.
template <class Row>
EPI_INLINE float run(const GineNetwork::Weights& weights, std::size_t width, std::size_t vectors, ForwardPass& pass) {
    constexpr std::size_t C = kColumns<Row>;
    return vectors == 1 ? run_all<Row>(weights, width, C, pass) : run_all<Row>(weights, width, vectors * C, pass);
}

using Run = float (*)(const GineNetwork::Weights&, std::size_t, std::size_t, ForwardPass&);

float run_anywhere(const GineNetwork::Weights& weights, std::size_t width, std::size_t vectors, ForwardPass& pass) {
    return run<Row4>(weights, width, vectors, pass);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) float run_with_avx2(const GineNetwork::Weights& weights, std::size_t width,
                                                        std::size_t vectors, ForwardPass& pass) {
    return run<Row8>(weights, width, vectors, pass);
}

Run choose_run() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? run_with_avx2 : run_anywhere;
}
#else
Run choose_run() { return run_anywhere; }
#endif

const Run kRun = choose_run();

std::size_t vectors(std::size_t width) { return (width + kLanes - 1) / kLanes; }

std::string format_shape(const std::vector<std::optional<std::size_t>>& shape) {
    std::string text = "(";
    for (const auto& size : shape) text += (text.size() > 1 ? ", " : "") + (size ? std::to_string(*size) : "any");
    return text + ")";
}

// Returns an array of the state after checking its shape, in which unknown sizes are empty.
const Tensor& find(const Tensors& state, const std::string& name, const std::vector<std::optional<std::size_t>>& shape) {
    const auto found = state.find(name);
    if (found == state.end()) throw std::invalid_argument("the network has no array '" + name + "'");
    const auto& own = found->second.shape;
    bool fits = own.size() == shape.size();
    for (std::size_t k = 0; fits && k < own.size(); ++k) fits = own[k] > 0 && own[k] == shape[k].value_or(own[k]);
    if (!fits)
        throw std::invalid_argument("the array '" + name + "' has the shape " + format_shape({own.begin(), own.end()}) +
                                    ", expected " + format_shape(shape));
    return found->second;
}

// Pads rows of floats.
LaneTable pad(const float* data, std::size_t count, std::size_t width) {
    const std::size_t n = vectors(width);
    LaneTable table(count * n, Lanes{});
    for (std::size_t r = 0; r < count; ++r)
        for (std::size_t c = 0; c < width; ++c) table[r * n + c / kLanes].lane[c % kLanes] = data[r * width + c];
    return table;
}

// Transposes and pads a matrix of outputs x (groups x width).
LaneTable transpose(const float* data, std::size_t outputs, std::size_t groups, std::size_t width) {
    const std::size_t n_out = vectors(outputs), depth = vectors(width) * kLanes;
    LaneTable table(groups * depth * n_out, Lanes{});
    for (std::size_t out = 0; out < outputs; ++out)
        for (std::size_t group = 0; group < groups; ++group)
            for (std::size_t k = 0; k < width; ++k)
                table[(group * depth + k) * n_out + out / kLanes].lane[out % kLanes] = *data++;
    return table;
}

}  // namespace

GineNetwork::GineNetwork(const Tensors& state, std::vector<std::int64_t> index) : index_(std::move(index)) {
    width_ = find(state, "last.weight", {1, {}}).shape[1];
    vectors_ = vectors(width_);
    const auto vector = [&](const std::string& name) { return pad(find(state, name, {width_}).data, 1, width_); };
    const auto square = [&](const std::string& name) {
        return transpose(find(state, name, {width_, width_}).data, width_, 1, width_);
    };
    const auto table = [&](const std::string& name, std::optional<std::size_t> count) {
        const Tensor& found = find(state, name, {count, width_});
        return pad(found.data, found.shape[0], width_);
    };
    if (state.contains("states.weight")) states_ = table("states.weight", {});
    if (state.contains("types.weight")) types_ = table("types.weight", {});
    const auto rows_of_types = static_cast<std::int64_t>(types_.size() / vectors_);
    if (std::ranges::any_of(index_, [&](auto row) { return row < 0 || row >= rows_of_types; }))
        throw std::invalid_argument("the array 'index' names rows that 'types.weight' does not have");
    relations_ = find(state, "layers.0.relations.weight", {{}, width_}).shape[0];
    for (std::size_t k = 0; state.contains("layers." + std::to_string(k) + ".relations.weight"); ++k) {
        const std::string name = "layers." + std::to_string(k) + ".", inner = name + "convolution.nn.";
        weights_.layers.push_back({table(name + "relations.weight", relations_), square(inner + "0.weight"),
                                   vector(inner + "0.bias"), square(inner + "2.weight"), vector(inner + "2.bias"),
                                   vector(name + "norm.weight"), vector(name + "norm.bias")});
    }
    const Tensor& head = find(state, "head.0.weight", {width_, {}});
    kinds_ = head.shape[1] / (2 * width_);
    find(state, "head.0.weight", {width_, 2 * std::max<std::size_t>(kinds_, 1) * width_});
    weights_.head = transpose(head.data, width_, 2 * kinds_, width_);
    weights_.head_bias = vector("head.0.bias");
    const float* each_bias = find(state, "each.bias", {kinds_}).data;
    weights_.each = table("each.weight", kinds_);
    weights_.each_bias.assign(each_bias, each_bias + kinds_);
    weights_.last = pad(find(state, "last.weight", {1, width_}).data, 1, width_);
    weights_.last_bias = *find(state, "last.bias", {1}).data;
    weights_.ones = pad(std::vector(width_, 1.0F).data(), 1, width_);
}

void GineNetwork::reset(std::size_t nodes, ForwardPass& pass) const {
    const std::size_t size = (nodes + kBlock - 1) / kBlock * kBlock * vectors_;
    pass.kind.resize(nodes);
    pass.x.assign(size, Lanes{});
    pass.next.resize(size);
    pass.sums.resize(kBlock * vectors_);
    pass.hidden.resize(kBlock * vectors_);
    pass.pooled.resize(2 * kinds_ * vectors_);
    pass.count.resize(kinds_);
}

void GineNetwork::embed(std::size_t node, std::size_t state, const std::int64_t* types, std::size_t count,
                        ForwardPass& pass) const {
    Lanes* x = pass.x.data() + node * vectors_;
    const auto add = [&](const LaneTable& table, std::size_t row) {
        for (std::size_t j = 0; j < vectors_; ++j)
            for (std::size_t k = 0; k < kLanes; ++k) x[j].lane[k] += table[row * vectors_ + j].lane[k];
    };
    add(states_, state);
    for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t row = index_.empty() ? types[k] : index_[static_cast<std::size_t>(types[k])];
        if (row != 0) add(types_, static_cast<std::size_t>(row));
    }
}

float GineNetwork::run(const std::vector<Edge>& edges, ForwardPass& pass) const {
    const std::size_t nodes = (pass.kind.size() + kBlock - 1) / kBlock * kBlock;
    pass.first.assign(nodes + 2, 0);  // shifted by one until all edges are in place
    for (const auto& edge : edges) ++pass.first[edge.target + 2];
    std::partial_sum(pass.first.begin(), pass.first.end(), pass.first.begin());
    pass.incoming.resize(edges.size());
    const auto row = [&](std::uint32_t number) { return number * static_cast<std::uint32_t>(vectors_); };
    for (const auto& edge : edges) pass.incoming[pass.first[edge.target + 1]++] = {row(edge.source), row(edge.relation)};
    return kRun(weights_, width_, vectors_, pass);
}

void GineNetwork::check(const RelationalGraphs& graphs) const {
    const auto require = [](bool fits, const char* name) {
        if (!fits) throw std::invalid_argument("the array '" + std::string(name) + "' does not fit relational graphs");
    };
    require(kinds_ == kNodeKinds, "head.0.weight");
    require(relations_ == kEdgeRelations, "layers.0.relations.weight");
    require(states() == kNodeStates, "states.weight");
    require(graphs.largest_type() < static_cast<std::int64_t>(types()), index_.empty() ? "types.weight" : "index");
}

float GineNetwork::value(const TypedGraph& graph, const RelationalGraphs& graphs, ForwardPass& pass) const {
    reset(graph.state.size(), pass);
    for (std::size_t node = 0; node < graph.state.size(); ++node) {
        pass.kind[node] = kKindOfState[graph.state[node]];
        embed(node, graph.state[node], graphs.types(graph.place[node]), graphs.columns(), pass);
    }
    return run(graph.edges, pass);
}

void GineNetwork::check(const GraphInput& in) const {
    const auto require = [](bool fits, const char* name, const char* what) {
        if (!fits) throw std::invalid_argument("the array '" + std::string(name) + "' " + what);
    };
    const bool has_features = in.columns == 0;
    const std::size_t nodes = has_features ? in.kind.size() : in.nodes.size() / in.columns;
    if (has_features) {
        require(in.width == width_, "features", "does not have the width of the network");
        require(in.features.size() == nodes * width_, "kind", "does not have one kind for each node");
        require(are_below(in.kind, kinds_), "kind", "has kinds that the network does not have");
    } else {
        require(states() > 0 && types() > 0, "nodes", "has states and types, but the network does not");
        for (std::size_t n = 0; n < nodes; ++n) {
            const auto row = in.nodes.subspan(n * in.columns, in.columns);
            require(are_below(row.first(1), kinds_), "nodes", "has kinds that the network does not have");
            require(are_below(row.subspan(1, 1), states()), "nodes", "has states that the network does not have");
            require(are_below(row.subspan(2), types()), "nodes", "has types that the network does not have");
        }
    }
    require(in.relation.size() == in.source.size(), "edge_label", "does not have one label for each edge");
    require(are_below(in.relation, relations_), "edge_label", "has relations that the network does not have");
    require(are_offsets(in.node_ptr, nodes), "node_ptr", "does not tell where the nodes of each graph start");
    require(are_offsets(in.edge_ptr, in.source.size()) && in.edge_ptr.size() == in.node_ptr.size(), "edge_ptr",
            "does not tell where the edges of each graph start");
    for (std::size_t k = 0; k + 1 < in.node_ptr.size(); ++k)
        for (auto e = static_cast<std::size_t>(in.edge_ptr[k]); e < static_cast<std::size_t>(in.edge_ptr[k + 1]); ++e)
            for (const auto end : {in.source[e], in.target[e]})
                require(end >= in.node_ptr[k] && end < in.node_ptr[k + 1], "edge_index", "has edges that leave their graph");
}

std::vector<float> GineNetwork::values(const GraphInput& in) const {
    check(in);
    ForwardPass pass;
    std::vector<float> out;
    for (std::size_t k = 0; k + 1 < in.node_ptr.size(); ++k) {
        const auto first = static_cast<std::size_t>(in.node_ptr[k]), end = static_cast<std::size_t>(in.node_ptr[k + 1]);
        reset(end - first, pass);
        for (std::size_t n = first; n < end; ++n) {
            if (in.columns == 0) {
                pass.kind[n - first] = static_cast<std::uint32_t>(in.kind[n]);
                std::copy_n(in.features.data() + n * width_, width_,
                            reinterpret_cast<float*>(pass.x.data() + (n - first) * vectors_));
            } else {
                const std::int64_t* node = in.nodes.data() + n * in.columns;
                pass.kind[n - first] = static_cast<std::uint32_t>(node[0]);
                embed(n - first, static_cast<std::size_t>(node[1]), node + 2, in.columns - 2, pass);
            }
        }
        pass.edges.clear();
        const auto own = [&](std::int64_t node) { return static_cast<std::uint32_t>(node - in.node_ptr[k]); };
        for (auto e = static_cast<std::size_t>(in.edge_ptr[k]); e < static_cast<std::size_t>(in.edge_ptr[k + 1]); ++e)
            pass.edges.push_back({own(in.source[e]), own(in.target[e]), static_cast<std::uint32_t>(in.relation[e])});
        out.push_back(run(pass.edges, pass));
    }
    return out;
}

}  // namespace epi
