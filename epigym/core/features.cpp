#include "features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "checks.hpp"
#include "none.hpp"

namespace epi {

namespace {

// Labels of the edges from beliefs to agents and from subformulas to their parts.
constexpr Colour kWho = join_prefix(0x57484F), kChild = join_prefix(0x4348494C44);

// Labels that join a type with its truth value at worlds.
constexpr Colour kFluentTrue = 4, kGoalTrue = 5, kGoalFalse = 6;

void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(std::string(what) + " do not fit");
}

void require_sizes(std::size_t size, std::initializer_list<std::size_t> sizes, const char* what) {
    require(std::ranges::all_of(sizes, [&](std::size_t other) { return other == size; }), what);
}

void require_numbers(const std::vector<std::int32_t>& numbers, std::size_t end, const char* what) {
    require(std::ranges::all_of(numbers,
                                [&](std::int32_t n) { return n >= 0 && static_cast<std::size_t>(n) < end; }),
            what);
}

void require_ragged(const std::vector<std::int64_t>& ptr, std::size_t rows, std::size_t size, const char* what) {
    require(ptr.size() == rows + 1 && ptr.front() == 0 && std::ranges::is_sorted(ptr) &&
                static_cast<std::size_t>(ptr.back()) == size,
            what);
}

void require_edges(const FeatureTables::Edges& edges, std::size_t rows, std::size_t objects, const char* what) {
    require_ragged(edges.ptr, rows, edges.object.size(), what);
    require_sizes(edges.object.size(), {edges.label.size()}, what);
    require_numbers(edges.object, objects, what);
}

}  // namespace

void check(const FeatureTables& t, std::uint32_t fluents, std::uint32_t agents) {
    check(t.formulas, fluents, agents);
    const std::size_t objects = t.objects.size(), goals = t.goal.size(), beliefs = std::size_t{agents} * fluents;
    require_sizes(agents, {t.agent_object.size()}, "objects of agents");
    require_numbers(t.agent_object, objects, "objects of agents");
    require_sizes(fluents, {t.fluent_fine.size(), t.fluent_coarse.size(), t.relevant_fluent.size()}, "fluents");
    require_sizes(beliefs, {t.belief_fine.size(), t.belief_coarse.size(), t.relevant_belief.size()}, "beliefs");
    require_sizes(goals, {t.goal_fine.size(), t.goal_coarse.size()}, "subformulas of the goal");
    require(std::ranges::all_of(t.goal, [&](FormulaId id) { return id < t.formulas.size(); }),
            "subformulas of the goal");
    require_edges(t.fluent_edges, fluents, objects, "edges of fluents");
    require_edges(t.goal_edges, goals, objects, "edges of subformulas of the goal");
    require_edges(t.fact_edges, t.fact_fine.size(), objects, "edges of facts");
    require_ragged(t.child_ptr, goals, t.child.size(), "children of subformulas of the goal");
    require_numbers(t.child, goals, "children of subformulas of the goal");
}

template <class P>
void Atoms::read(Evaluator<P>& state, std::span<const FormulaId> goals) {
    const auto& valuation = state.model.valuation;
    const auto& designated = state.model.designated;
    const std::size_t fluents = fluent.size(), agents = fluents == 0 ? 0 : belief.size() / fluents;
    for (std::size_t f = 0; f < fluents; ++f)
        fluent[f] = is_subset(designated, valuation[f])       ? Throughout
                    : intersects(designated, valuation[f]) ? Somewhere
                                                           : Nowhere;
    auto* next = belief.data();
    for (std::uint32_t agent = 0; agent < agents; ++agent) {
        const auto& considered = state.truths.find_successors(agent);
        const Belief throughout = considered.any() ? True : Inconsistent;
        for (std::size_t f = 0; f < fluents; ++f) {
            const Belief attitude = is_subset(considered, valuation[f])       ? throughout
                              : intersects(considered, valuation[f]) ? Unsure
                                                                     : False;
            *next++ = static_cast<std::uint8_t>(4 * fluent[f] + attitude);
        }
    }
    for (std::size_t g = 0; g < goals.size(); ++g) goal[g] = state.truths.holds(goals[g]);
}

template void Atoms::read(Evaluator<Dense>&, std::span<const FormulaId>);
template void Atoms::read(Evaluator<Sparse>&, std::span<const FormulaId>);

