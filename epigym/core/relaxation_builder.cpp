#include "relaxation_builder.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "additions.hpp"
#include "formula_store.hpp"

namespace epi {

namespace {

using Kind = RelaxationData::Kind;
using Node = std::uint32_t;

// The negated beliefs among the subformulas of the subgoals.
std::unordered_set<FormulaId> doubts_of(const std::vector<FormulaId>& goal, FormulaStore& store) {
    std::unordered_set<FormulaId> seen, found;
    std::vector<FormulaId> open;
    for (FormulaId subgoal : goal) open.push_back(store.normal_form(subgoal));
    while (!open.empty()) {
        const FormulaId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        if (id != store.strip_negation(id) && store[store.strip_negation(id)].op == Op::Believes) found.insert(id);
        for (FormulaId child : store[id].children) open.push_back(child);
    }
    return found;
}

class Builder {
public:
    explicit Builder(const TaskData& task)
        : task_(&task),
          store_(task.formulas),
          additions_(task.actions, store_, doubts_of(task.goal, store_)),
          deepest_(deepest_need() + 1),
          is_joint_(std::ranges::any_of(task.actions.event_models, [](const EventModel& model) {
              return !std::has_single_bit(model.designated);
          })) {
        for (ActionId action = 0; action < task.actions.actions.size(); ++action) {
            for (FormulaId formula : additions_.list_guaranteed(action)) {
                auto& adding = adding_[formula];
                if (adding.empty() || adding.back() != action) adding.push_back(action);
            }
        }
    }

    RelaxationData build() {
        add_subgoals();
        data_.adder_ptr.push_back(0);
        for (Node number = 0; number < data_.kind.size(); ++number) {  // operators add new facts
            add_adders(number);
            data_.adder_ptr.push_back(static_cast<std::uint32_t>(data_.op.size()));
        }
        data_.child_ptr.push_back(0);
        for (const auto& children : children_) {
            data_.child.insert(data_.child.end(), children.begin(), children.end());
            data_.child_ptr.push_back(static_cast<std::uint32_t>(data_.child.size()));
        }
        data_.formulas = store_.pack(data_.formula);
        return std::move(data_);
    }

private:
    const EventModel& event_model(const Action& action) const {
        return task_->actions.event_models[action.event_model];
    }
    // The precondition of the first event of a set.
    FormulaId precondition(const EventModel& model, EventMask events) const {
        return task_->actions.events[model.events[std::countr_zero(events)]].precondition;
    }

    // Subgoals whose normal forms have the same conjuncts count once.
    void add_subgoals() {
        std::set<std::vector<FormulaId>> seen;
        for (FormulaId subgoal : task_->goal) {
            const FormulaId normal = store_.normal_form(subgoal);
            auto conjuncts = store_.conjuncts(normal);
            std::ranges::sort(conjuncts);
            if (seen.insert(std::move(conjuncts)).second) data_.goal.push_back(node(normal));
        }
    }

    // The largest modal depth of goals, applicability formulas, preconditions of designated events, and conditions.
    std::uint32_t deepest_need() {
        std::uint32_t deepest = 0;
        const auto need = [&](FormulaId id) { deepest = std::max(deepest, store_.depth(store_.normal_form(id))); };
        std::ranges::for_each(task_->goal, need);
        for (const Action& action : task_->actions.actions) need(action.applicability);
        for (const EventModel& model : task_->actions.event_models)
            for (EventMask left = model.designated; left != 0; left &= left - 1) need(precondition(model, left));
        for (const Event& event : task_->actions.events)
            for (const Effect& effect : event.effects) need(effect.condition);
        for (const auto& conditions : task_->actions.observability)
            for (const Observability& observability : conditions) need(observability.condition);
        return deepest;
    }

    Node add(Kind kind, FormulaId formula) {
        data_.kind.push_back(kind);
        data_.formula.push_back(formula);
        children_.emplace_back();
        return static_cast<Node>(data_.kind.size() - 1);
    }

    std::vector<Node> nodes(const std::vector<FormulaId>& formulas) {
        std::vector<Node> found;
        for (FormulaId formula : formulas) found.push_back(node(formula));
        return found;
    }

