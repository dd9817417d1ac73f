#include "rows.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "arrays.hpp"
#include "hashing.hpp"

namespace epi {

namespace {

constexpr std::int64_t kDesignatedLabel = 2;  // epsilon -> designated world
constexpr std::int64_t kFirstAgentLabel = 3;  // w -> v under agent 0

}  // namespace

template <class P>
void WorldLabels::label(const Model<P>& model, std::vector<std::int32_t>& out) {
    std::lock_guard lock(mutex_);
    if (fluents_.value_or(model.valuation.size()) != model.valuation.size())
        throw std::invalid_argument("these labels are of worlds over another number of fluents");
    fluents_ = model.valuation.size();
    const std::size_t bytes = (model.valuation.size() + 7) / 8;
    std::int64_t repetition = 0;
    if (keys_.size() < model.worlds) keys_.resize(model.worlds);
    for (World w = 0; w < model.worlds; ++w) keys_[w].assign(bytes, '\0');
    for (std::size_t f = 0; f < model.valuation.size(); ++f)
        each(model.valuation[f], [&](World w) { keys_[w][f / 8] |= static_cast<char>(1 << (f % 8)); });
    for (World w = 0; w < model.worlds; ++w) {
        // Worlds of equal valuation are neighbours in canonical order.
        const bool repeats = w > 0 && keys_[w].compare(0, bytes, keys_[w - 1], 0, bytes) == 0;
        repetition = repeats ? repetition + 1 : 0;
        keys_[w].append(reinterpret_cast<const char*>(&repetition), sizeof repetition);
        // Out of memory, these may be longer than the table, but never shorter.
        key_.resize(number_.size() + 1);
        repetition_.resize(number_.size() + 1);
        const auto [entry, is_new] = number_.try_emplace(keys_[w], static_cast<std::int32_t>(number_.size()));
        if (is_new) {
            key_[number_.size() - 1] = &entry->first;
            repetition_[number_.size() - 1] = repetition;
        }
        out.push_back(entry->second);
    }
}

void WorldLabels::describe(std::size_t first, std::size_t end, std::uint32_t fluents, std::uint8_t* valuations,
                           std::int64_t* repetitions) const {
    std::lock_guard lock(mutex_);
    if (fluents_.value_or(fluents) != fluents)
        throw std::invalid_argument("these labels are of worlds over another number of fluents");
    for (std::size_t k = first; k < end; ++k) {
        for (std::uint32_t f = 0; f < fluents; ++f) *valuations++ = (*key_[k])[f / 8] >> (f % 8) & 1;
        *repetitions++ = repetition_[k];
    }
}

namespace {

template <class P>
void append(const Model<P>& model, WorldLabels* labels, Rows& out) {
    if (labels) labels->label(model, out.label);
    else
        for (World w = 0; w < model.worlds; ++w) out.label.push_back(static_cast<std::int32_t>(w));
    const std::size_t first = out.designated.size(), agents = model.agents();
    out.designated.resize(first + model.worlds, 0);
    each(model.designated, [&](World w) { out.designated[first + w] = 1; });
    out.row_of.resize(out.row_of.size() + model.worlds * agents);
    std::int32_t* const row_of = out.row_of.data() + first * agents;
    std::int32_t number = 0;
    for (std::uint32_t r = 0; r < model.relations(); ++r) {
        for (const auto& row : model.relation(r)) {
            for (std::uint32_t i = 0; i < agents; ++i)
                if (model.relation_of[i] == r) each(row.members, [&](World w) { row_of[w * agents + i] = number; });
            each(row.successors, [&](World w) { out.successor.push_back(static_cast<std::int32_t>(w)); });
            out.successor_ptr.push_back(static_cast<std::int64_t>(out.successor.size()));
            ++number;
        }
    }
    out.world_ptr.push_back(static_cast<std::int64_t>(out.designated.size()));
    out.row_ptr.push_back(out.row_ptr.back() + number);
}

using Numbering = std::unordered_map<std::uint64_t, std::int64_t>;

std::uint64_t spread(std::uint64_t x) { return mix(x + kGolden); }

// Refines one e-state after another and reuses the memory.
class Refiner {
public:
    Refiner(const RowsView& rows, std::span<const std::int64_t> colour) : rows_(rows), colour_(colour) {
        out_.colour.reserve(colour.size());
    }

