#include "space.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "none.hpp"
#include "parallel.hpp"

namespace epi {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr ActionId kExcluded = kUnchanged - 1;  // leads to inconsistent beliefs, which are excluded
constexpr std::size_t kReadAhead = 16;  // unpacking may read this far past the end of a state

__extension__ using Wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_bytes(const std::uint8_t* bytes, std::size_t length) {
    std::uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    for (; length > 8; bytes += 8, length -= 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes, 8);
        hash = mix(hash ^ word, 0xa0761d6478bd642fu);
    }
    std::uint64_t last = 0;
    std::memcpy(&last, bytes, length);
    return mix(hash ^ last, 0xe7037ed1a0b428dbu);
}

// The first agent with inconsistent beliefs: without successors at some designated world.
std::optional<std::uint32_t> find_inconsistent_agent(const Model<Sparse>& model) {
    for (std::uint32_t i = 0; i < model.agents(); ++i)
        for (const auto& row : model.rows(i))
            if (row.successors.empty() && intersects(row.members, model.designated)) return i;
    return std::nullopt;
}

}  // namespace

std::uint64_t StateStore::hash(std::span<const std::uint8_t> packed) { return hash_bytes(packed.data(), packed.size()); }

bool StateStore::is_equal(StateId id, std::span<const std::uint8_t> packed) const {
    return where_[id].length == packed.size() && std::memcmp((*this)[id], packed.data(), packed.size()) == 0;
}

std::optional<StateId> StateStore::find(std::span<const std::uint8_t> packed, std::uint64_t hash) const {
    const StateId id = ids_.find(hash, [&](StateId known) { return is_equal(known, packed); });
    return id == kNone ? std::nullopt : std::optional(id);
}

std::pair<StateId, bool> StateStore::insert(std::span<const std::uint8_t> packed, std::uint64_t hash) {
    return ids_.insert(hash, [&](StateId known) { return is_equal(known, packed); }, [&] {
        Place place{};
        std::memcpy(allocate(packed.size(), place), packed.data(), packed.size());
        where_.push_back(place);
    });
}

std::uint8_t* StateStore::allocate(std::size_t length, Place& place) {
    if (block_used_ + length + kReadAhead > block_size_) {
        const std::size_t size = std::max(kBlockBytes, length + kReadAhead);
        blocks_.push_back(std::make_unique<std::uint8_t[]>(size));
        blocks_bytes_ += block_size_ = size;
        block_used_ = 0;
    }
    place = {static_cast<std::uint32_t>(blocks_.size() - 1), static_cast<std::uint32_t>(block_used_),
             static_cast<std::uint32_t>(length)};
    block_used_ += length;
    return blocks_.back().get() + place.offset;
}

std::size_t StateStore::nbytes() const {
    return blocks_bytes_ + where_.capacity() * sizeof(Place) + ids_.nbytes();
}

// The objects with which one thread evaluates e-states and applies actions, created at their first use.
class Worker {
public:
    Worker(const TaskData& task, const std::vector<Symmetry>& symmetries)
        : orbits(symmetries, task.actions.actions.size()),
          task_(&task),
          evaluators_(task.formulas, task.fluents, task.agents) {}

    Orbits orbits;

    // Calls action(evaluator) with the e-state loaded.
    template <class Action>
    decltype(auto) with_evaluator(const std::uint8_t* packed, Action&& action) {
        return evaluators_.with(packed, std::forward<Action>(action));
    }

    // Calls action(updater) with the e-state loaded.
    template <class Action>
    decltype(auto) with_updater(const std::uint8_t* packed, Action&& action) {
        return with_policy(count_worlds(packed), [&]<class P>() -> decltype(auto) {
            auto& updater = std::get<std::unique_ptr<Updater<P>>>(updaters_);
            if (!updater)
                updater = std::make_unique<Updater<P>>(task_->formulas, task_->actions, task_->fluents, task_->agents);
            updater->load(packed);
            return action(*updater);
        });
    }

    bool is_goal(const std::uint8_t* packed) {
        return with_evaluator(packed, [&](auto& state) {
            return std::all_of(task_->goal.begin(), task_->goal.end(), [&](FormulaId id) { return state.truths.holds(id); });
        });
    }

private:
    const TaskData* task_;
    Evaluators evaluators_;
    PerPolicy<Updater> updaters_;
};

Space::Space(TaskData task, bool consistent_beliefs)
    : task_(std::move(task)), consistent_beliefs_(consistent_beliefs), index_(task_.formulas, task_.actions) {
    workers_.push_back(std::make_unique<Worker>(task_, symmetries_));
    intern(task_.initial);
}