    // The node of a formula in normal form.
    Node node(FormulaId id) {
        if (const auto known = node_of_.find(id); known != node_of_.end()) return known->second;
        const auto parts = find_sufficient(id);
        const Formula& formula = store_[id];
        const bool is_all = formula.op == Op::True || formula.op == Op::And;
        const Node number = add(is_all ? Kind::All : parts.empty() ? Kind::Fact : Kind::Any, id);
        node_of_.emplace(id, number);
        auto children = nodes(is_all ? formula.children : parts);
        // A belief or a doubt that follows from other formulas is a fact, too. So is a disjunction of beliefs: several
        // events together may each add one of its parts.
        if (!parts.empty() && formula.op == Op::Believes)
            children.insert(children.begin(), add(Kind::Fact, id));
        else if (!parts.empty() && formula.op == Op::Not && store_[store_.strip_negation(id)].op == Op::Believes)
            children.push_back(add(Kind::Fact, id));
        else if (is_joint_ && formula.op == Op::Or && store_.depth(id) > 0)
            children.push_back(add(Kind::Fact, id));
        children_[number] = std::move(children);
        return number;
    }

    // Other formulas that each imply a formula in normal form; none if it is only a fact.
    std::vector<FormulaId> find_sufficient(FormulaId id) {
        const Formula& formula = store_[id];
        std::vector<FormulaId> found;
        if (formula.op == Op::Or) return formula.children;
        if (formula.op == Op::Believes) {
            for (FormulaId part : find_sufficient(formula.children.front()))
                found.push_back(store_.normal_form(store_.believes(formula.agents.front(), part)));
        } else if (formula.op == Op::Not) {
            const Formula& inner = store_[formula.children.front()];
            if (inner.op == Op::Believes)
                found.push_back(store_.normal_form(
                    store_.believes(inner.agents.front(), store_.negation(inner.children.front()))));
            if (inner.op == Op::Common)
                for (auto agent : inner.agents)
                    found.push_back(store_.negation(store_.believes(agent, inner.children.front())));
        }
        return found;
    }

    // The node of a conjunction and of formulas that must hold now.
    Node node(FormulaId needed, const std::vector<FormulaId>& now) {
        if (now.empty()) return node(needed);
        const auto key = std::pair(needed, now);
        if (const auto known = joint_nodes_.find(key); known != joint_nodes_.end()) return known->second;
        for (FormulaId formula : now)
            if (!fixed_nodes_.contains(formula)) fixed_nodes_.emplace(formula, add(Kind::Fact, formula));
        auto children = nodes(store_.conjuncts(needed));
        for (FormulaId formula : now) children.push_back(fixed_nodes_.at(formula));
        const Node number = add(Kind::All, needed);
        children_[number] = std::move(children);
        return joint_nodes_[key] = number;
    }

    // Adds the operators that add a fact, with the requirement of each alternative, in the order of tie-breaking.
    void add_adders(Node number) {
        const FormulaId fact = data_.formula[number];
        const auto now = fixed_nodes_.find(fact);
        const bool is_constant = fact == store_.constant(false) || (now != fixed_nodes_.end() && now->second == number);
        if (data_.kind[number] != Kind::Fact || is_constant || store_.depth(fact) > deepest_) return;
        for (ActionId action : find_candidates(fact)) add_adders(action, fact);
    }

    // The actions with a guarantee that may contribute to a fact.
    std::vector<ActionId> find_candidates(FormulaId fact) {
        std::vector<ActionId> found;
        std::vector<FormulaId> open{fact};
        std::unordered_set<FormulaId> seen;
        while (!open.empty()) {
            const FormulaId id = open.back();
            open.pop_back();
            if (!seen.insert(id).second) continue;
            if (const auto adding = adding_.find(id); adding != adding_.end())
                found.insert(found.end(), adding->second.begin(), adding->second.end());
            const FormulaId inner = store_.strip_negation(id);
            if (inner == id) open.insert(open.end(), store_[id].children.begin(), store_[id].children.end());
            else if (store_[inner].op != Op::Fluent)
                open.push_back(store_.normal_form(store_[inner].children.front(), true));
        }
        std::ranges::sort(found);
        found.erase(std::ranges::unique(found).begin(), found.end());
        return found;
    }

