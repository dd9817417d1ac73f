// Splits nested beliefs, so that formulas share the work of evaluation.
#pragma once

#include <cstdint>
#include <vector>

#include "formula.hpp"
#include "none.hpp"

namespace epi {

// A path i1 … ik leads from the designated worlds to the worlds that are reachable by one step of each of these agents
// in turn. B_i1 … B_in φ holds at all designated worlds iff B_ik+1 … φ holds throughout the worlds to which i1 … ik
// leads. Formulas with the same beginning share the worlds of the path, and formulas with the same end share the worlds
// where B_ik+1 … φ holds: each formula is divided where it shares most with others.
class BeliefPaths {
public:
    struct Path {
        std::uint32_t before;  // the path without its last agent; kNone: the designated worlds
        std::uint32_t agent;
    };
    struct Division {
        std::uint32_t path;
        FormulaId rest;
    };

    // Divides the beliefs among `roots` for most sharing; other beliefs are divided after the first agent.
    BeliefPaths(const Formulas& formulas, std::uint32_t agents, const std::vector<FormulaId>& roots);

    const std::vector<Path>& paths() const { return paths_; }  // the paths of one agent each come first
    Division divide(const Formulas& formulas, FormulaId belief) const {
        const Division& division = divisions_[belief];
        return division.path != kNone ? division : Division{formulas.agents(belief).front(), formulas.children(belief).front()};
    }

private:
    std::vector<Path> paths_;
    std::vector<Division> divisions_;  // per formula
};

}  // namespace epi
