// Facts, operators and requirements of a task.
#pragma once

#include "relaxation.hpp"

namespace epi {

// The relaxation of a task: what its goal needs, found backwards from it.
RelaxationData build_relaxation(const TaskData& task);

}  // namespace epi
