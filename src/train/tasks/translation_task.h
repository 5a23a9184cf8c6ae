// Training a translation model: sentence pairs, and the loss of every token of the target.
#pragma once

#include "train/tasks/task.h"

namespace heed::train {

/// Its row of the table of tasks.
TaskKind translation_kind();

}  // namespace heed::train
