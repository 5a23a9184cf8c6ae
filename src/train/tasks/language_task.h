// Training a language model: the loss of every token of running text, given those before it in a block.
#pragma once

#include "train/tasks/task.h"

namespace heed::train {

/// Its row of the table of tasks.
TaskKind language_kind();

}  // namespace heed::train
