// The interned, lazily explored state space of a task.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "applicability.hpp"
#include "formula.hpp"
#include "hashing.hpp"
#include "model.hpp"
#include "symmetry.hpp"
#include "update.hpp"

namespace epi {

using StateId = std::uint32_t;

struct TaskData {
    std::uint32_t fluents = 0;
    std::uint32_t agents = 0;
    Formulas formulas;
    ActionTable actions;
    std::vector<FormulaId> goal;
    PlainModel initial;
};

// An agent has inconsistent beliefs in an e-state that the space excludes: a given one, or the successor by an action.
struct InconsistentBeliefs : std::runtime_error {
    explicit InconsistentBeliefs(std::uint32_t agent, std::optional<ActionId> action = std::nullopt)
        : std::runtime_error("an agent has inconsistent beliefs"), agent(agent), action(action) {}
    std::uint32_t agent;
    std::optional<ActionId> action;
};

// An action is not applicable in an e-state.
struct Inapplicable : std::runtime_error {
    Inapplicable(StateId state, ActionId action)
        : std::runtime_error("an action is not applicable"), state(state), action(action) {}
    StateId state;
    ActionId action;
};

struct Transition {
    ActionId action;
    StateId target;
};

// Parallel arrays, one entry per transition.
struct Expansion {
    std::vector<std::int32_t> source, action, target;
    std::vector<std::uint8_t> is_new;

    void push(StateId from, ActionId by, StateId to, bool is_generated) {
        source.push_back(static_cast<std::int32_t>(from));
        action.push_back(static_cast<std::int32_t>(by));
        target.push_back(static_cast<std::int32_t>(to));
        is_new.push_back(is_generated);
    }
};

// Transitions by outcomes: the designated event, and the number of the assignment of observability types.
struct Outcomes : Expansion {
    std::vector<std::int32_t> event, assignment;

    void push(StateId from, ActionId by, std::uint32_t event_number, std::uint32_t types, StateId to,
              bool is_generated) {
        Expansion::push(from, by, to, is_generated);
        event.push_back(static_cast<std::int32_t>(event_number));
        assignment.push_back(static_cast<std::int32_t>(types));
    }
};

// Packed e-states under consecutive ids, each stored once.
class StateStore {
public:
    static std::uint64_t hash(std::span<const std::uint8_t> packed);

    // The id of a packed e-state with this hash, if it is stored.
    std::optional<StateId> find(std::span<const std::uint8_t> packed, std::uint64_t hash) const;
    // The id of a packed e-state, and whether this call added it.
    std::pair<StateId, bool> insert(std::span<const std::uint8_t> packed, std::uint64_t hash);

    const std::uint8_t* operator[](StateId id) const { return blocks_[where_[id].block].get() + where_[id].offset; }
    std::span<const std::uint8_t> packed_form(StateId id) const { return {(*this)[id], where_[id].length}; }
    std::size_t size() const { return where_.size(); }
    std::size_t nbytes() const;

private:
    struct Place {
        std::uint32_t block, offset, length;
    };

    bool is_equal(StateId id, std::span<const std::uint8_t> packed) const;
    std::uint8_t* allocate(std::size_t length, Place& place);

    std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
    std::size_t block_used_ = 0, block_size_ = 0, blocks_bytes_ = 0;
    std::vector<Place> where_;
    HashTable ids_;
};

class Worker;

class Space {
public:
    // `consistent_beliefs` excludes e-states in which an agent has inconsistent beliefs.
    Space(TaskData task, bool consistent_beliefs);
    ~Space();

    const TaskData& task() const { return task_; }
    std::size_t size() const { return states_.size(); }
    std::size_t nbytes() const;
    // The number of successors computed so far (cached ones excluded), and the sum of the worlds of their predecessors.
    std::pair<std::uint64_t, std::uint64_t> generated() const { return {generated_, generated_worlds_}; }

