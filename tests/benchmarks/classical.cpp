// h_add of a STRIPS task as textbooks have it: Dijkstra's algorithm over facts with a priority queue, up to the last goal.
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace {

struct Strips {
    std::int32_t facts;
    std::vector<std::vector<std::int32_t>> adds;         // per operator
    std::vector<std::vector<std::int32_t>> required_by;  // per fact: operators
    std::vector<std::int32_t> preconditions;             // per operator: how many
    std::vector<char> is_goal;                           // per fact
    std::int32_t goals;
};

double h_add(const Strips& task, const std::int32_t* holds, std::int64_t count) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    using Entry = std::pair<double, std::int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::vector<double> cost(task.facts, infinite), sum(task.adds.size(), 1.0);
    std::vector<std::int32_t> missing = task.preconditions;
    const auto reach = [&](std::int32_t fact, double value) {
        if (value >= cost[fact]) return;
        cost[fact] = value;
        queue.emplace(value, fact);
    };
    for (std::int64_t k = 0; k < count; ++k) reach(holds[k], 0);
    for (std::size_t op = 0; op < missing.size(); ++op)
        if (missing[op] == 0)
            for (auto fact : task.adds[op]) reach(fact, 1);
    double total = 0;
    auto open = task.goals;
    while (open > 0 && !queue.empty()) {
        const auto [value, fact] = queue.top();
        queue.pop();
        if (value > cost[fact]) continue;
        if (task.is_goal[fact]) {
            total += value;
            --open;
        }
        for (auto op : task.required_by[fact]) {
            sum[op] += value;
            if (--missing[op] == 0)
                for (auto added : task.adds[op]) reach(added, sum[op]);
        }
    }
    return open > 0 ? infinite : total;
}

}  // namespace

extern "C" {

// Ragged tables have one more pointer than operators; no operator requires a fact twice.
Strips* strips(std::int32_t facts, std::int32_t operators, const std::int64_t* required_ptr,
               const std::int32_t* required, const std::int64_t* added_ptr, const std::int32_t* added,
               const std::int32_t* goal, std::int32_t goals) {
    auto* task = new Strips{facts, {}, {}, {}, std::vector<char>(facts), goals};
    task->required_by.resize(facts);
    for (std::int32_t op = 0; op < operators; ++op) {
        task->adds.emplace_back(added + added_ptr[op], added + added_ptr[op + 1]);
        task->preconditions.push_back(static_cast<std::int32_t>(required_ptr[op + 1] - required_ptr[op]));
        for (auto k = required_ptr[op]; k < required_ptr[op + 1]; ++k) task->required_by[required[k]].push_back(op);
    }
    for (std::int32_t k = 0; k < goals; ++k) task->is_goal[goal[k]] = 1;
    return task;
}

// For each state, given by the facts that hold there.
void evaluate(const Strips* task, std::int64_t states, const std::int64_t* holds_ptr, const std::int32_t* holds,
              double* out) {
    for (std::int64_t k = 0; k < states; ++k)
        out[k] = h_add(*task, holds + holds_ptr[k], holds_ptr[k + 1] - holds_ptr[k]);
}
}