Space::~Space() = default;

std::size_t Space::nbytes() const {
    return states_.nbytes() + goal_.capacity() + first_transition_.capacity() * sizeof(std::uint64_t) +
           transition_count_.capacity() * sizeof(std::uint32_t) + transitions_.capacity() * sizeof(Transition) +
           branch_count_ * sizeof(Branch) + branches_.size() * sizeof(*branches_.begin());
}

const std::uint8_t* Space::packed_form(StateId id) const {
    if (id >= states_.size())
        throw std::out_of_range("state " + std::to_string(static_cast<std::int32_t>(id)) + " does not exist: the space has " +
                                std::to_string(states_.size()) + " e-states so far");
    return states_[id];
}

StateId Space::add(std::span<const std::uint8_t> packed, std::uint64_t hash, bool is_goal, bool& is_new) {
    // Out of memory, the tables may be longer than the store, but never shorter.
    goal_.resize(size() + 1);
    first_transition_.resize(size() + 1, kUnexpanded);
    transition_count_.resize(size() + 1);
    StateId id;
    std::tie(id, is_new) = states_.insert(packed, hash);
    if (is_new) goal_[id] = is_goal;
    return id;
}

StateId Space::add(std::span<const std::uint8_t> packed) {
    const std::uint64_t hash = StateStore::hash(packed);
    if (const auto known = states_.find(packed, hash)) return *known;
    Bytes readable(packed.begin(), packed.end());
    readable.resize(packed.size() + kReadAhead);
    bool is_new;
    return add(packed, hash, workers_[0]->is_goal(readable.data()), is_new);
}

StateId Space::intern(const PlainModel& plain) {
    const Model<Sparse> model = restrict_to_reachable(plain);
    if (consistent_beliefs_)
        if (const auto agent = find_inconsistent_agent(model)) throw InconsistentBeliefs(*agent);
    Contraction<Sparse> contraction;
    Bytes packed;
    contraction.pack(model, packed);
    return add(packed);
}

void Space::set_symmetries(std::vector<Symmetry> symmetries) {
    if (!symmetries_.empty() && symmetries != symmetries_)
        throw std::invalid_argument("the space has other symmetries already");
    symmetries_ = std::move(symmetries);
}

PlainModel Space::model(StateId id) const {
    const std::uint8_t* bytes = packed_form(id);
    return with_policy(count_worlds(bytes), [&]<class P>() {
        Model<P> model;
        unpack(bytes, task_.fluents, task_.agents, model);
        return to_plain(model);
    });
}

void Space::mark_applicable(StateId id, std::uint8_t* out) {
    workers_[0]->with_updater(packed_form(id), [&](auto& updater) {
        std::vector<ActionId> actions;
        updater.find_applicable(index_, actions);
        std::fill_n(out, task_.actions.actions.size(), 0);
        for (ActionId a : actions) out[a] = 1;
    });
}

void Space::mark_allowed(StateId id, std::uint8_t* out) {
    const std::uint8_t* const bytes = packed_form(id);
    if (is_expanded(id) && symmetries_.empty()) {
        std::fill_n(out, task_.actions.actions.size(), 0);
        for (const auto& [action, target] : transitions(id)) out[action] = 1;
        return;
    }
    mark_applicable(id, out);
    if (!consistent_beliefs_) return;
    workers_[0]->with_updater(bytes, [&](auto& updater) {
        const auto is_inconsistent = [&](ActionId action) {
            try {
                return updater.find_inconsistent_agent(action).has_value();
            } catch (const Disagreement&) {  // applying the action reports it
                return false;
            }
        };
        for (ActionId a = 0; a < task_.actions.actions.size(); ++a) out[a] = out[a] && !is_inconsistent(a);
    });
}

void Space::representatives(StateId id, std::int32_t* out) {
    Worker& worker = *workers_[0];
    worker.with_updater(packed_form(id), [&](auto& updater) {
        std::vector<ActionId> actions;
        updater.find_applicable(index_, actions);
        worker.orbits.load(states_.packed_form(id), updater.model(), actions);
        for (ActionId a = 0; a < task_.actions.actions.size(); ++a) *out++ = static_cast<std::int32_t>(worker.orbits.first(a));
    });
}