void OwnedColours::clear() {
    numbers_.clear();
    pairs_.clear();
}

bool OwnedColours::insert(Colour colour, std::uint32_t owner) {
    const Pair pair{colour, owner};
    const auto is_equal = [&](std::uint32_t number) { return pairs_[number] == pair; };
    return numbers_.insert(hash(pair), is_equal, [&] { pairs_.push_back(pair); }).second;
}

bool OwnedColours::contains(Colour colour, std::uint32_t owner) const {
    const Pair pair{colour, owner};
    return numbers_.find(hash(pair), [&](std::uint32_t number) { return pairs_[number] == pair; }) != kNone;
}

void ColourCounts::clear() {
    numbers_.clear();
    entries_.clear();
}

// Colours are hash values.
void ColourCounts::add(Colour colour, double value) {
    const auto is_equal = [&](std::uint32_t number) { return entries_[number].colour == colour; };
    const auto [number, is_new] = numbers_.insert(colour, is_equal, [&] { entries_.push_back({colour, value}); });
    if (!is_new) entries_[number].value += value;
}

// Sorts by buckets, about one per colour, according to the highest bits.
void ColourCounts::sort() {
    const int shift = 64 - std::max(1, static_cast<int>(std::bit_width(entries_.size())));
    const auto bucket = [&](const Entry& entry) { return static_cast<std::size_t>(entry.colour >> shift); };
    bucket_.assign((std::size_t{1} << (64 - shift)) + 1, 0);
    for (const auto& entry : entries_) ++bucket_[bucket(entry) + 1];
    for (std::size_t k = 1; k < bucket_.size(); ++k) bucket_[k] += bucket_[k - 1];
    std::swap(entries_, unsorted_);
    entries_.resize(unsorted_.size());
    for (const auto& entry : unsorted_) entries_[bucket_[bucket(entry)]++] = entry;
    std::uint32_t first = 0;  // bucket_[k] is now the end of bucket k
    for (const auto end : bucket_) {
        if (end > first + 1)
            std::sort(entries_.begin() + first, entries_.begin() + end,
                      [](const Entry& one, const Entry& other) { return one.colour < other.colour; });
        first = end;
    }
}

Features::Features(const Space& space, FeatureTables tables, unsigned level, bool worlds)
    : space_(&space),
      tables_(std::move(tables)),
      level_(level),
      worlds_(worlds),
      fluents_(space.task().fluents),
      agents_(space.task().agents),
      evaluators_(tables_.formulas, fluents_, agents_),
      atoms_(fluents_, agents_, tables_.goal.size()) {
    require(level_ <= 2, "levels other than 0, 1 and 2");
    check(tables_, fluents_, agents_);
    goal_at_ = static_cast<Node>(tables_.objects.size());
    fact_at_ = goal_at_ + static_cast<Node>(tables_.goal.size());
    fluent_at_ = fact_at_ + static_cast<Node>(tables_.fact_fine.size());
    belief_at_ = fluent_at_ + fluents_;
    nodes_ = belief_at_ + agents_ * fluents_;
    number_columns();
    list_edges();
    const auto group = [](const std::vector<Colour>& types, Colour when_true, Colour when_false) {
        std::vector<WorldType> groups;
        std::unordered_map<Colour, std::size_t> number;
        for (std::uint32_t k = 0; k < types.size(); ++k) {
            const auto [found, is_new] = number.try_emplace(types[k], groups.size());
            if (is_new) groups.push_back({{}, mix(join(types[k], when_true)), mix(join(types[k], when_false))});
            groups[found->second].members.push_back(k);
        }
        return groups;
    };
    fluent_types_ = group(tables_.fluent_fine, kFluentTrue, 0);
    goal_types_ = group(tables_.goal_fine, kGoalTrue, kGoalFalse);
    present_.resize(nodes_ - fluent_at_);
    colour_.resize(nodes_);
    next_.resize(nodes_);
}

