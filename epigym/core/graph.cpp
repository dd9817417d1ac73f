#include "graph.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace epi {

namespace {

constexpr std::int64_t kDesignatedLabel = 2;  // epsilon -> designated world
constexpr std::int64_t kFirstAgentLabel = 3;  // w -> v under agent 0

// Calls work(k) for k in [0, n), divided evenly among threads.
template <class Work>
void in_parallel(std::size_t n, unsigned threads, Work&& work) {
    const auto run = [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) work(k);
    };
    std::vector<std::jthread> pool;
    for (unsigned t = 1; t < threads; ++t) pool.emplace_back(run, n * t / threads, n * (t + 1) / threads);
    run(0, threads > 1 ? n / threads : n);
}

template <class Action>
decltype(auto) with_model(const Space& space, StateId id, Action&& action) {
    const std::uint8_t* packed = space.packed(id);
    return with_policy(packed_worlds(packed), [&]<class P>() -> decltype(auto) {
        Model<P> model;
        unpack(packed, space.task().fluents, space.task().agents, model);
        return action(model);
    });
}

template <class Set>
std::int64_t size_of(const Set& set) {
    std::int64_t count = 0;
    each(set, [&](World) { ++count; });
    return count;
}

}  // namespace

void WorldLabels::label(const Space& space, std::span<const StateId> ids, std::vector<std::int32_t>& out) {
    const std::size_t bytes = (space.task().fluents + 7) / 8;
    std::vector<std::string> valuation;
    for (StateId id : ids) {
        with_model(space, id, [&](const auto& model) {
            valuation.assign(model.worlds, std::string(bytes, '\0'));
            for (std::size_t f = 0; f < model.valuation.size(); ++f)
                each(model.valuation[f], [&](World w) { valuation[w][f / 8] |= static_cast<char>(1 << (f % 8)); });
            std::int64_t repetition = 0;
            for (World w = 0; w < model.worlds; ++w) {
                // Worlds of equal valuation are neighbours in canonical order.
                repetition = w > 0 && valuation[w] == valuation[w - 1] ? repetition + 1 : 0;
                std::string key = valuation[w];
                key.append(reinterpret_cast<const char*>(&repetition), sizeof repetition);
                const auto [entry, is_new] = number_.emplace(std::move(key), static_cast<std::int32_t>(size()));
                if (is_new) {
                    key_.push_back(&entry->first);
                    repetition_.push_back(repetition);
                }
                out.push_back(entry->second);
            }
        });
    }
}

void WorldLabels::describe(std::size_t first, std::uint32_t fluents, std::uint8_t* valuations,
                           std::int64_t* repetitions) const {
    for (std::size_t k = first; k < size(); ++k) {
        for (std::uint32_t f = 0; f < fluents; ++f) *valuations++ = (*key_[k])[f / 8] >> (f % 8) & 1;
        *repetitions++ = repetition_[k];
    }
}

GraphLayout layout(const Space& space, std::span<const StateId> ids, const GoalPart& goal, unsigned threads) {
    for (StateId id : ids) space.packed(id);
    GraphLayout result;
    result.node.assign(ids.size() + 1, 0);
    result.edge.assign(ids.size() + 1, 0);
    result.world.assign(ids.size() + 1, 0);
    in_parallel(ids.size(), threads, [&](std::size_t k) {
        with_model(space, ids[k], [&](const auto& model) {
            std::int64_t edges = size_of(model.designated);
            for (std::uint32_t i = 0; i < model.agents(); ++i)
                for (const auto& row : model.rows(i)) edges += size_of(row.members) * size_of(row.successors);
            result.world[k + 1] = model.worlds;
            result.node[k + 1] = static_cast<std::int64_t>(goal.nodes) + model.worlds;
            result.edge[k + 1] = static_cast<std::int64_t>(goal.edges) + edges;
        });
    });
    for (std::size_t k = 0; k < ids.size(); ++k) {
        result.world[k + 1] += result.world[k];
        result.node[k + 1] += result.node[k];
        result.edge[k + 1] += result.edge[k];
    }
    return result;
}

