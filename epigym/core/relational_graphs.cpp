#include "relational_graphs.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace epi {

namespace {

// Appends the reverse of every edge.
void add_reversed(std::vector<Edge>& edges) {
    const std::size_t count = edges.size();
    edges.resize(2 * count);
    for (std::size_t e = 0; e < count; ++e)
        edges[count + e] = {edges[e].target, edges[e].source, edges[e].relation + kBack};
}

// The relation to an argument by its position, counted from 1.
std::uint32_t argument(std::uint32_t first, Colour place) {
    if (place == 0) throw std::invalid_argument("places of arguments do not fit");
    return first + static_cast<std::uint32_t>(std::min<Colour>(place, kPlaces)) - 1;
}

}  // namespace

RelationalGraphs::RelationalGraphs(const Space& space, FeatureTables tables, std::vector<std::int64_t> types,
                                   std::size_t columns)
    : space_(&space),
      tables_(std::move(tables)),
      types_(std::move(types)),
      columns_(columns),
      fluents_(space.task().fluents),
      agents_(space.task().agents),
      evaluators_(tables_.formulas, fluents_, agents_),
      atoms_(fluents_, agents_, tables_.goal.size()),
      fluent_holds_(fluents_),
      goal_holds_(tables_.goal.size()) {
    check(tables_, fluents_, agents_);
    goal_at_ = static_cast<std::uint32_t>(tables_.objects.size());
    fact_at_ = goal_at_ + static_cast<std::uint32_t>(tables_.goal.size());
    fluent_at_ = fact_at_ + static_cast<std::uint32_t>(tables_.fact_fine.size());
    belief_at_ = fluent_at_ + fluents_;
    untyped_ = belief_at_ + agents_ * fluents_;
    if (types_.size() != untyped_ * columns_ || std::ranges::any_of(types_, [](auto type) { return type < 0; }))
        throw std::invalid_argument("types of nodes do not fit");
    types_.resize(types_.size() + columns_, 0);
    largest_type_ = types_.empty() ? 0 : std::ranges::max(types_);
    node_.resize(belief_at_);
    std::iota(node_.begin(), node_.end(), 0);
    list_edges();
}

std::unique_ptr<RelationalGraphs> RelationalGraphs::copy() const {
    std::vector types(types_.begin(), types_.end() - static_cast<std::ptrdiff_t>(columns_));
    return std::make_unique<RelationalGraphs>(*space_, tables_, std::move(types), columns_);
}

void RelationalGraphs::list_edges() {
    const auto each_edge = [](const FeatureTables::Edges& edges, auto&& visit) {
        for (std::uint32_t row = 0; row + 1 < edges.ptr.size(); ++row)
            for (auto k = static_cast<std::size_t>(edges.ptr[row]); k < static_cast<std::size_t>(edges.ptr[row + 1]); ++k)
                visit(row, static_cast<std::uint32_t>(edges.object[k]), edges.label[k]);
    };
    const auto op = [&](std::uint32_t goal) { return tables_.formulas.op[tables_.goal[goal]]; };
    each_edge(tables_.fluent_edges, [&](std::uint32_t fluent, std::uint32_t object, Colour place) {
        fluent_edges_.push_back({fluent_at_ + fluent, object, argument(kArgument, place)});
    });
    for (auto first : tables_.fluent_edges.ptr) fluent_edge_ptr_.push_back(static_cast<std::uint32_t>(first));
    each_edge(tables_.fact_edges, [&](std::uint32_t fact, std::uint32_t object, Colour place) {
        fixed_edges_.push_back({fact_at_ + fact, object, argument(kArgument, place)});
    });
    each_edge(tables_.goal_edges, [&](std::uint32_t goal, std::uint32_t object, Colour label) {
        const std::uint32_t relation = op(goal) == Op::Fluent ? argument(kLeaf, label & 0xFF) : std::uint32_t{kWho};
        fixed_edges_.push_back({goal_at_ + goal, object, relation});
    });
    for (std::uint32_t goal = 0; goal < tables_.goal.size(); ++goal) {
        for (auto k = tables_.child_ptr[goal]; k < tables_.child_ptr[goal + 1]; ++k) {
            const auto child = static_cast<std::uint32_t>(tables_.child[static_cast<std::size_t>(k)]);
            child_edges_.push_back({goal_at_ + goal, goal_at_ + child, kChild});
        }
        if (op(goal) == Op::Fluent)
            child_edges_.push_back({goal_at_ + goal, fluent_at_ + tables_.formulas.fluent[tables_.goal[goal]], kAbout});
    }
}

