// Why a finished training that is run again does nothing.
#pragma once

#include <string>

#include "train/loop/trainer.h"

namespace heed::train {

/// Says which limit the training has reached and what to change to continue it. Not for kStopped.
std::string describe_finished(TrainingEnd end, const TrainingSummary& summary, const TrainerOptions& options);

}  // namespace heed::train