StateId Space::successor(StateId id, ActionId action) {
    if (action >= task_.actions.actions.size())
        throw std::out_of_range("action " + std::to_string(static_cast<std::int32_t>(action)) + " does not exist");
    const std::uint8_t* const bytes = packed_form(id);
    if (is_expanded(id)) {
        const auto known = transitions(id);
        const auto found = std::ranges::lower_bound(known, action, {}, &Transition::action);
        if (found != known.end() && found->action == action) return found->target;
    }
    return workers_[0]->with_updater(bytes, [&](auto& updater) {
        if (!updater.is_applicable(action)) throw Inapplicable(id, action);
        if (consistent_beliefs_)
            if (const auto agent = updater.find_inconsistent_agent(action)) throw InconsistentBeliefs(*agent, action);
        packed_.clear();
        const bool is_unchanged = updater.apply(action, packed_) == kUnchanged;
        count_generated(1, id);
        return is_unchanged ? id : add(packed_);
    });
}

// Every count-th action of an e-state, starting with the number-th.
struct Space::Part {
    std::uint32_t number, count;
};

// The actions of a part of an e-state, the first of each orbit, with their packed successors. An error ends the list.
struct Space::Successors {
    struct Entry {
        ActionId action;
        ActionId same_as;  // the action, an earlier one of the part with the same successor, kUnchanged or kExcluded
        std::size_t begin, end;
        std::uint64_t hash;
        std::optional<StateId> known;  // the successor, if it was stored before this block
        bool is_goal;                  // only if it was not
    };
    std::vector<ActionId> actions;
    std::vector<Entry> entries;
    Bytes bytes;
    std::exception_ptr error;

    std::span<const std::uint8_t> packed_form(const Entry& entry) const {
        return std::span(bytes).subspan(entry.begin, entry.end - entry.begin);
    }
};

void Space::produce(StateId id, Part part, Worker& worker, Successors& out) const {
    out.entries.clear();
    out.bytes.clear();
    out.error = nullptr;
    const auto look_up = [&](Successors::Entry& entry) {
        entry.hash = StateStore::hash(out.packed_form(entry));
        entry.known = states_.find(out.packed_form(entry), entry.hash);
        if (entry.known) return;
        out.bytes.resize(entry.end + kReadAhead);
        entry.is_goal = worker.is_goal(out.bytes.data() + entry.begin);
        out.bytes.resize(entry.end);
    };
    try {
        worker.with_updater(states_[id], [&](auto& updater) {
            updater.find_applicable(index_, out.actions);
            worker.orbits.load(states_.packed_form(id), updater.model(), out.actions);
            std::erase_if(out.actions, [&](ActionId a) { return worker.orbits.first(a) != a; });
            for (std::size_t k = part.number; k < out.actions.size(); k += part.count) {
                const ActionId a = out.actions[k];
                Successors::Entry entry{a, kExcluded, out.bytes.size(), 0, 0, std::nullopt, false};
                if (!consistent_beliefs_ || !updater.find_inconsistent_agent(a))
                    entry.same_as = updater.apply(a, out.bytes);
                entry.end = out.bytes.size();
                if (entry.same_as == a) look_up(entry);
                out.entries.push_back(entry);
            }
        });
    } catch (...) {
        out.error = std::current_exception();
    }
}

void Space::produce(std::span<const StateId> ids, std::uint32_t parts, unsigned threads) {
    while (workers_.size() < threads) workers_.push_back(std::make_unique<Worker>(task_, symmetries_));
    while (successors_.size() < ids.size() * parts) successors_.push_back(std::make_unique<Successors>());
    run_parallel(ids.size() * parts, threads, [&](unsigned thread, std::size_t k) {
        const StateId id = ids[k / parts];
        const Part part{static_cast<std::uint32_t>(k % parts), parts};
        if (!is_expanded(id)) produce(id, part, *workers_[thread], *successors_[k]);
    });
}

// Interns the successors of an e-state in action order, so that ids do not depend on the number of threads. Returns
// whether it stopped at a goal; it does not record such an incomplete expansion.
bool Space::record(StateId id, std::span<const std::unique_ptr<Successors>> parts, bool stop_at_goal, Expansion& out) {
    const std::size_t first = transitions_.size();
    target_of_.resize(task_.actions.actions.size());
    for (std::size_t k = 0;; ++k) {  // the parts take turns
        const Successors& part = *parts[k % parts.size()];
        if (k / parts.size() == part.entries.size()) {
            if (!part.error) break;
            transitions_.resize(first);
            std::rethrow_exception(part.error);
        }
        const auto& entry = part.entries[k / parts.size()];
        if (entry.same_as == kExcluded) continue;
        bool is_new = false;
        StateId& target = target_of_[entry.action];
        if (entry.same_as == kUnchanged) target = id;
        else if (entry.same_as != entry.action) target = target_of_[entry.same_as];
        else if (entry.known) target = *entry.known;
        else target = add(part.packed_form(entry), entry.hash, entry.is_goal, is_new);
        transitions_.push_back({entry.action, target});
        out.push(id, entry.action, target, is_new);
        if (stop_at_goal && goal_[target]) {
            count_generated(transitions_.size() - first, id);
            transitions_.resize(first);
            return true;
        }
    }
    first_transition_[id] = first;
    transition_count_[id] = static_cast<std::uint32_t>(transitions_.size() - first);
    count_generated(transition_count_[id], id);
    return false;
}

