// The formula table of a task and the evaluation of formulas as truth sets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "model.hpp"

namespace epi {

using FormulaId = std::uint32_t;

enum class Op : std::uint8_t { True, False, Fluent, Not, And, Or, Believes, Everybody, Common, Actually };

// One shared DAG; children precede their parents.
struct Formulas {
    std::vector<Op> op;
    std::vector<std::uint32_t> fluent;       // for Op::Fluent
    std::vector<std::uint32_t> child_first;  // size + 1 offsets into child
    std::vector<FormulaId> child;
    std::vector<std::uint32_t> agent_first;  // size + 1 offsets into agent
    std::vector<std::uint32_t> agent;

    std::size_t size() const { return op.size(); }
    std::span<const FormulaId> children(FormulaId id) const {
        return {child.data() + child_first[id], child.data() + child_first[id + 1]};
    }
    std::span<const std::uint32_t> agents(FormulaId id) const {
        return {agent.data() + agent_first[id], agent.data() + agent_first[id + 1]};
    }
};

class BeliefPaths;

// Truth sets of formulas in one model, each computed at its first use.
template <class P>
class Truths {
public:
    // `paths`, which must outlive this object, divide beliefs about beliefs.
    explicit Truths(const Formulas& formulas, const BeliefPaths* paths = nullptr)
        : formulas_(&formulas),
          paths_(paths),
          sets_(formulas.size()),
          stamps_(formulas.size(), 0),
          verdicts_(formulas.size()),
          verdict_stamps_(formulas.size(), 0) {}

    // Discards all truth sets; `model` must outlive its evaluation.
    void reset(const Model<P>& model) {
        model_ = &model;
        ++stamp_;
    }

    const Formulas& formulas() const { return *formulas_; }

    // The worlds where the formula holds.
    const typename P::Set& worlds(FormulaId id) {
        if (formulas_->op[id] == Op::Fluent) return model_->valuation[formulas_->fluent[id]];
        if (stamps_[id] != stamp_) {
            compute(id);
            stamps_[id] = stamp_;
        }
        return sets_[id];
    }

    // Whether the formula holds at every designated world.
    bool holds(FormulaId id) {
        if (verdict_stamps_[id] != stamp_) {
            verdicts_[id] = decide(id);
            verdict_stamps_[id] = stamp_;
        }
        return verdicts_[id] != 0;
    }

    // The worlds that an agent considers possible at some designated world.
    const typename P::Set& find_successors(std::uint32_t agent) { return follow(agent); }

private:
    bool decide(FormulaId id);
    void compute(FormulaId id);
    bool holds_throughout(const typename P::Set& where, FormulaId id);
    const typename P::Set& follow(std::uint32_t path);
    void evaluate_belief(std::uint32_t agent, const typename P::Set& inner, typename P::Set& out) const;
    void evaluate_common_belief(FormulaId id, const typename P::Set& inner, typename P::Set& out);

    const Formulas* formulas_;
    const BeliefPaths* paths_;  // null: paths have one agent each
    const Model<P>* model_ = nullptr;
    std::vector<typename P::Set> sets_;
    std::vector<std::uint64_t> stamps_;
    std::vector<std::uint8_t> verdicts_;         // whether a formula holds at every designated world
    std::vector<std::uint64_t> verdict_stamps_;
    std::vector<typename P::Set> path_worlds_;   // per path
    std::vector<std::uint64_t> path_stamps_;
    std::uint64_t stamp_ = 0;
};

// An unpacked e-state with the truth sets of formulas.
template <class P>
struct Evaluator {
    explicit Evaluator(const Formulas& formulas, const BeliefPaths* paths = nullptr) : truths(formulas, paths) {}

    void load(const std::uint8_t* packed, std::uint32_t fluents, std::uint32_t agents) {
        unpack(packed, fluents, agents, model);
        truths.reset(model);
    }

    Model<P> model;
    Truths<P> truths;
};

// One object per representation of models, created at its first use.
template <template <class> class T>
using PerPolicy = std::tuple<std::unique_ptr<T<Dense>>, std::unique_ptr<T<Sparse>>>;

// Evaluates formulas in packed e-states, one after the other.
class Evaluators {
public:
    Evaluators(const Formulas& formulas, std::uint32_t fluents, std::uint32_t agents, const BeliefPaths* paths = nullptr)
        : formulas_(&formulas), paths_(paths), fluents_(fluents), agents_(agents) {}

    // Calls action(evaluator) with the e-state loaded.
    template <class Action>
    decltype(auto) with(const std::uint8_t* packed, Action&& action) {
        return with_policy(count_worlds(packed), [&]<class P>() -> decltype(auto) {
            auto& evaluator = std::get<std::unique_ptr<Evaluator<P>>>(evaluators_);
            if (!evaluator) evaluator = std::make_unique<Evaluator<P>>(*formulas_, paths_);
            evaluator->load(packed, fluents_, agents_);
            return action(*evaluator);
        });
    }

private:
    const Formulas* formulas_;
    const BeliefPaths* paths_;
    std::uint32_t fluents_, agents_;
    PerPolicy<Evaluator> evaluators_;
};

extern template class Truths<Dense>;
extern template class Truths<Sparse>;

}  // namespace epi
