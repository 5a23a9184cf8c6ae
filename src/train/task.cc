#include "train/task.h"

#include "base/check.h"
#include "train/translation_task.h"

namespace heed::train {

const std::vector<TaskKind>& task_kinds() {
  static const std::vector<TaskKind> table{translation_kind()};
  return table;
}

const TaskKind& task_kind(models::Task task) {
  for (const TaskKind& kind : task_kinds()) {
    if (kind.task == task) return kind;
  }
  fail(ErrorKind::kUsage, "models of this kind can be used here, but not trained");
}

void LossSums::add(const LossSums& other) {
  loss += other.loss;
  negative_log_likelihood += other.negative_log_likelihood;
  weight += other.weight;
  tokens += other.tokens;
}

}  // namespace heed::train