void Space::count_generated(std::uint64_t successors, StateId id) {
    generated_ += successors;
    generated_worlds_ += successors * worlds(id);
}

bool Space::replay(StateId id, bool stop_at_goal, Expansion& out) const {
    for (const auto& [action, target] : transitions(id)) {
        out.push(id, action, target, false);
        if (stop_at_goal && goal_[target]) return true;
    }
    return false;
}

void Space::expand(std::span<const StateId> ids, bool stop_at_goal, unsigned threads, Expansion& out) {
    World largest = 0;
    for (StateId id : ids) largest = std::max(largest, worlds(id));
    // The actions of few e-states are divided among the threads. For small e-states one thread is done before another
    // one starts.
    const bool is_few = ids.size() < 4 * threads;
    if (is_few && largest <= Dense::capacity) threads = 1;
    const std::uint32_t parts = is_few ? threads : 1;
    const std::size_t block = threads > 1 ? 64 * threads : 1;
    for (std::size_t at = 0; at < ids.size(); at += block) {
        const auto part = ids.subspan(at, std::min(block, ids.size() - at));
        produce(part, parts, threads);
        for (std::size_t k = 0; k < part.size(); ++k) {
            const auto successors = std::span(successors_).subspan(k * parts, parts);
            const bool known = is_expanded(part[k]);
            if (known ? replay(part[k], stop_at_goal, out) : record(part[k], successors, stop_at_goal, out)) return;
        }
    }
}

void Space::outcomes(std::span<const StateId> ids, Outcomes& out) {
    for (StateId id : ids) {
        packed_form(id);  // throws if the id is unknown
        if (const auto known = branches_.find(id); known == branches_.end()) branch(id, out);
        else
            for (const Branch& one : known->second) out.push(id, one.action, one.event, one.assignment, one.target, false);
    }
}

// Computes and stores the outcomes of an e-state.
void Space::branch(StateId id, Outcomes& out) {
    std::vector<Branch> branches;
    Worker& worker = *workers_[0];
    worker.with_updater(states_[id], [&](auto& updater) {
        std::vector<ActionId> actions;
        std::vector<Outcome> found;
        updater.find_applicable(index_, actions);
        worker.orbits.load(states_.packed_form(id), updater.model(), actions);
        for (ActionId a : actions) {
            if (worker.orbits.first(a) != a) continue;
            packed_.clear();
            found.clear();
            if (!updater.outcomes(a, consistent_beliefs_, packed_, found)) continue;
            for (const auto& [event, assignment, begin, end] : found) {
                const auto packed = std::span<const std::uint8_t>(packed_).subspan(begin, end - begin);
                const std::size_t before = size();
                const StateId target = packed.empty() ? id : add(packed);
                branches.push_back({a, event, assignment, target});
                out.push(id, a, event, assignment, target, size() > before);
            }
        }
    });
    branches.shrink_to_fit();
    branch_count_ += branches.size();
    count_generated(branches.size(), id);
    branches_.emplace(id, std::move(branches));
}

Query::Query(const Space& space, Formulas formulas, std::vector<FormulaId> roots)
    : space_(&space),
      formulas_(std::move(formulas)),
      roots_(std::move(roots)),
      evaluators_(formulas_, space.task().fluents, space.task().agents) {}

void Query::holds(StateId id, std::uint8_t* out) {
    evaluators_.with(space_->packed_form(id), [&](auto& state) {
        for (FormulaId root : roots_) *out++ = state.truths.holds(root);
    });
}

bool Query::all_hold(StateId id) {
    return evaluators_.with(space_->packed_form(id), [&](auto& state) {
        return std::ranges::all_of(roots_, [&](FormulaId root) { return state.truths.holds(root); });
    });
}

bool holds(const PlainModel& plain, const Formulas& formulas, FormulaId id) {
    const Model<Sparse> model = restrict_to_reachable(plain);
    Truths<Sparse> truths(formulas);
    truths.reset(model);
    return truths.holds(id);
}

}  // namespace epi
