// The Python module of the core; no other file depends on Python. Arrays are NumPy arrays, tasks and models are the
// nested lists of `epigym/task/packing.py`.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "checks.hpp"
#include "features.hpp"
#include "gine.hpp"
#include "parallel.hpp"
#include "relational_graphs.hpp"
#include "relaxation.hpp"
#include "relaxation_builder.hpp"
#include "rows.hpp"
#include "space.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace epi;

namespace {

template <class T>
using Array1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Array2 = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
const auto kIds = "ids"_a.noconvert();  // a conversion would cut larger numbers
template <class T>
using Input2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Input1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Numbers = std::vector<std::uint32_t>;
using FormulaLists = std::tuple<Numbers, Numbers, Numbers, Numbers, Numbers, Numbers>;
using ModelLists = std::tuple<World, std::vector<List>, Numbers, Numbers, Numbers, List, List>;
using EventLists = std::vector<std::tuple<FormulaId, std::vector<std::tuple<std::uint32_t, bool, FormulaId>>>>;
using EventModelLists = std::vector<std::tuple<Numbers, EventMask>>;
using RelationLists = std::vector<std::vector<std::tuple<EventMask, EventMask>>>;
using ObservabilityLists = std::vector<std::vector<std::tuple<FormulaId, std::uint32_t>>>;
using SymmetryLists = std::vector<std::tuple<Symmetry::Swaps, Symmetry::Swaps, Symmetry::Swaps>>;
using ActionLists = std::vector<std::tuple<FormulaId, std::uint32_t, Numbers>>;

TaskData require_valid(TaskData&& task) {
    check(task);
    return std::move(task);
}

// Returns formulas after checking them, and the numbers `roots`, against a task.
Formulas require_valid(Formulas&& formulas, const Numbers& roots, const TaskData& task) {
    check(formulas, task.fluents, task.agents);
    check(roots, formulas);
    return std::move(formulas);
}

// A space and its relaxation, with a lock: Python threads share them while the GIL is released.
class SharedSpace {
public:
    SharedSpace(TaskData task, bool consistent_beliefs) : space(require_valid(std::move(task)), consistent_beliefs) {}
    Space space;

    // Built at its first use, without the lock of the space: building reads only the task, which never changes.
    Relaxation& relaxation() {
        nb::gil_scoped_release release;
        std::lock_guard lock(building_);
        if (!relaxation_) {
            auto built = std::make_unique<Relaxation>(space, build_relaxation(space.task()));
            std::lock_guard assigning(mutex_);
            relaxation_ = std::move(built);
        }
        return *relaxation_;
    }

    template <class Action>
    decltype(auto) with_lock(Action&& action) {
        nb::gil_scoped_release release;
        std::lock_guard lock(mutex_);
        return action(space);
    }

    // The number of relaxations computed so far, and the size of the relaxation.
    std::pair<std::uint64_t, std::size_t> count_relaxations() {
        return with_lock([&](Space&) {
            return relaxation_ ? std::pair(relaxation_->evaluations(), relaxation_->size()) : std::pair(std::uint64_t{0}, std::size_t{0});
        });
    }

private:
    std::mutex mutex_, building_;
    std::unique_ptr<Relaxation> relaxation_;
};

// A query with its space, whose lock it uses.
struct SharedQuery {
    SharedQuery(SharedSpace& shared, Formulas formulas, Numbers roots)
        : owner(shared), query(shared.space, require_valid(std::move(formulas), roots, shared.space.task()), roots) {}
    SharedSpace& owner;
    Query query;
};

// The relaxation of a space, whose lock it uses.
struct SharedRelaxation {
    explicit SharedRelaxation(SharedSpace& shared) : owner(shared), relaxation(shared.relaxation()) {}
    SharedSpace& owner;
    Relaxation& relaxation;
};

// Features with their space, whose lock they use.
struct SharedFeatures {
    SharedFeatures(SharedSpace& shared, FeatureTables tables, unsigned level, bool worlds)
        : owner(shared), features(shared.space, std::move(tables), level, worlds) {}
    SharedSpace& owner;
    Features features;
};

// Graphs with their space, whose lock they use.
struct SharedGraphs {
    SharedGraphs(SharedSpace& shared, FeatureTables tables, const Input2<std::int64_t>& types)
        : owner(shared),
          graphs(shared.space, std::move(tables), {types.data(), types.data() + types.size()}, types.shape(1)) {}
    SharedSpace& owner;
    RelationalGraphs graphs;

