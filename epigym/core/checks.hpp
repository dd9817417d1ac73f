// What comes from outside, held against what the rest of the core relies on. Each throws std::invalid_argument, which says
// what does not fit.
#pragma once

#include "formula.hpp"
#include "model.hpp"
#include "space.hpp"

namespace epi {

// How many levels formulas may have, as in `epigym/task/formula.py`: who evaluates or rewrites one calls itself for each.
constexpr std::uint32_t kMaxLevels = 110;

void check(const Formulas& formulas, std::uint32_t fluents, std::uint32_t agents);
void check(const std::vector<FormulaId>& roots, const Formulas& formulas);
void check(const PlainModel& model, std::uint32_t fluents, std::uint32_t agents);
void check(const TaskData& task);
void check(const std::vector<Symmetry>& symmetries, const TaskData& task);

}  // namespace epi