void RelationalGraphs::add_places(std::uint32_t kind, std::uint32_t first, std::uint32_t end, TypedGraph& out) const {
    for (std::uint32_t place = first; place < end; ++place) {
        out.place.push_back(place);
        out.state.push_back(first_state(kind));
    }
}

void RelationalGraphs::build_without_worlds(TypedGraph& out) const {
    out.state.clear();
    out.place.clear();
    add_places(kObject, 0, goal_at_, out);
    add_places(kGoal, goal_at_, fact_at_, out);
    add_places(kFact, fact_at_, fluent_at_, out);
    out.edges = fixed_edges_;
    std::ranges::copy_if(child_edges_, std::back_inserter(out.edges),
                         [](const Edge& edge) { return edge.relation == kChild; });
    add_reversed(out.edges);
}

void RelationalGraphs::build(StateId id, TypedGraph& out) {
    out.state.clear();
    out.place.clear();
    out.edges.clear();
    evaluators_.with(space_->packed_form(id), [&](auto& state) {
        atoms_.read(state, tables_.goal);
        choose_worlds(state);
        add_atoms(out);
        add_worlds(state.model, out);
    });
    add_reversed(out.edges);
}

template <class P>
void RelationalGraphs::choose_worlds(Evaluator<P>& state) {
    const auto& model = state.model;
    kept_.clear();
    rank_.assign(model.worlds, kMaxWorlds);
    const auto keep = [&](World w) {
        if (kept_.size() == kMaxWorlds) return;
        rank_[w] = static_cast<std::uint32_t>(kept_.size());
        kept_.push_back(w);
    };
    each(model.designated, keep);
    const bool is_in_order = kept_.back() + 1 == kept_.size();
    for (World w = 0; w < model.worlds && kept_.size() < kMaxWorlds; ++w)
        if (!model.designated.test(w)) keep(w);
    const auto among_kept = [&](const typename P::Set& where) {
        if constexpr (P::dense)
            if (is_in_order) return where.word;
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < kept_.size(); ++k) bits |= std::uint64_t{where.test(kept_[k])} << k;
        return bits;
    };
    std::ranges::transform(model.valuation, fluent_holds_.begin(), among_kept);
    std::ranges::transform(tables_.goal, goal_holds_.begin(),
                           [&](FormulaId goal) { return among_kept(state.truths.worlds(goal)); });
}