    // The working memory of a thread; the first one builds its graphs with `graphs`.
    struct Worker {
        std::unique_ptr<RelationalGraphs> copy;
        TypedGraph graph;
        ForwardPass pass;
    };
    std::vector<Worker> workers;
    Pace pace;
};

template <class T>
Array1<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array1<T>(owned->data(), {owned->size()}, owner);
}

template <class T>
Array2<T> new_array(std::size_t rows, std::size_t columns) {
    T* data = new T[rows * columns];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array2<T>(data, {rows, columns}, owner);
}

template <class T>
Array1<T> new_array(std::size_t size) {
    T* data = new T[size];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array1<T>(data, {size}, owner);
}

std::span<const StateId> span_of(const Ids& ids) {
    return {reinterpret_cast<const StateId*>(ids.data()), ids.shape(0)};
}

Formulas to_formulas(const FormulaLists& lists) {
    Formulas formulas;
    for (auto op : std::get<0>(lists)) formulas.op.push_back(static_cast<Op>(std::min(op, 255u)));  // 255 is none
    std::tie(std::ignore, formulas.fluent, formulas.child_first, formulas.child, formulas.agent_first, formulas.agent) =
        lists;
    return formulas;
}

FormulaLists to_lists(const Formulas& formulas) {
    Numbers ops;
    for (auto op : formulas.op) ops.push_back(static_cast<std::uint32_t>(op));
    return {std::move(ops), formulas.fluent, formulas.child_first, formulas.child, formulas.agent_first, formulas.agent};
}

PlainModel to_model(const ModelLists& lists) {
    PlainModel model;
    std::tie(model.worlds, model.valuation, model.row_of, model.row_first, model.successor_first, model.successor,
             model.designated) = lists;
    return model;
}

ModelLists to_lists(PlainModel&& model) {
    return {model.worlds, std::move(model.valuation), std::move(model.row_of), std::move(model.row_first),
            std::move(model.successor_first), std::move(model.successor), std::move(model.designated)};
}

ActionTable to_actions(const EventLists& events, const EventModelLists& event_models, const RelationLists& relations,
                       const ObservabilityLists& observability, const ActionLists& actions) {
    ActionTable table;
    for (const auto& [precondition, effects] : events) {
        auto& event = table.events.emplace_back(Event{precondition, {}});
        for (const auto& [fluent, value, condition] : effects) event.effects.push_back({fluent, value, condition});
    }
    for (const auto& [members, designated] : event_models) table.event_models.push_back({members, designated});
    for (const auto& groups : relations) {
        auto& relation = table.relations.emplace_back();
        for (const auto& [sources, targets] : groups) relation.push_back({sources, targets});
    }
    for (const auto& conditions : observability) {
        auto& list = table.observability.emplace_back();
        for (const auto& [condition, relation] : conditions) list.push_back({condition, relation});
    }
    for (const auto& [applicability, event_model, types] : actions)
        table.actions.push_back({applicability, event_model, types});
    return table;
}

std::vector<Symmetry> to_symmetries(const SymmetryLists& lists) {
    std::vector<Symmetry> symmetries;
    for (const auto& [agents, fluents, actions] : lists) symmetries.push_back({agents, fluents, actions});
    return symmetries;
}

// Whether all formulas of each e-state's query hold in it.
auto evaluate_queries(const std::vector<nb::typed<nb::object, SharedQuery>>& objects, const Ids& of, const Ids& ids) {
    const std::size_t count = ids.shape(0);
    std::vector<SharedQuery*> queries;  // `objects` keeps them alive without the GIL
    for (const auto& object : objects) {
        queries.push_back(nullptr);
        nb::try_cast(object, queries.back());
    }
    const auto is_wrong = [&](const SharedQuery* query) { return query == nullptr || &query->owner != &queries[0]->owner; };
    if (of.shape(0) != count || std::ranges::any_of(queries, is_wrong) ||
        std::ranges::any_of(span_of(of), [&](auto query) { return query >= queries.size(); }))
        throw std::invalid_argument("one query for each e-state is needed, all of one space");
    auto out = new_array<bool>(count);
    if (count == 0) return out;
    queries[0]->owner.with_lock([&](Space&) {
        for (std::size_t k = 0; k < count; ++k) out.data()[k] = queries[span_of(of)[k]]->query.all_hold(span_of(ids)[k]);
    });
    return out;
}

auto expand(SharedSpace& self, const Ids& ids, bool stop_at_goal, unsigned threads) {
    Expansion out;
    self.with_lock([&](Space& space) { space.expand(span_of(ids), stop_at_goal, threads, out); });
    return std::make_tuple(to_numpy(std::move(out.source)), to_numpy(std::move(out.action)),
                           to_numpy(std::move(out.target)), to_numpy(std::move(out.is_new)));
}

