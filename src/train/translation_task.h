// Learning to translate: pairs of sentences, and the loss of every piece of the target.
#pragma once

#include "train/task.h"

namespace heed::train {

/// Its row of the table of tasks.
TaskKind translation_kind();

}  // namespace heed::train
