// Validation of input from Python. Each function throws std::invalid_argument, which names the part that does not fit.
#pragma once

#include "formula.hpp"
#include "model.hpp"
#include "space.hpp"

namespace epi {

// The largest nesting depth of formulas, as in `epigym/task/formula.py`: evaluation and rewriting recurse once per
// level.
constexpr std::uint32_t kMaxLevels = 110;

void check(const Formulas& formulas, std::uint32_t fluents, std::uint32_t agents);
void check(const std::vector<FormulaId>& roots, const Formulas& formulas);
void check(const PlainModel& model, std::uint32_t fluents, std::uint32_t agents);
void check(const TaskData& task);
void check(const std::vector<Symmetry>& symmetries, const TaskData& task);

}  // namespace epi