auto outcomes(SharedSpace& self, const Ids& ids) {
    Outcomes out;
    self.with_lock([&](Space& space) { space.outcomes(span_of(ids), out); });
    return std::make_tuple(to_numpy(std::move(out.source)), to_numpy(std::move(out.action)), to_numpy(std::move(out.event)),
                           to_numpy(std::move(out.assignment)), to_numpy(std::move(out.target)),
                           to_numpy(std::move(out.is_new)));
}

// An array e-states x actions; `write` fills the row of an e-state.
template <class T, void (Space::*write)(StateId, T*)>
auto fill_rows(SharedSpace& self, const Ids& ids) {
    const std::size_t count = self.space.task().actions.actions.size();
    auto out = new_array<T>(ids.shape(0), count);
    self.with_lock([&](Space& space) {
        for (std::size_t k = 0; k < ids.shape(0); ++k) (space.*write)(span_of(ids)[k], out.data() + k * count);
    });
    return out;
}

// An array with one entry for each e-state.
template <class T, auto read>
auto fill_entries(SharedSpace& self, const Ids& ids) {
    auto out = new_array<T>(ids.shape(0));
    self.with_lock([&](Space& space) {
        for (std::size_t k = 0; k < ids.shape(0); ++k) out.data()[k] = static_cast<T>((space.*read)(span_of(ids)[k]));
    });
    return out;
}

// The arrays of `Rows` from Python, except labels.
using RowArrays = std::tuple<Input1<std::int64_t>, Input1<std::uint8_t>, Input2<std::int32_t>, Input1<std::int64_t>,
                             Input1<std::int64_t>, Input1<std::int32_t>>;

template <class T, class... Options>
std::span<const T> values_of(const nb::ndarray<const T, Options...>& array) {
    return {array.data(), array.size()};
}

RowsView view_of(const RowArrays& arrays) {
    const auto& [world_ptr, designated, row_of, row_ptr, successor_ptr, successor] = arrays;
    const RowsView rows{values_of(world_ptr), values_of(designated),    values_of(row_of),
                        values_of(row_ptr),   values_of(successor_ptr), values_of(successor)};
    rows.check();
    return rows;
}

auto rows(SharedSpace& self, const Ids& ids, WorldLabels* labels) {
    Rows out = self.with_lock([&](Space& space) { return rows_of(space, span_of(ids), labels); });
    const std::size_t worlds = out.designated.size(), agents = self.space.task().agents;
    auto row_of = new_array<std::int32_t>(worlds, agents);
    std::copy(out.row_of.begin(), out.row_of.end(), row_of.data());
    return std::make_tuple(to_numpy(std::move(out.world_ptr)), to_numpy(std::move(out.label)),
                           to_numpy(std::move(out.designated)), row_of, to_numpy(std::move(out.row_ptr)),
                           to_numpy(std::move(out.successor_ptr)), to_numpy(std::move(out.successor)));
}

// The arrays of a `GraphBatch` from Python.
using GraphArrays = std::tuple<Input2<std::uint8_t>, Input2<std::int64_t>, Input1<std::int64_t>, Input1<std::int64_t>,
                               Input1<std::int64_t>>;

auto graphs(const RowArrays& arrays, const Input1<std::int32_t>& labels, const Input2<std::uint8_t>& identifiers,
            const GraphArrays& goal_arrays, const Input1<std::int64_t>& goal_of) {
    const RowsView rows = view_of(arrays);
    const auto& [bits, edges, goal_label, goal_node_ptr, goal_edge_ptr] = goal_arrays;
    if (edges.shape(0) != 2 || identifiers.shape(1) != bits.shape(1))
        throw std::invalid_argument("the arrays of the goal part and the identifiers do not fit together");
    const std::span ends = values_of(edges);
    const GoalParts goals{bits.shape(0),
                          bits.shape(1),
                          bits.data(),
                          ends.first(edges.shape(1)),
                          ends.last(edges.shape(1)),
                          values_of(goal_label),
                          values_of(goal_node_ptr),
                          values_of(goal_edge_ptr),
                          values_of(goal_of)};
    check(rows, goals, values_of(labels), identifiers.shape(0));
    GraphLayout at = compute_layout(rows, goals);
    auto node_bits = new_array<std::uint8_t>(static_cast<std::size_t>(at.node_ptr.back()), goals.width);
    auto edge_index = new_array<std::int64_t>(2, static_cast<std::size_t>(at.edge_ptr.back()));
    auto edge_label = new_array<std::int64_t>(static_cast<std::size_t>(at.edge_ptr.back()));
    {
        nb::gil_scoped_release release;
        write_graphs(rows, goals, at, values_of(labels), identifiers.data(), node_bits.data(), edge_index.data(),
                     edge_label.data());
    }
    return std::make_tuple(node_bits, edge_index, edge_label, to_numpy(std::move(at.node_ptr)),
                           to_numpy(std::move(at.edge_ptr)));
}