void Features::number_columns() {
    std::vector<Colour> colours;  // per type and state
    const auto columns_of = [&](const std::vector<Colour>& fine, const std::vector<Colour>& coarse,
                                std::uint32_t states) {
        std::unordered_map<Colour, std::uint32_t> first;
        const auto place = [&](Colour type) {
            const auto [found, is_new] = first.try_emplace(type, static_cast<std::uint32_t>(colours.size()));
            for (std::uint32_t state = 0; is_new && state < states; ++state) colours.push_back(join(type, state));
            return found->second;
        };
        std::vector<Columns> columns;
        for (std::size_t k = 0; k < fine.size(); ++k) columns.push_back({place(fine[k]), place(coarse[k])});
        return columns;
    };
    fluent_columns_ = columns_of(tables_.fluent_fine, tables_.fluent_coarse, Atoms::kFluentStates);
    belief_columns_ = columns_of(tables_.belief_fine, tables_.belief_coarse, Atoms::kBeliefStates);
    goal_columns_ = columns_of(tables_.goal_fine, tables_.goal_coarse, Atoms::kGoalStates);
    columns_ = colours;
    std::ranges::sort(columns_);
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    for (Colour colour : colours)
        column_.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(columns_, colour) - columns_.begin()));
    counts_.assign(columns_.size(), 0);
    counted_.assign((columns_.size() + 63) / 64, 0);
}

void Features::list_edges() {
    edge_ptr_.assign(goal_at_ + 1, 0);
    for (const auto* edges : {&tables_.goal_edges, &tables_.fact_edges, &tables_.fluent_edges}) {
        for (std::size_t k = 0; k < edges->object.size(); ++k)
            edges_.push_back({static_cast<Node>(edges->object[k]), join_prefix(edges->label[k])});
        const auto first = edge_ptr_.back();
        for (std::size_t row = 1; row < edges->ptr.size(); ++row)
            edge_ptr_.push_back(first + static_cast<std::uint32_t>(edges->ptr[row]));
    }
}

void Features::evaluate(StateId id, FeatureRows& out) {
    features_.clear();
    evaluators_.with(space_->packed_form(id), [&](auto& state) {
        atoms_.read(state, tables_.goal);
        if (worlds_) colour_worlds(state);
    });
    count_atoms();
    if (level_ > 0) colour_nodes();
    for (unsigned round = 0; round < level_; ++round) refine();
    write(out);
}

template <class P>
void Features::colour_worlds(Evaluator<P>& state) {
    const World n = state.model.worlds;
    world_sums_.assign(n, 0);
    const auto add = [&](const typename P::Set& where, Colour added) {
        each(where, [&](World w) { world_sums_[w] += added; });
    };
    typename P::Set some, all, lacking;
    for (const auto& type : fluent_types_) {
        P::clear(some, n);
        for (auto f : type.members) some |= state.model.valuation[f];
        add(some, type.when_true);
    }
    for (const auto& type : goal_types_) {
        P::clear(some, n);
        P::fill(all, n);
        P::fill(lacking, n);
        for (auto g : type.members) {
            const auto& where = state.truths.worlds(tables_.goal[g]);
            some |= where;
            all &= where;
        }
        lacking.subtract(all);
        add(some, type.when_true);
        add(lacking, type.when_false);
    }
    world_counts_.clear();
    constexpr Colour kOther = join_prefix(0), kDesignated = join_prefix(1);
    for (World w = 0; w < n; ++w)
        world_counts_.add(mix((state.model.designated.test(w) ? kDesignated : kOther) ^ world_sums_[w]), 1);
    for (const auto& [colour, count] : world_counts_.entries()) {
        features_.add(join(colour, 1), count / n);
        features_.add(join(colour, 2), std::log(1 + count));
    }
}

void Features::count(Columns columns, std::uint32_t state) {
    for (const auto place : {columns.fine, columns.coarse}) {
        const auto column = column_[place + state];
        ++counts_[column];
        counted_[column / 64] |= std::uint64_t{1} << (column % 64);
    }
}

void Features::count_atoms() {
    for (std::size_t k = 0; k < atoms_.fluent.size(); ++k) count(fluent_columns_[k], atoms_.fluent[k]);
    for (std::size_t k = 0; k < atoms_.belief.size(); ++k) count(belief_columns_[k], atoms_.belief[k]);
    for (std::size_t k = 0; k < atoms_.goal.size(); ++k) count(goal_columns_[k], atoms_.goal[k]);
}