    // From now on expansions use one action of each orbit only. Throws std::invalid_argument when there are others
    // already, with which e-states were expanded.
    void set_symmetries(std::vector<Symmetry> symmetries);

    // All functions throw std::out_of_range when an id is unknown; functions that apply actions throw Disagreement when
    // an observability type is undecided.
    void expand(std::span<const StateId> ids, bool stop_at_goal, unsigned threads, Expansion& out);
    // The outcomes of the actions that expansions use, except actions with an excluded outcome; never throws
    // Disagreement.
    void outcomes(std::span<const StateId> ids, Outcomes& out);
    StateId successor(StateId id, ActionId action);          // throws Inapplicable and InconsistentBeliefs
    void mark_applicable(StateId id, std::uint8_t* out);   // [actions]
    void mark_allowed(StateId id, std::uint8_t* out);      // as above, except actions to excluded e-states
    void representatives(StateId id, std::int32_t* out);   // [actions]: the first of each one's orbit
    bool is_goal(StateId id) const { return packed_form(id) != nullptr && goal_[id] != 0; }
    World worlds(StateId id) const { return count_worlds(packed_form(id)); }
    PlainModel model(StateId id) const;
    StateId intern(const PlainModel& model);  // throws InconsistentBeliefs
    const std::uint8_t* packed_form(StateId id) const;

private:
    struct Successors;
    static constexpr std::uint64_t kUnexpanded = ~std::uint64_t{0};

    struct Part;

    StateId add(std::span<const std::uint8_t> packed);
    StateId add(std::span<const std::uint8_t> packed, std::uint64_t hash, bool is_goal, bool& is_new);
    void produce(StateId id, Part part, Worker& worker, Successors& out) const;
    void produce(std::span<const StateId> ids, std::uint32_t parts, unsigned threads);
    bool record(StateId id, std::span<const std::unique_ptr<Successors>> parts, bool stop_at_goal, Expansion& out);
    bool replay(StateId id, bool stop_at_goal, Expansion& out) const;
    struct Branch {
        ActionId action;
        std::uint32_t event, assignment;
        StateId target;
    };
    void branch(StateId id, Outcomes& out);
    void count_generated(std::uint64_t successors, StateId id);  // successors of an e-state
    bool is_expanded(StateId id) const { return first_transition_[id] != kUnexpanded; }
    std::span<const Transition> transitions(StateId id) const {  // of an expanded e-state, actions ascending
        return std::span(transitions_).subspan(first_transition_[id], transition_count_[id]);
    }

    TaskData task_;
    std::vector<Symmetry> symmetries_;
    bool consistent_beliefs_;
    ActionIndex index_;
    StateStore states_;
    std::vector<std::uint8_t> goal_;               // per state
    std::vector<std::uint64_t> first_transition_;  // per state, kUnexpanded before its expansion
    std::vector<std::uint32_t> transition_count_;  // per state
    std::vector<Transition> transitions_;
    std::unordered_map<StateId, std::vector<Branch>> branches_;  // of e-states with computed outcomes
    std::size_t branch_count_ = 0;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::unique_ptr<Successors>> successors_;  // of the block being expanded, part by part
    std::vector<StateId> target_of_;                       // per action of the e-state being recorded
    Bytes packed_;                                         // the successor by a single action
    std::uint64_t generated_ = 0, generated_worlds_ = 0;
};

// Formulas to evaluate in many e-states of a space.
class Query {
public:
    Query(const Space& space, Formulas formulas, std::vector<FormulaId> roots);
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    std::size_t size() const { return roots_.size(); }
    // Both throw std::out_of_range when the id is unknown.
    void holds(StateId id, std::uint8_t* out);  // [roots]
    bool all_hold(StateId id);

private:
    const Space* space_;
    Formulas formulas_;
    std::vector<FormulaId> roots_;
    Evaluators evaluators_;
};

// Whether a formula holds at every designated world of a model.
bool holds(const PlainModel& model, const Formulas& formulas, FormulaId id);

}  // namespace epi