    Refinement run() && {
        for (std::size_t k = 0; k < rows_.states(); ++k) refine(k);
        return std::move(out_);
    }

private:
    std::int64_t message(std::size_t world, std::size_t agent) const {
        return colour_[world] * static_cast<std::int64_t>(rows_.agents()) + static_cast<std::int64_t>(agent);
    }

    void refine(std::size_t state) {
        const auto first = static_cast<std::size_t>(rows_.world_ptr[state]);
        const auto end = static_cast<std::size_t>(rows_.world_ptr[state + 1]);
        number_multisets(state, first, end);
        hash_.assign(end - first, 0);
        each_delivery(state, [&](std::int64_t multiset, std::size_t target) {
            hash_[target] += spread(static_cast<std::uint64_t>(multiset));
        });
        const std::size_t known = colours_.size();
        for (std::size_t w = first; w < end; ++w) number_colour(w, hash_[w - first]);
        if (colours_.size() > known) list_received(state, first, end, static_cast<std::int64_t>(known));
    }

    // Numbers the multiset of messages that the worlds of each row send under each agent.
    void number_multisets(std::size_t state, std::size_t first, std::size_t end) {
        const std::size_t agents = rows_.agents();
        const auto rows = static_cast<std::size_t>(rows_.row_ptr[state + 1] - rows_.row_ptr[state]);
        sums_.assign(rows * agents, 0);
        senders_.assign(rows * agents, 0);
        for (std::size_t w = first; w < end; ++w) {
            for (std::size_t i = 0; i < agents; ++i) {
                const std::int32_t row = rows_.row_of[w * agents + i];
                if (row < 0) continue;
                const std::size_t at = static_cast<std::size_t>(row) * agents + i;
                sums_[at] += spread(static_cast<std::uint64_t>(message(w, i)));
                ++senders_[at];
            }
        }
        multiset_.assign(rows * agents, -1);
        const std::size_t known = multisets_.size();
        for (std::size_t at = 0; at < sums_.size(); ++at) {
            if (senders_[at] == 0) continue;
            const auto [entry, is_new] = multisets_.try_emplace(sums_[at], static_cast<std::int64_t>(multisets_.size()));
            multiset_[at] = entry->second;
            if (is_new) out_.sent_ptr.push_back(out_.sent_ptr.back() + senders_[at]);
        }
        if (multisets_.size() == known) return;
        // The worlds of the first row that sent a new multiset fill it.
        out_.sent.resize(static_cast<std::size_t>(out_.sent_ptr.back()));
        fill_.assign(multisets_.size() - known, {-1, 0});
        for (std::size_t at = 0; at < multiset_.size(); ++at) {
            if (multiset_[at] < static_cast<std::int64_t>(known)) continue;
            const auto number = static_cast<std::size_t>(multiset_[at]);
            if (auto& [row, next] = fill_[number - known]; row < 0) {
                row = static_cast<std::int64_t>(at);
                next = out_.sent_ptr[number];
            }
        }
        for (std::size_t w = first; w < end; ++w) {
            for (std::size_t i = 0; i < agents; ++i) {
                const std::int32_t row = rows_.row_of[w * agents + i];
                if (row < 0) continue;
                const std::size_t at = static_cast<std::size_t>(row) * agents + i;
                if (multiset_[at] < static_cast<std::int64_t>(known)) continue;
                auto& [filled_by, next] = fill_[static_cast<std::size_t>(multiset_[at]) - known];
                if (filled_by == static_cast<std::int64_t>(at))
                    out_.sent[static_cast<std::size_t>(next++)] = message(w, i);
            }
        }
    }

    // Calls visit(multiset, target) for every multiset that a world of the e-state receives; targets count from 0.
    template <class Visit>
    void each_delivery(std::size_t state, Visit&& visit) const {
        const std::size_t agents = rows_.agents();
        for (std::size_t at = 0; at < multiset_.size(); ++at) {
            if (multiset_[at] < 0) continue;
            const auto row = rows_.row_ptr[state] + static_cast<std::int64_t>(at / agents);
            for (std::int32_t v : rows_.successors(row)) visit(multiset_[at], static_cast<std::size_t>(v));
        }
    }

    void number_colour(std::size_t world, std::uint64_t received) {
        const bool designated = rows_.designated[world] != 0;
        const std::uint64_t own = spread(2 * static_cast<std::uint64_t>(colour_[world]) + (designated ? 1 : 0));
        const auto [entry, is_new] = colours_.try_emplace(spread(received) + own, static_cast<std::int64_t>(colours_.size()));
        if (is_new) {
            out_.own.push_back(colour_[world]);
            if (designated) out_.designated.push_back(entry->second);
        }
        out_.colour.push_back(entry->second);
    }