auto refine_worlds(const RowArrays& arrays, const Input1<std::int64_t>& colours) {
    const RowsView rows = view_of(arrays);
    Refinement found = [&] {
        nb::gil_scoped_release release;
        return refine(rows, values_of(colours));
    }();
    return std::make_tuple(to_numpy(std::move(found.sent)), to_numpy(std::move(found.sent_ptr)),
                           to_numpy(std::move(found.received)), to_numpy(std::move(found.received_ptr)),
                           to_numpy(std::move(found.own)), to_numpy(std::move(found.designated)),
                           to_numpy(std::move(found.colour)));
}

template <class T, class Source, class... Options>
std::vector<T> to_vector(const nb::ndarray<const Source, Options...>& array) {
    return {array.data(), array.data() + array.size()};
}

// Reads the arrays of a Python object by the names of its attributes.
class ArrayReader {
public:
    ArrayReader(nb::handle arrays, const SharedSpace& space) : arrays_(arrays), space_(space) {}

    template <class Source, class T>
    void read(const char* name, std::vector<T>& out) const {
        out = to_vector<T>(get<Input1<Source>>(name));
    }
    // A table of agents x fluents.
    template <class Source, class T>
    void read_beliefs(const char* name, std::vector<T>& out) const {
        const auto array = get<Input2<Source>>(name);
        if (array.shape(0) != space_.space.task().agents || array.shape(1) != space_.space.task().fluents)
            throw std::invalid_argument("a table of beliefs is not one of agents and fluents");
        out = to_vector<T>(array);
    }
    void read_edges(const char* name, FeatureTables::Edges& out) const {
        const auto [ptr, object, label] =
            get<std::tuple<Input1<std::int64_t>, Input1<std::int32_t>, Input1<Colour>>>(name);
        out = {to_vector<std::int64_t>(ptr), to_vector<std::int32_t>(object), to_vector<Colour>(label)};
    }
    void read_lists(const char* name, std::vector<std::int64_t>& ptr, std::vector<std::int32_t>& members) const {
        const auto [first, all] = get<std::tuple<Input1<std::int64_t>, Input1<std::int32_t>>>(name);
        ptr = to_vector<std::int64_t>(first);
        members = to_vector<std::int32_t>(all);
    }

private:
    template <class Array>
    Array get(const char* name) const {
        Array array;
        if (!nb::try_cast(arrays_.attr(name), array))
            throw nb::type_error(("the array '" + std::string(name) + "' has a wrong type or number of axes").c_str());
        return array;
    }

    nb::handle arrays_;
    const SharedSpace& space_;
};

FeatureTables to_feature_tables(const SharedSpace& space, const FormulaLists& formulas, const Numbers& goal,
                                nb::handle arrays) {
    FeatureTables tables;
    tables.formulas = to_formulas(formulas);
    tables.goal = goal;
    const ArrayReader reader(arrays, space);
    reader.read<std::int32_t>("agent_object", tables.agent_object);
    reader.read<Colour>("objects", tables.objects);
    reader.read<Colour>("fluent_fine", tables.fluent_fine);
    reader.read<Colour>("fluent_coarse", tables.fluent_coarse);
    reader.read_beliefs<Colour>("belief_fine", tables.belief_fine);
    reader.read_beliefs<Colour>("belief_coarse", tables.belief_coarse);
    reader.read<Colour>("goal_fine", tables.goal_fine);
    reader.read<Colour>("goal_coarse", tables.goal_coarse);
    reader.read<Colour>("fact_fine", tables.fact_fine);
    reader.read<bool>("relevant_fluent", tables.relevant_fluent);
    reader.read_beliefs<bool>("relevant_belief", tables.relevant_belief);
    reader.read_edges("fluent_edges", tables.fluent_edges);
    reader.read_edges("goal_edges", tables.goal_edges);
    reader.read_edges("fact_edges", tables.fact_edges);
    reader.read_lists("goal_children", tables.child_ptr, tables.child);
    return tables;
}

using StateArrays = std::map<std::string, nb::ndarray<const float, nb::c_contig, nb::device::cpu>>;