    // Adds the operators of an action: each designated event, then all of them together. Only the latter add
    // disjunctions.
    void add_adders(ActionId action, FormulaId fact) {
        const EventMask designated = event_model(task_->actions.actions[action]).designated;
        std::vector<std::pair<EventMask, std::vector<Alternative>>> found;
        for (EventMask left = store_[fact].op == Op::Or ? 0 : designated; left != 0; left &= left - 1) {
            const EventMask event = left & ~(left - 1);
            found.emplace_back(event, additions_.find_alternatives(action, event, fact));
        }
        if (!std::has_single_bit(designated))
            found.emplace_back(designated, additions_.find_alternatives(action, designated, fact));
        for (const auto& [events, alternatives] : found)
            if (!alternatives.empty()) add_adders(action, events, alternatives);
    }

    void add_adders(ActionId action, EventMask events, const std::vector<Alternative>& alternatives) {
        const auto [op, own] = op_of(action, events);
        std::set<Alternative> seen;
        for (const Alternative& alternative : alternatives) {
            if (alternatives.size() > 1 && !seen.insert(alternative).second) continue;
            std::vector<FormulaId> needs{own}, now;
            for (const auto& [formula, is_now] : alternative.conditions) {
                const FormulaId normal = store_.normal_form(formula);
                if (!is_now) needs.push_back(normal);
                else if (std::ranges::find(now, normal) == now.end()) now.push_back(normal);
            }
            for (const AgentType& type : alternative.types) needs.push_back(additions_.type_condition(action, type));
            const FormulaId needed = store_.conjunction(needs);
            if (needed == store_.constant(false)) continue;
            data_.requirement.push_back(node(needed, now));
            data_.op.push_back(op);
        }
    }

    struct Operator {
        std::uint32_t number;
        FormulaId requirement;
    };

    const Operator& op_of(ActionId action, EventMask events) {
        const auto [found, is_new] = operators_.try_emplace({action, events});
        if (is_new) {
            found->second = {static_cast<std::uint32_t>(data_.action.size()), requirement(action, events)};
            data_.action.push_back(action);
            data_.op_requirement.push_back(node(found->second.requirement));
        }
        return found->second;
    }

    // The requirement for one event of a set to occur: the common conjuncts of their preconditions, and one of the
    // rests.
    FormulaId requirement(ActionId id, EventMask events) {
        const Action& action = task_->actions.actions[id];
        std::vector<std::vector<FormulaId>> rests;
        for (; events != 0; events &= events - 1)
            rests.push_back(store_.conjuncts(store_.normal_form(precondition(event_model(action), events))));
        std::vector<FormulaId> needs{store_.normal_form(action.applicability)}, choices;
        for (FormulaId part : std::vector(rests.front())) {
            const auto has_part = [&](const auto& rest) { return std::ranges::find(rest, part) != rest.end(); };
            if (!std::ranges::all_of(rests, has_part)) continue;
            needs.push_back(part);
            for (auto& rest : rests) std::erase(rest, part);
        }
        for (const auto& rest : rests) choices.push_back(store_.conjunction(rest));
        needs.push_back(store_.disjunction(choices));
        return store_.conjunction(needs);
    }

    const TaskData* task_;
    FormulaStore store_;
    Additions additions_;
    std::uint32_t deepest_;
    bool is_joint_;  // whether some event model has several designated events
    std::unordered_map<FormulaId, std::vector<ActionId>> adding_;  // per formula: the actions that guarantee it
    RelaxationData data_;
    std::vector<std::vector<Node>> children_;
    std::unordered_map<FormulaId, Node> node_of_, fixed_nodes_;  // fixed_nodes_: formulas that must hold now
    std::map<std::pair<FormulaId, std::vector<FormulaId>>, Node> joint_nodes_;
    std::map<std::pair<ActionId, EventMask>, Operator> operators_;
};

}  // namespace

RelaxationData build_relaxation(const TaskData& task) { return Builder(task).build(); }

}  // namespace epi
