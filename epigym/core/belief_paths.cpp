#include "belief_paths.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>

namespace epi {

namespace {

constexpr std::size_t kLongest = 4;  // most agents of a path

}  // namespace

BeliefPaths::BeliefPaths(const Formulas& formulas, std::uint32_t agents, const std::vector<FormulaId>& roots)
    : divisions_(formulas.size(), Division{kNone, 0}) {
    for (std::uint32_t agent = 0; agent < agents; ++agent) paths_.push_back({kNone, agent});
    std::unordered_map<std::uint64_t, std::uint32_t> longer;  // by path and agent
    std::vector<double> sharing_path(agents), sharing_rest(formulas.size());
    std::vector<Division> divisions;
    // Lists the divisions of a belief, the shortest path first.
    const auto list_divisions = [&](FormulaId belief) {
        divisions.clear();
        for (FormulaId rest = belief; formulas.op[rest] == Op::Believes && divisions.size() < kLongest;) {
            const auto agent = formulas.agents(rest).front();
            std::uint32_t path = agent;
            if (!divisions.empty()) {
                const auto next = static_cast<std::uint32_t>(paths_.size());
                const auto key = std::uint64_t{divisions.back().path} << 32 | agent;
                const auto [known, is_new] = longer.try_emplace(key, next);
                if (is_new) {
                    paths_.push_back({divisions.back().path, agent});
                    sharing_path.push_back(0);
                }
                path = known->second;
            }
            rest = formulas.children(rest).front();
            divisions.push_back({path, rest});
        }
    };
    std::vector<FormulaId> beliefs;
    std::ranges::copy_if(roots, std::back_inserter(beliefs), [&](FormulaId id) { return formulas.op[id] == Op::Believes; });
    for (FormulaId belief : beliefs) {
        list_divisions(belief);
        for (const Division& division : divisions) {
            ++sharing_path[division.path];
            ++sharing_rest[division.rest];
        }
    }
    for (FormulaId belief : beliefs) {
        list_divisions(belief);
        // A set that n formulas share costs each of them 1 / n.
        const bool is_cut = formulas.op[divisions.back().rest] == Op::Believes;
        const auto rests = std::span(divisions).first(divisions.size() - !is_cut);
        double cost = 0;
        for (const Division& division : rests) cost += 1 / sharing_rest[division.rest];
        double least = cost;
        divisions_[belief] = divisions.front();
        for (std::size_t k = 1; k < divisions.size(); ++k) {
            cost += 1 / sharing_path[divisions[k].path] - 1 / sharing_rest[divisions[k - 1].rest];
            if (cost < least) {
                least = cost;
                divisions_[belief] = divisions[k];
            }
        }
    }
}

}  // namespace epi