// Finds the present nodes and their initial colours.
void Features::colour_nodes() {
    auto colour = std::ranges::copy(tables_.objects, colour_.begin()).out;
    for (std::size_t k = 0; k < atoms_.goal.size(); ++k)
        *colour++ = this->colour(goal_columns_[k].fine + atoms_.goal[k]);
    colour = std::ranges::copy(tables_.fact_fine, colour).out;
    auto present = present_.begin();
    for (std::size_t k = 0; k < atoms_.fluent.size(); ++k) {
        *colour++ = this->colour(fluent_columns_[k].fine + atoms_.fluent[k]);
        *present++ = atoms_.fluent[k] != Atoms::Nowhere || tables_.relevant_fluent[k];
    }
    for (std::size_t k = 0; k < atoms_.belief.size(); ++k) {
        *colour++ = this->colour(belief_columns_[k].fine + atoms_.belief[k]);
        *present++ = atoms_.belief[k] != Atoms::kDefaultBelief || tables_.relevant_belief[k];
    }
}

// Runs one round of refinement and counts the new colours.
void Features::refine() {
    seen_.clear();
    sums_.assign(belief_at_, 0);
    const auto unite = [&](Node node, Colour colour) {
        if (seen_.insert(colour, node)) sums_[node] += mix(colour);
    };
    for (Node node = goal_at_; node < belief_at_; ++node) {  // beliefs use the sum even of an absent fluent
        for (const auto& edge : edges(node)) {
            unite(node, mix(edge.prefix ^ colour_[edge.object]));
            if (is_present(node)) unite(edge.object, mix(edge.prefix ^ colour_[node]));
        }
    }
    for (Node node = goal_at_; node < fact_at_; ++node)
        for (auto k = tables_.child_ptr[node - goal_at_]; k < tables_.child_ptr[node - goal_at_ + 1]; ++k)
            unite(node, mix(kChild ^ colour_[goal_at_ + static_cast<Node>(tables_.child[k])]));
    const auto each_belief = [&](std::uint32_t agent, auto&& visit) {  // present beliefs with their fluents
        Node node = belief_at_ + agent * fluents_;
        for (Node fluent = fluent_at_; fluent < belief_at_; ++fluent, ++node)
            if (is_present(node)) visit(node, fluent);
    };
    for (std::uint32_t agent = 0; agent < agents_; ++agent) {
        const auto self = static_cast<Node>(tables_.agent_object[agent]);
        each_belief(agent, [&](Node node, Node fluent) {
            for (const auto& edge : edges(fluent)) unite(edge.object, mix(edge.prefix ^ colour_[node]));
            unite(self, mix(kWho ^ colour_[node]));
        });
    }
    const auto recolour = [&](Node node, Colour sum) {
        next_[node] = join(colour_[node], sum);
        features_.add(next_[node], 1);
    };
    for (Node node = 0; node < belief_at_; ++node)
        if (is_present(node)) recolour(node, sums_[node]);
    for (std::uint32_t agent = 0; agent < agents_; ++agent) {
        const Colour who = mix(kWho ^ colour_[static_cast<Node>(tables_.agent_object[agent])]), added = mix(who);
        each_belief(agent, [&](Node node, Node fluent) {
            recolour(node, sums_[fluent] + (seen_.contains(who, fluent) ? 0 : added));
        });
    }
    std::swap(colour_, next_);
}

// Writes the counts of atoms and of other colours, merged by colour.
void Features::write(FeatureRows& out) {
    const auto push = [&](Colour colour, double value) {
        out.colour.push_back(colour);
        out.value.push_back(static_cast<float>(value));
    };
    features_.sort();
    const auto& others = features_.entries();
    std::size_t other = 0;
    for (std::size_t k = 0; k < counted_.size(); ++k) {
        each_bit(std::exchange(counted_[k], 0), static_cast<World>(64 * k), [&](std::uint32_t column) {
            const Colour colour = columns_[column];
            double value = std::exchange(counts_[column], 0);
            for (; other < others.size() && others[other].colour < colour; ++other)
                push(others[other].colour, others[other].value);
            if (other < others.size() && others[other].colour == colour) value += others[other++].value;
            push(colour, value);
        });
    }
    for (; other < others.size(); ++other) push(others[other].colour, others[other].value);
    out.ptr.push_back(static_cast<std::int64_t>(out.colour.size()));
}

}  // namespace epi
