// Which nested beliefs are tested from the designated worlds on, and how far.
#pragma once

#include <cstdint>
#include <vector>

#include "formula.hpp"

namespace epi {

// A path B_i1 … B_ik leads to the worlds that agent ik considers possible at some world to which B_i1 … leads, and at
// first at some designated world. B_i1 … B_in φ holds at all designated worlds iff B_ik+1 … φ holds throughout the worlds
// to which B_i1 … B_ik leads. Those worlds are found once for all formulas that start in the same way, and those where
// B_ik+1 … φ holds once for all that end in the same way: a formula is divided where it shares most with others.
class BeliefPaths {
public:
    struct Path {
        std::uint32_t before;  // kNone: the designated worlds
        std::uint32_t agent;
    };
    struct Division {
        std::uint32_t path;
        FormulaId rest;
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    // Of beliefs, at the top of formulas `roots`; other beliefs are divided after the first agent.
    BeliefPaths(const Formulas& formulas, std::uint32_t agents, const std::vector<FormulaId>& roots);

    const std::vector<Path>& paths() const { return paths_; }  // first those of one agent each
    Division divide(const Formulas& formulas, FormulaId belief) const {
        const Division& division = divisions_[belief];
        return division.path != kNone ? division : Division{formulas.agents(belief).front(), formulas.children(belief).front()};
    }

private:
    std::vector<Path> paths_;
    std::vector<Division> divisions_;  // per formula
};

}  // namespace epi