Tensors to_tensors(const StateArrays& arrays) {
    Tensors tensors;
    for (const auto& [name, array] : arrays) {
        auto& tensor = tensors[name] = {{}, array.data()};
        for (std::size_t k = 0; k < array.ndim(); ++k) tensor.shape.push_back(array.shape(k));
    }
    return tensors;
}

auto values(const GineNetwork& network, GraphInput input, const Input2<std::int64_t>& edge_index,
            const Input1<std::int64_t>& edge_label, const Input1<std::int64_t>& node_ptr,
            const Input1<std::int64_t>& edge_ptr) {
    if (edge_index.shape(0) != 2) throw std::invalid_argument("the array 'edge_index' does not have two rows");
    input.source = values_of(edge_index).first(edge_index.shape(1));
    input.target = values_of(edge_index).last(edge_index.shape(1));
    input.relation = values_of(edge_label);
    input.node_ptr = values_of(node_ptr);
    input.edge_ptr = values_of(edge_ptr);
    return to_numpy([&] {
        nb::gil_scoped_release release;
        return network.values(input);
    }());
}

auto score(const GineNetwork& network, SharedGraphs& shared, const Ids& ids, unsigned threads) {
    network.check(shared.graphs);
    auto out = new_array<float>(ids.shape(0));
    shared.owner.with_lock([&](Space&) {
        while (shared.workers.size() < std::max(threads, 1u))
            shared.workers.push_back({shared.workers.empty() ? nullptr : shared.graphs.copy(), {}, {}});
        shared.pace.run(ids.shape(0), threads, [&](unsigned thread, std::size_t k) {
            auto& [copy, graph, pass] = shared.workers[thread];
            RelationalGraphs& graphs = copy ? *copy : shared.graphs;
            graphs.build(span_of(ids)[k], graph);
            out.data()[k] = network.value(graph, graphs, pass);
        });
    });
    return out;
}

// Collects typed graphs and returns them as the arrays of a `GraphBatch`.
struct GraphLists {
    TypedGraph all;
    std::vector<std::int64_t> node_ptr{0}, edge_ptr{0};

    void append(const TypedGraph& graph) {
        all.state.insert(all.state.end(), graph.state.begin(), graph.state.end());
        all.place.insert(all.place.end(), graph.place.begin(), graph.place.end());
        all.edges.insert(all.edges.end(), graph.edges.begin(), graph.edges.end());
        node_ptr.push_back(static_cast<std::int64_t>(all.state.size()));
        edge_ptr.push_back(static_cast<std::int64_t>(all.edges.size()));
    }