// Adds objects, the goal, facts, fluents and beliefs with the edges between them.
void RelationalGraphs::add_atoms(TypedGraph& out) {
    add_places(kObject, 0, goal_at_, out);
    add_places(kGoal, goal_at_, fact_at_, out);
    for (std::uint32_t place = goal_at_; place < fact_at_; ++place) out.state[place] += atoms_.goal[place - goal_at_];
    add_places(kFact, fact_at_, fluent_at_, out);
    const auto add = [&](std::uint32_t place, std::uint32_t state) {
        out.place.push_back(place);
        out.state.push_back(state);
        return static_cast<std::uint32_t>(out.state.size()) - 1;
    };
    for (std::uint32_t f = 0; f < fluents_; ++f) {
        auto& node = node_[fluent_at_ + f] = kNone;
        if (fluent_holds_[f] == 0 && !tables_.relevant_fluent[f]) continue;
        node = add(fluent_at_ + f, first_state(kFluent) + atoms_.fluent[f]);
        for (auto e = fluent_edge_ptr_[f]; e < fluent_edge_ptr_[f + 1]; ++e)
            out.edges.push_back({node, fluent_edges_[e].target, fluent_edges_[e].relation});
    }
    out.edges.insert(out.edges.end(), fixed_edges_.begin(), fixed_edges_.end());
    for (const auto& edge : child_edges_)
        if (node_[edge.target] != kNone) out.edges.push_back({edge.source, node_[edge.target], edge.relation});
    std::uint32_t belief = 0;
    for (std::uint32_t agent = 0; agent < agents_; ++agent) {
        const auto self = static_cast<std::uint32_t>(tables_.agent_object[agent]);
        for (std::uint32_t f = 0; f < fluents_; ++f, ++belief) {
            if (atoms_.belief[belief] == Atoms::kDefaultBelief && !tables_.relevant_belief[belief]) continue;
            const std::uint32_t node = add(belief_at_ + belief, first_state(kBelief) + atoms_.belief[belief]);
            out.edges.push_back({node, self, kWho});
            if (node_[fluent_at_ + f] != kNone) out.edges.push_back({node, node_[fluent_at_ + f], kAbout});
        }
    }
}

// Adds edges from worlds, which are the last nodes, to the nodes that hold there, world by world.
void RelationalGraphs::add_truths(const std::vector<std::uint64_t>& holds, const std::uint32_t* node, TypedGraph& out) {
    std::array<std::uint32_t, kMaxWorlds + 1> at{};
    for (auto where : holds) each_bit(where, 0, [&](World k) { ++at[k + 1]; });
    std::partial_sum(at.begin(), at.end(), at.begin());
    const auto first_world = static_cast<std::uint32_t>(out.state.size() - kept_.size());
    const std::size_t first = out.edges.size();
    out.edges.resize(first + at.back());
    for (std::size_t what = 0; what < holds.size(); ++what)
        each_bit(holds[what], 0, [&](World k) { out.edges[first + at[k]++] = {first_world + k, node[what], kHolds}; });
}

template <class P>
void RelationalGraphs::add_worlds(const Model<P>& model, TypedGraph& out) {
    const auto first_world = static_cast<std::uint32_t>(out.state.size());
    const auto worlds = static_cast<std::uint32_t>(kept_.size());
    for (World w : kept_) out.state.push_back(first_state(kWorld) + model.designated.test(w));
    add_truths(fluent_holds_, node_.data() + fluent_at_, out);
    add_truths(goal_holds_, node_.data() + goal_at_, out);
    const auto first_row = static_cast<std::uint32_t>(out.state.size());
    std::uint32_t row_node = first_row;
    row_at_.resize(std::size_t{worlds} * agents_);
    possible_.clear();
    who_.clear();
    for (std::uint32_t r = 0; r < model.relations(); ++r) {
        for (const auto& row : model.relation(r)) {
            for (std::uint32_t agent = 0; agent < agents_; ++agent) {
                if (model.relation_of[agent] != r) continue;
                bool is_node = false;
                each(row.members, [&](World w) {
                    if (rank_[w] == kMaxWorlds) return;
                    row_at_[rank_[w] * agents_ + agent] = row_node;
                    is_node = true;
                });
                if (!is_node) break;
                each(row.successors, [&](World w) {
                    if (rank_[w] != kMaxWorlds) possible_.push_back({row_node, first_world + rank_[w], kPossible});
                });
                who_.push_back({row_node++, static_cast<std::uint32_t>(tables_.agent_object[agent]), kWho});
            }
        }
    }
    for (std::uint32_t k = 0; k < worlds; ++k)
        for (std::uint32_t agent = 0; agent < agents_; ++agent)
            out.edges.push_back({first_world + k, row_at_[k * agents_ + agent], kAt});
    out.edges.insert(out.edges.end(), possible_.begin(), possible_.end());
    out.edges.insert(out.edges.end(), who_.begin(), who_.end());
    out.state.resize(row_node, first_state(kRow));
    out.place.resize(row_node, untyped_);
}

}  // namespace epi