    // Lists the multisets that the new colours, from `known` on, receive.
    void list_received(std::size_t state, std::size_t first, std::size_t end, std::int64_t known) {
        if (incoming_.size() < end - first) incoming_.resize(end - first);
        for (std::size_t w = 0; w < end - first; ++w) incoming_[w].clear();
        each_delivery(state, [&](std::int64_t multiset, std::size_t target) { incoming_[target].push_back(multiset); });
        for (std::size_t w = first; w < end; ++w) {
            if (out_.colour[w] != known) continue;  // listed before
            const auto& received = incoming_[w - first];
            out_.received.insert(out_.received.end(), received.begin(), received.end());
            out_.received_ptr.push_back(static_cast<std::int64_t>(out_.received.size()));
            ++known;
        }
    }

    struct Filling {
        std::int64_t row, next;
    };

    const RowsView rows_;
    const std::span<const std::int64_t> colour_;
    Numbering multisets_, colours_;
    std::vector<std::uint64_t> sums_, hash_;                // per row and agent; per world
    std::vector<std::int64_t> senders_, multiset_;          // per row and agent
    std::vector<Filling> fill_;                             // per new multiset
    std::vector<std::vector<std::int64_t>> incoming_;       // per world
    Refinement out_;
};

}  // namespace

Rows rows_of(const Space& space, std::span<const StateId> ids, WorldLabels* labels) {
    Rows out;
    PerPolicy<Model> models;
    for (StateId id : ids) {
        const std::uint8_t* packed = space.packed_form(id);
        with_policy(count_worlds(packed), [&]<class P>() {
            auto& model = std::get<std::unique_ptr<Model<P>>>(models);
            if (!model) model = std::make_unique<Model<P>>();
            unpack(packed, space.task().fluents, space.task().agents, *model);
            append(*model, labels, out);
        });
    }
    return out;
}

void RowsView::check() const {
    bool fits = row_ptr.size() == world_ptr.size() && are_offsets(world_ptr, worlds()) &&
                are_offsets(row_ptr, count_rows(successor_ptr)) && are_offsets(successor_ptr, successor.size()) &&
                row_of.size() == worlds() * agents() && are_within(designated, 0, 2);
    for (std::size_t k = 0; fits && k < states(); ++k) {
        const auto part = [&](auto values, std::int64_t begin, std::int64_t end) {
            return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        };
        const std::int64_t first = world_ptr[k], end = world_ptr[k + 1];
        const auto columns = static_cast<std::int64_t>(agents());
        fits = are_within(part(row_of, first * columns, end * columns), -1, row_ptr[k + 1] - row_ptr[k]) &&
               are_within(part(successor, successor_ptr[static_cast<std::size_t>(row_ptr[k])],
                               successor_ptr[static_cast<std::size_t>(row_ptr[k + 1])]),
                          0, end - first);
    }
    if (!fits) throw std::invalid_argument("the arrays of these rows do not fit together");
}

void check(const RowsView& rows, const GoalParts& goals, std::span<const std::int32_t> label, std::size_t identifiers) {
    const auto at = [](std::int64_t position) { return static_cast<std::size_t>(position); };
    const std::size_t edges = goals.edge_label.size(), count = count_rows(goals.node_ptr);
    bool fits = goals.from.size() == edges && goals.to.size() == edges && goals.edge_ptr.size() == goals.node_ptr.size() &&
                are_offsets(goals.edge_ptr, edges) && are_offsets(goals.node_ptr, goals.nodes) &&
                goals.of.size() == rows.states() && are_below(goals.of, count);
    for (std::size_t g = 0; fits && g < count; ++g) {
        const std::size_t first = at(goals.edge_ptr[g]), size = at(goals.edge_ptr[g + 1]) - first;
        for (const auto& ends : {goals.from, goals.to})
            fits = fits && are_within(ends.subspan(first, size), goals.node_ptr[g], goals.node_ptr[g + 1]);
    }
    if (!fits) throw std::invalid_argument("the arrays of the goal part do not fit together");
    if (label.size() != rows.worlds() || !are_below(label, identifiers))
        throw std::invalid_argument("labels or identifiers do not fit the worlds");
}

GraphLayout compute_layout(const RowsView& rows, const GoalParts& goals) {
    GraphLayout out;
    const std::size_t agents = rows.agents();
    for (std::size_t k = 0; k < rows.states(); ++k) {
        const auto first = static_cast<std::size_t>(rows.world_ptr[k]), end = static_cast<std::size_t>(rows.world_ptr[k + 1]);
        const auto goal = static_cast<std::size_t>(goals.of[k]);
        auto edges = static_cast<std::size_t>(goals.edge_ptr[goal + 1] - goals.edge_ptr[goal]);
        for (std::size_t w = first; w < end; ++w) {
            edges += rows.designated[w];
            for (std::size_t i = 0; i < agents; ++i)
                if (const std::int32_t row = rows.row_of[w * agents + i]; row >= 0)
                    edges += rows.successors(rows.row_ptr[k] + row).size();
        }
        const std::int64_t nodes = goals.node_ptr[goal + 1] - goals.node_ptr[goal];
        out.node_ptr.push_back(out.node_ptr.back() + nodes + static_cast<std::int64_t>(end - first));
        out.edge_ptr.push_back(out.edge_ptr.back() + static_cast<std::int64_t>(edges));
    }
    return out;
}

void write_graphs(const RowsView& rows, const GoalParts& goals, const GraphLayout& layout,
                  std::span<const std::int32_t> label, const std::uint8_t* identifiers, std::uint8_t* node_bits,
                  std::int64_t* edge_index, std::int64_t* edge_label) {
    const std::int64_t total = layout.edge_ptr.back();
    const std::size_t agents = rows.agents();
    std::int64_t at = 0;
    const auto add_edge = [&](std::int64_t from, std::int64_t to, std::int64_t label_) {
        edge_index[at] = from;
        edge_index[total + at] = to;
        edge_label[at++] = label_;
    };
    const auto add_bits = [&](const std::uint8_t* table, std::int64_t row, std::int64_t count) {
        const auto width = static_cast<std::int64_t>(goals.width);
        node_bits = std::copy_n(table + row * width, count * width, node_bits);  // count may be 0
    };
    for (std::size_t k = 0; k < rows.states(); ++k) {
        const auto first = static_cast<std::size_t>(rows.world_ptr[k]), end = static_cast<std::size_t>(rows.world_ptr[k + 1]);
        const auto goal = static_cast<std::size_t>(goals.of[k]);
        const std::int64_t root = layout.node_ptr[k], goal_root = goals.node_ptr[goal];
        const std::int64_t goal_nodes = goals.node_ptr[goal + 1] - goal_root;
        // The node of world w is w plus this.
        const std::int64_t shift = root + goal_nodes - static_cast<std::int64_t>(first);
        add_bits(goals.bits, goal_root, goal_nodes);
        for (std::size_t w = first; w < end; ++w) add_bits(identifiers, label[w], 1);
        for (auto e = static_cast<std::size_t>(goals.edge_ptr[goal]); e < static_cast<std::size_t>(goals.edge_ptr[goal + 1]); ++e)
            add_edge(root + goals.from[e] - goal_root, root + goals.to[e] - goal_root, goals.edge_label[e]);
        for (std::size_t w = first; w < end; ++w)
            if (rows.designated[w]) add_edge(root, shift + static_cast<std::int64_t>(w), kDesignatedLabel);
        for (std::size_t i = 0; i < agents; ++i) {
            for (std::size_t w = first; w < end; ++w) {
                const std::int32_t row = rows.row_of[w * agents + i];
                if (row < 0) continue;
                for (std::int32_t v : rows.successors(rows.row_ptr[k] + row))
                    add_edge(shift + static_cast<std::int64_t>(w), shift + static_cast<std::int64_t>(first) + v,
                             kFirstAgentLabel + static_cast<std::int64_t>(i));
            }
        }
    }
}

Refinement refine(const RowsView& rows, std::span<const std::int64_t> colour) {
    if (colour.size() != rows.worlds()) throw std::invalid_argument("one colour for every world is needed");
    // A message is a colour times the number of agents, plus an agent.
    if (!are_within(colour, 0, std::numeric_limits<std::int64_t>::max() / 2 / static_cast<std::int64_t>(rows.agents() + 1)))
        throw std::invalid_argument("a colour is negative or too large");
    return Refiner(rows, colour).run();
}

}  // namespace epi