    auto arrays(const RelationalGraphs& graphs) && {
        const std::size_t columns = graphs.columns(), edges = all.edges.size();
        auto nodes = new_array<std::int64_t>(all.state.size(), 2 + columns);
        auto edge_index = new_array<std::int64_t>(2, edges);
        auto edge_label = new_array<std::int64_t>(edges);
        auto* node = nodes.data();
        for (std::size_t n = 0; n < all.state.size(); ++n) {
            *node++ = kKindOfState[all.state[n]];
            *node++ = all.state[n];
            node = std::copy_n(graphs.types(all.place[n]), columns, node);
        }
        for (std::size_t k = 0; k + 1 < edge_ptr.size(); ++k) {
            for (auto e = static_cast<std::size_t>(edge_ptr[k]); e < static_cast<std::size_t>(edge_ptr[k + 1]); ++e) {
                edge_index.data()[e] = node_ptr[k] + all.edges[e].source;
                edge_index.data()[edges + e] = node_ptr[k] + all.edges[e].target;
                edge_label.data()[e] = all.edges[e].relation;
            }
        }
        return std::make_tuple(nodes, edge_index, edge_label, to_numpy(std::move(node_ptr)), to_numpy(std::move(edge_ptr)));
    }
};

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The core of epigym: Kripke models, updates, contraction, graphs. Use `epigym.space.space.StateSpace`.";
    m.attr("MAX_EVENTS") = kMaxEvents;
    m.attr("MAX_LEVELS") = kMaxLevels;
    m.attr("MAX_WORLDS") = kMaxWorlds;
    m.attr("RELATIONS") = static_cast<std::uint32_t>(kEdgeRelations);

    static nb::object disagreement = nb::exception<Disagreement>(m, "Disagreement");
    static nb::object inconsistent_beliefs = nb::exception<InconsistentBeliefs>(m, "InconsistentBeliefs");
    static nb::object inapplicable = nb::exception<Inapplicable>(m, "Inapplicable");
    nb::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (const Disagreement& e) {
            PyErr_SetObject(disagreement.ptr(), nb::make_tuple(e.action, e.agent).ptr());
        } catch (const InconsistentBeliefs& e) {
            PyErr_SetObject(inconsistent_beliefs.ptr(), nb::make_tuple(e.agent, e.action).ptr());
        } catch (const Inapplicable& e) {
            PyErr_SetObject(inapplicable.ptr(), nb::make_tuple(e.state, e.action).ptr());
        }
    });

    nb::class_<SharedSpace>(m, "Space", "The interned, lazily explored state space of a task.")
        .def(
            "__init__",
            [](SharedSpace* self, std::uint32_t fluents, std::uint32_t agents, const FormulaLists& formulas,
               const EventLists& events, const EventModelLists& event_models, const RelationLists& relations,
               const ObservabilityLists& observability, const ActionLists& actions, const Numbers& goal,
               const ModelLists& initial, bool consistent_beliefs) {
                new (self) SharedSpace({fluents, agents, to_formulas(formulas),
                                        to_actions(events, event_models, relations, observability, actions), goal,
                                        to_model(initial)},
                                       consistent_beliefs);
            },
            "fluents"_a, "agents"_a, "formulas"_a, "events"_a, "event_models"_a, "relations"_a, "observability"_a,
            "actions"_a, "goal"_a, "initial"_a, "consistent_beliefs"_a)
        .def("__len__", [](SharedSpace& self) { return self.with_lock([](Space& space) { return space.size(); }); })
        .def_prop_ro("nbytes",
                     [](SharedSpace& self) { return self.with_lock([](Space& space) { return space.nbytes(); }); })
        .def_prop_ro("generated",
                     [](SharedSpace& self) { return self.with_lock([](Space& space) { return space.generated(); }); },
                     "The number of successors computed so far, and the sum of the worlds of their predecessors.")
        .def_prop_ro("relaxations", &SharedSpace::count_relaxations,
                     "The number of relaxations computed so far, and the size of the relaxation.")
        .def(
            "use_symmetries",
            [](SharedSpace& self, const SymmetryLists& lists) {
                auto symmetries = to_symmetries(lists);
                check(symmetries, self.space.task());
                self.with_lock([&](Space& space) { space.set_symmetries(std::move(symmetries)); });
            },
            "symmetries"_a, "From now on expansions use one action of each orbit only.")
        .def("expand", &expand, kIds, "stop_at_goal"_a, "threads"_a)
        .def("outcomes", &outcomes, kIds)
        .def(
            "successors",
            [](SharedSpace& self, const Ids& ids, const Ids& actions) {
                if (ids.shape(0) != actions.shape(0)) throw std::invalid_argument("one action for each e-state is needed");
                auto out = new_array<std::int32_t>(ids.shape(0));
                self.with_lock([&](Space& space) {
                    for (std::size_t k = 0; k < ids.shape(0); ++k)
                        out.data()[k] = static_cast<std::int32_t>(space.successor(span_of(ids)[k], span_of(actions)[k]));
                });
                return out;
            },
            kIds, "actions"_a.noconvert())
        .def("applicable", &fill_rows<std::uint8_t, &Space::mark_applicable>, kIds)
        .def("allowed", &fill_rows<std::uint8_t, &Space::mark_allowed>, kIds)
        .def("representatives", &fill_rows<std::int32_t, &Space::representatives>, kIds)
        .def("is_goal", &fill_entries<std::uint8_t, &Space::is_goal>, kIds)
        .def("world_counts", &fill_entries<std::int32_t, &Space::worlds>, kIds)
        .def(
            "model",
            [](SharedSpace& self, StateId id) {
                return to_lists(self.with_lock([&](Space& space) { return space.model(id); }));
            },
            "id"_a)
        .def(
            "intern",
            [](SharedSpace& self, const ModelLists& model) {
                const PlainModel plain = to_model(model);
                check(plain, self.space.task().fluents, self.space.task().agents);
                return self.with_lock([&](Space& space) { return space.intern(plain); });
            },
            "model"_a)
        .def("rows", &rows, kIds, "labels"_a.none());

    nb::class_<SharedQuery>(m, "Query", "Formulas to evaluate in e-states of a space.")
        .def(
            "__init__",
            [](SharedQuery* self, SharedSpace& space, const FormulaLists& formulas, const Numbers& roots) {
                new (self) SharedQuery(space, to_formulas(formulas), roots);
            },
            "space"_a, "formulas"_a, "roots"_a, nb::keep_alive<1, 2>())
        .def(
            "holds",
            [](SharedQuery& self, const Ids& ids) {
                const std::size_t count = self.query.size();
                auto out = new_array<std::uint8_t>(ids.shape(0), count);
                self.owner.with_lock([&](Space&) {
                    for (std::size_t k = 0; k < ids.shape(0); ++k)
                        self.query.holds(span_of(ids)[k], out.data() + k * count);
                });
                return out;
            },
            kIds);

    m.def("evaluate_queries", &evaluate_queries, "queries"_a, "of"_a.noconvert(), kIds,
          "Whether all formulas of each e-state's query hold in it: queries[of[k]] for ids[k].");

    nb::class_<SharedRelaxation>(m, "Relaxation", "The delete relaxation of a space's task, one for each space.")
        .def(nb::init<SharedSpace&>(), "space"_a, nb::keep_alive<1, 2>())
        .def(
            "formulas",
            [](const SharedRelaxation& self) {
                const RelaxationData& data = self.relaxation.data();
                return std::make_tuple(to_lists(data.formulas), data.formula);
            },
            "The formulas of the relaxation, and the number of each node's formula.")
        .def_prop_ro("size", [](const SharedRelaxation& self) { return self.relaxation.size(); },
                     "The number of nodes and edges.")
        .def_prop_ro(
            "evaluations",
            [](SharedRelaxation& self) {
                return self.owner.with_lock([&](Space&) { return self.relaxation.evaluations(); });
            },
            "The number of computations of costs.")
        .def(
            "evaluate",
            [](SharedRelaxation& self, const Ids& ids, unsigned threads) {
                Relaxed out;
                self.owner.with_lock([&](Space&) { self.relaxation.evaluate(span_of(ids), threads, out); });
                return std::make_tuple(to_numpy(std::move(out.h_add)), to_numpy(std::move(out.h_ff)),
                                       to_numpy(std::move(out.cost)), to_numpy(std::move(out.actions)),
                                       to_numpy(std::move(out.unreached)), to_numpy(std::move(out.preferred_ptr)),
                                       to_numpy(std::move(out.preferred)));
            },
            kIds, "threads"_a = 1)
        .def(
            "find_added_facts",
            [](SharedRelaxation& self, StateId id) {
                return to_numpy(self.owner.with_lock([&](Space&) { return self.relaxation.find_added_facts(id); }));
            },
            "id"_a)
        .def(
            "find_landmarks",
            [](SharedRelaxation& self, StateId id) {
                auto out = self.owner.with_lock([&](Space&) { return self.relaxation.find_landmarks(id); });
                return std::make_tuple(out.goal, out.nodes, out.orders);
            },
            "id"_a);

    nb::class_<FeatureTables>(m, "FeatureTables", "The types of everything in a task under a goal.")
        .def(
            "__init__",
            [](FeatureTables* self, SharedSpace& space, const FormulaLists& formulas, const Numbers& goal, nb::object arrays) {
                new (self) FeatureTables(to_feature_tables(space, formulas, goal, arrays));
            },
            "space"_a, "formulas"_a, "goal"_a, "arrays"_a,
            "`arrays`: an object with the arrays as attributes, see `epigym.features.counts.FeatureTables`.");

    nb::class_<SharedFeatures>(m, "Features", "Relational features of e-states of a space.")
        .def(nb::init<SharedSpace&, FeatureTables, unsigned, bool>(), "space"_a, "tables"_a, "level"_a, "worlds"_a,
             nb::keep_alive<1, 2>())
        .def(
            "evaluate",
            [](SharedFeatures& self, const Ids& ids) {
                FeatureRows out;
                self.owner.with_lock([&](Space&) {
                    for (StateId id : span_of(ids)) self.features.evaluate(id, out);
                });
                return std::make_tuple(to_numpy(std::move(out.ptr)), to_numpy(std::move(out.colour)),
                                       to_numpy(std::move(out.value)));
            },
            kIds);

    nb::class_<SharedGraphs>(m, "RelationalGraphs", "Typed graphs of e-states of a space.")
        .def(nb::init<SharedSpace&, FeatureTables, const Input2<std::int64_t>&>(), "space"_a, "tables"_a, "types"_a,
             nb::keep_alive<1, 2>(),
             "`types` int64[m, k] has the type ids of objects, subformulas of the goal, facts, fluents and beliefs.")
        .def(
            "graphs",
            [](SharedGraphs& self, const Ids& ids) {
                GraphLists out;
                TypedGraph graph;
                self.owner.with_lock([&](Space&) {
                    for (StateId id : span_of(ids)) {
                        self.graphs.build(id, graph);
                        out.append(graph);
                    }
                });
                return std::move(out).arrays(self.graphs);
            },
            kIds, "The graphs of e-states, as the arrays of a `GraphBatch`.")
        .def(
            "build_without_worlds",
            [](SharedGraphs& self) {
                GraphLists out;
                TypedGraph graph;
                self.graphs.build_without_worlds(graph);
                out.append(graph);
                return std::move(out).arrays(self.graphs);
            },
            "One graph of objects, the goal and facts, as the arrays of a `GraphBatch`.");

    nb::class_<GineNetwork>(m, "GineNetwork", "The forward pass of a residual graph network, with one value per graph.")
        .def(
            "__init__",
            [](GineNetwork* self, const StateArrays& state, const std::optional<Input1<std::int64_t>>& index) {
                new (self) GineNetwork(to_tensors(state), index ? to_vector<std::int64_t>(*index) : std::vector<std::int64_t>{});
            },
            "state"_a, "index"_a.none() = nb::none(),
            "`state`: the arrays of the network by name; `index`: the row of `types.weight` of each type id (unknown: 0).")
        .def(
            "forward",
            [](const GineNetwork& self, const Input2<std::int64_t>& nodes, const Input2<std::int64_t>& edge_index,
               const Input1<std::int64_t>& edge_label, const Input1<std::int64_t>& node_ptr,
               const Input1<std::int64_t>& edge_ptr) {
                GraphInput input;
                input.nodes = values_of(nodes);
                input.columns = nodes.shape(1);
                if (input.columns < 2) throw std::invalid_argument("the array 'nodes' has no columns for kind and state");
                return values(self, input, edge_index, edge_label, node_ptr, edge_ptr);
            },
            "nodes"_a, "edge_index"_a, "edge_label"_a, "node_ptr"_a, "edge_ptr"_a,
            "The value of each graph of a relational `GraphBatch`.")
        .def(
            "forward_features",
            [](const GineNetwork& self, const Input2<float>& features, const Input1<std::int64_t>& kind,
               const Input2<std::int64_t>& edge_index, const Input1<std::int64_t>& edge_label,
               const Input1<std::int64_t>& node_ptr, const Input1<std::int64_t>& edge_ptr) {
                GraphInput input;
                input.features = values_of(features);
                input.width = features.shape(1);
                input.kind = values_of(kind);
                return values(self, input, edge_index, edge_label, node_ptr, edge_ptr);
            },
            "features"_a, "kind"_a, "edge_index"_a, "edge_label"_a, "node_ptr"_a, "edge_ptr"_a,
            "The value of each graph, from the input float32[n, width] and the kind of every node.")
        .def("score", &score, "graphs"_a, kIds, "threads"_a = 1, "The value of each e-state's graph.");

    nb::class_<WorldLabels>(m, "WorldLabels", "Numbers for the distinct (valuation, repetition index) pairs of worlds.")
        .def(nb::init<>())
        .def("__len__", &WorldLabels::size)
        .def(
            "describe",
            [](const WorldLabels& self, std::size_t first, std::uint32_t fluents) {
                const std::size_t end = self.size();  // other threads may add labels
                if (first > end) throw std::invalid_argument("there are not as many labels");
                auto valuations = new_array<std::uint8_t>(end - first, fluents);
                auto repetitions = new_array<std::int64_t>(end - first);
                self.describe(first, end, fluents, valuations.data(), repetitions.data());
                return std::make_tuple(valuations, repetitions);
            },
            "first"_a, "fluents"_a);

    m.def(
        "list_state_kinds", [] { return to_numpy(std::vector<std::int64_t>(kKindOfState.begin(), kKindOfState.end())); },
        "The kind of nodes for each state; states are numbered over all kinds.");
    m.def("graphs", &graphs, "rows"_a, "labels"_a, "identifiers"_a, "goals"_a, "goal_of"_a,
          "Unrolls rows to graphs.");
    m.def("refine", &refine_worlds, "rows"_a, "colours"_a, "Runs one round of colour refinement over worlds.");
    m.def(
        "holds",
        [](const ModelLists& model, const FormulaLists& formulas, FormulaId id) {
            const PlainModel plain = to_model(model);
            const Formulas known = to_formulas(formulas);
            const auto fluents = static_cast<std::uint32_t>(plain.valuation.size());
            const auto agents = static_cast<std::uint32_t>(plain.row_first.size() - 1);
            check(plain, fluents, agents);
            check(known, fluents, agents);
            check({id}, known);
            return holds(plain, known, id);
        },
        "model"_a, "formulas"_a, "id"_a, "Whether a formula holds at every designated world of a model.");
}
