// Training a classifier: the loss of the label of every text.
#pragma once

#include "train/tasks/task.h"

namespace heed::train {

/// Its row of the table of tasks.
TaskKind classification_kind();

}  // namespace heed::train
