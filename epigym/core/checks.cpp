#include "checks.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>

#include "arrays.hpp"

namespace epi {

namespace {

constexpr std::uint32_t kMaxAgents = 65535;  // packed e-states number relations in 16 bits

void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(std::string(what) + " do not fit");
}

// Whether `first` are the offsets of `count` rows in a table of `size` entries.
bool are_offsets_of(const std::vector<std::uint32_t>& first, std::size_t count, std::size_t size) {
    return first.size() == count + 1 && are_offsets(first, size);
}

bool is_shaped(const Formulas& formulas, FormulaId id) {
    const std::size_t children = formulas.children(id).size(), agents = formulas.agents(id).size();
    switch (formulas.op[id]) {
        case Op::True:
        case Op::False:
        case Op::Fluent: return children == 0 && agents == 0;
        case Op::Not: return children == 1 && agents == 0 && formulas.op[formulas.children(id).front()] != Op::Not;
        case Op::Actually: return children == 1 && agents == 0;
        case Op::And:
        case Op::Or: return children > 0 && agents == 0;
        case Op::Believes: return children == 1 && agents == 1;
        case Op::Everybody:
        case Op::Common: return children == 1 && agents > 0;
    }
    return false;
}

EventMask all_of(std::size_t events) { return events == kMaxEvents ? ~EventMask{0} : (EventMask{1} << events) - 1; }

// Whether the groups of a relation divide the first `events` events, and lead to these only.
bool is_over(const EventRelation& relation, std::size_t events) {
    EventMask sources = 0, targets = 0;
    for (const EventGroup& group : relation) {
        if (group.sources == 0 || (sources & group.sources) != 0) return false;
        sources |= group.sources;
        targets |= group.targets;
    }
    return sources == all_of(events) && (targets & ~sources) == 0;
}

std::uint32_t levels(Op op) { return op == Op::Everybody ? 2 : op >= Op::And ? 1 : 0; }

}  // namespace

void check(const Formulas& formulas, std::uint32_t fluents, std::uint32_t agents) {
    const std::size_t size = formulas.size();
    require(formulas.fluent.size() == size && are_offsets_of(formulas.child_first, size, formulas.child.size()) &&
                are_offsets_of(formulas.agent_first, size, formulas.agent.size()) && are_below(formulas.agent, agents),
            "formulas");
    std::vector<std::uint32_t> nesting(size, 0);
    for (FormulaId id = 0; id < size; ++id) {
        require(are_below(formulas.children(id), id) && is_shaped(formulas, id) &&
                    (formulas.op[id] != Op::Fluent || formulas.fluent[id] < fluents),
                "formulas");
        for (FormulaId child : formulas.children(id)) nesting[id] = std::max(nesting[id], nesting[child]);
        nesting[id] += levels(formulas.op[id]);
        if (nesting[id] > kMaxLevels)
            throw std::invalid_argument("a formula has more than " + std::to_string(kMaxLevels) + " levels");
    }
}

void check(const std::vector<FormulaId>& roots, const Formulas& formulas) {
    require(are_below(roots, formulas.size()), "numbers of formulas");
}

void check(const PlainModel& model, std::uint32_t fluents, std::uint32_t agents) {
    const auto are_worlds = [&](const List& worlds) {
        return are_below(worlds, model.worlds) && std::ranges::is_sorted(worlds);
    };
    require(!model.designated.empty() && are_worlds(model.designated) && model.valuation.size() == fluents &&
                std::ranges::all_of(model.valuation, are_worlds),
            "the worlds of an e-state");
    const std::size_t rows = count_rows(model.successor_first);
    require(model.row_of.size() == std::size_t{agents} * model.worlds && are_offsets_of(model.row_first, agents, rows) &&
                are_offsets_of(model.successor_first, rows, model.successor.size()) &&
                are_below(model.successor, model.worlds),
            "the relations of an e-state");
    for (std::uint32_t i = 0; i < agents; ++i) {
        const auto own = std::span(model.row_of).subspan(std::size_t{i} * model.worlds, model.worlds);
        require(are_below(own, model.row_first[i + 1] - model.row_first[i]), "the relations of an e-state");
    }
    for (std::size_t row = 0; row < rows; ++row)
        require(std::is_sorted(model.successor.begin() + model.successor_first[row],
                               model.successor.begin() + model.successor_first[row + 1]),
                "the relations of an e-state");
}

void check(const TaskData& task) {
    const ActionTable& table = task.actions;
    const auto is_formula = [&](FormulaId id) { return id < task.formulas.size(); };
    if (task.agents > kMaxAgents)
        throw std::invalid_argument("a task has more than " + std::to_string(kMaxAgents) + " agents");
    check(task.formulas, task.fluents, task.agents);
    check(task.goal, task.formulas);
    check(task.initial, task.fluents, task.agents);
    for (const Event& event : table.events)
        require(is_formula(event.precondition) && std::ranges::all_of(event.effects, [&](const Effect& effect) {
                    return effect.fluent < task.fluents && is_formula(effect.condition);
                }),
                "events");
    for (const EventModel& model : table.event_models)
        require(model.events.size() <= kMaxEvents && are_below(model.events, table.events.size()) &&
                    model.designated != 0 && (model.designated & ~all_of(model.events.size())) == 0,
                "designated events");
    for (const auto& conditions : table.observability)
        require(!conditions.empty() && std::ranges::all_of(conditions, [&](const Observability& one) {
                    return is_formula(one.condition) && one.relation < table.relations.size();
                }) && task.formulas.op[conditions.back().condition] == Op::True,
                "observability conditions");
    for (const Action& action : table.actions) {
        require(is_formula(action.applicability) && action.event_model < table.event_models.size() &&
                    action.observability.size() == task.agents &&
                    are_below(action.observability, table.observability.size()),
                "actions");
        const std::size_t events = table.event_models[action.event_model].events.size();
        for (std::uint32_t conditions : action.observability)
            for (const Observability& one : table.observability[conditions])
                require(is_over(table.relations[one.relation], events), "relations of events");
    }
}

void check(const std::vector<Symmetry>& symmetries, const TaskData& task) {
    for (const auto& [agents, fluents, actions] : symmetries)
        for (const auto& [swaps, count] : {std::pair(&agents, std::size_t{task.agents}),
                                           std::pair(&fluents, std::size_t{task.fluents}),
                                           std::pair(&actions, task.actions.actions.size())})
            for (const auto& [one, other] : *swaps) require(one < count && other < count, "symmetries");
}

}  // namespace epi
