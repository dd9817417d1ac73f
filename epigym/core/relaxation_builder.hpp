// Builds the relaxation of a task.
#pragma once

#include "relaxation.hpp"

namespace epi {

// The facts, operators and requirements that the goal depends on, found backwards from it.
RelaxationData build_relaxation(const TaskData& task);

}  // namespace epi