void write_graphs(const Space& space, std::span<const StateId> ids, const GoalPart& goal, const GraphLayout& layout,
                  std::size_t width, const std::uint8_t* world_bits, const std::int32_t* labels, unsigned threads,
                  std::uint8_t* node_bits, std::int64_t* edge_index, std::int64_t* edge_label) {
    const std::int64_t total_edges = layout.edge.back();
    in_parallel(ids.size(), threads, [&](std::size_t k) {
        const std::int64_t first_node = layout.node[k];
        const std::int64_t first_world = first_node + static_cast<std::int64_t>(goal.nodes);
        std::int64_t at = layout.edge[k];
        const auto add_edge = [&](std::int64_t from, std::int64_t to, std::int64_t label) {
            edge_index[at] = from;
            edge_index[total_edges + at] = to;
            edge_label[at++] = label;
        };
        std::memcpy(node_bits + static_cast<std::size_t>(first_node) * width, goal.bits, goal.nodes * width);
        for (std::size_t e = 0; e < goal.edges; ++e)
            add_edge(first_node + goal.edge_index[e], first_node + goal.edge_index[goal.edges + e], goal.edge_label[e]);
        with_model(space, ids[k], [&](const auto& model) {
            const std::int32_t* label = labels + layout.world[k];
            for (World w = 0; w < model.worlds; ++w)
                std::memcpy(node_bits + static_cast<std::size_t>(first_world + w) * width,
                            world_bits + static_cast<std::size_t>(label[w]) * width, width);
            each(model.designated, [&](World w) { add_edge(first_node, first_world + w, kDesignatedLabel); });
            std::vector<std::uint32_t> row_of(model.worlds);
            for (std::uint32_t i = 0; i < model.agents(); ++i) {
                const auto rows = model.rows(i);
                for (std::uint32_t r = 0; r < rows.size(); ++r) each(rows[r].members, [&](World w) { row_of[w] = r; });
                for (World w = 0; w < model.worlds; ++w)
                    each(rows[row_of[w]].successors,
                         [&](World v) { add_edge(first_world + w, first_world + v, kFirstAgentLabel + i); });
            }
        });
    });
}

namespace {

using Numbering = std::unordered_map<std::uint64_t, std::int64_t>;

// The finaliser of splitmix64.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

void refine_one(const auto& model, std::span<const std::int64_t> colour, Numbering& multisets, Numbering& colours,
                std::vector<std::vector<std::int64_t>>& incoming, Refinement& out) {
    const auto agents = static_cast<std::int64_t>(model.agents());
    std::vector<std::uint64_t> hash(model.worlds, 0);
    if (incoming.size() < model.worlds) incoming.resize(model.worlds);
    for (std::uint32_t i = 0; i < model.agents(); ++i) {
        for (const auto& row : model.rows(i)) {
            std::uint64_t sum = 0;
            each(row.members, [&](World w) { sum += mix(static_cast<std::uint64_t>(colour[w] * agents + i)); });
            const auto [entry, is_new] = multisets.emplace(sum, static_cast<std::int64_t>(multisets.size()));
            if (is_new) {
                each(row.members, [&](World w) { out.sent.push_back(colour[w] * agents + i); });
                out.sent_first.push_back(static_cast<std::int64_t>(out.sent.size()));
            }
            const std::int64_t number = entry->second;
            each(row.successors, [&](World w) {
                hash[w] += mix(static_cast<std::uint64_t>(number));
                incoming[w].push_back(number);
            });
        }
    }
    std::vector<std::uint8_t> is_designated(model.worlds, 0);
    each(model.designated, [&](World w) { is_designated[w] = 1; });
    for (World w = 0; w < model.worlds; ++w) {
        const std::uint64_t own = mix(2 * static_cast<std::uint64_t>(colour[w]) + is_designated[w]);
        const auto [entry, is_new] = colours.emplace(mix(hash[w]) + own, static_cast<std::int64_t>(colours.size()));
        if (is_new) {
            out.received.insert(out.received.end(), incoming[w].begin(), incoming[w].end());
            out.received_first.push_back(static_cast<std::int64_t>(out.received.size()));
            out.own.push_back(colour[w]);
            if (is_designated[w]) out.designated.push_back(entry->second);
        }
        out.colour.push_back(entry->second);
        incoming[w].clear();
    }
}

}  // namespace

Refinement refine(const Space& space, std::span<const StateId> ids, std::span<const std::int64_t> colour) {
    std::size_t worlds = 0;
    for (StateId id : ids) worlds += packed_worlds(space.packed(id));
    if (worlds != colour.size()) throw std::invalid_argument("one colour for every world of the e-states is needed");
    Refinement out;
    Numbering multisets, colours;
    std::vector<std::vector<std::int64_t>> incoming;
    for (StateId id : ids)
        with_model(space, id, [&](const auto& model) {
            refine_one(model, colour.subspan(out.colour.size()), multisets, colours, incoming, out);
        });
    return out;
}

}  // namespace epi
