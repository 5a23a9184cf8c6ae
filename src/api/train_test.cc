// heed/train.h and heed/classifier.h: a small classifier is trained, and classifies.
#include "heed/train.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "heed/classifier.h"
#include "test_folder.h"

namespace heed {
namespace {

std::string labelled_texts() {
  std::string text;
  for (int n = 0; n < 20; ++n) text += "animal\told dog\nplant\tred tree\n";
  return text;
}

TrainOptions small_training(const TestFolder& folder) {
  TrainOptions options;
  options.output = folder.path("model");
  options.text = folder.write("text", labelled_texts());
  options.task = "classify";
  options.preset = "tiny";
  options.settings = {{"model.width", "16"},
                      {"model.heads", "2"},
                      {"model.feed_forward_width", "32"},
                      {"training.batch_tokens", "64"},
                      {"training.shards", "2"}};
  options.max_steps = 3;
  options.threads = 1;
  return options;
}

TEST(PublicTraining, TrainsAClassifierThatClassifies) {
  const TestFolder folder;
  std::vector<int64_t> steps;
  const TrainResult result = train_model(
      small_training(folder), {.on_step = [&](const TrainStep& step) { steps.push_back(step.step); }});
  EXPECT_EQ(result.end, TrainEnd::kSteps);
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3}));

  const Classifier classifier(folder.path("model"), 1);
  EXPECT_EQ(classifier.labels(), (std::vector<std::string>{"animal", "plant"}));
  const auto classes = classifier.classify({{"old dog"}, {"red tree"}});
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_NEAR(classes[0].probabilities[0] + classes[0].probabilities[1], 1, 1e-6);
  EXPECT_EQ(classes[1].probabilities, classifier.classify({{"red tree"}})[0].probabilities);
  const Trace trace = classifier.attend({"old dog"});
  EXPECT_EQ(trace.target, classes[0].label);
  EXPECT_EQ(trace.source_tokens.front(), "[CLS]");
  const std::atomic<bool> cancelled{true};
  EXPECT_THROW(classifier.classify({{"old dog"}}, &cancelled), Cancelled);
  EXPECT_THROW(classifier.classify({{"\xff"}}), Error);
}

TEST(PublicTraining, CancelledOneIsResumed) {
  const TestFolder folder;
  std::atomic<bool> cancelled{false};
  TrainCallbacks callbacks{.on_step = [&](const TrainStep& step) { cancelled = step.step == 2; },
                           .on_message = {},
                           .cancelled = &cancelled};
  TrainResult result = train_model(small_training(folder), callbacks);
  EXPECT_EQ(result.end, TrainEnd::kCancelled);
  EXPECT_EQ(result.steps, 2);
  result = train_model(small_training(folder));
  EXPECT_EQ(result.resumed_from, 2);
  EXPECT_EQ(result.steps, 3);
}

TEST(PublicTraining, FineTunesAModel) {
  const TestFolder folder;
  train_model(small_training(folder));
  const auto probabilities = [&](const std::string& name) {
    return Classifier(folder.path(name), 1).classify({{"old dog"}})[0].probabilities;
  };
  const auto trained = [&](const std::string& name, const std::string& from) {
    TrainOptions options = small_training(folder);
    options.output = folder.path(name);
    options.from = from;
    if (!from.empty()) {  // the model has its sizes
      std::erase_if(options.settings, [](const auto& each) { return each.first.starts_with("model."); });
    }
    options.max_steps = 1;
    options.settings.emplace_back("schedule.learning_rate", "1e-9");  // weights stay as they are
    train_model(options);
    return probabilities(name);
  };
  const std::vector<float> base = probabilities("model");
  EXPECT_NEAR(trained("fine-tuned", folder.path("model"))[0], base[0], 1e-6);
  EXPECT_GT(std::abs(trained("from-scratch", "")[0] - base[0]), 1e-6);
}

TEST(PublicTraining, RefusesInvalidOptions) {
  const TestFolder folder;
  const auto refuses = [&](auto change, const std::string& words) {
    TrainOptions options = small_training(folder);
    change(options);
    try {
      train_model(options);
      ADD_FAILURE() << "accepted: " << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refuses([](TrainOptions& o) { o.output = ""; }, "output must name");
  refuses([](TrainOptions& o) { o.max_steps = -1; }, "max_steps");
  refuses([](TrainOptions& o) { o.languages = "de"; }, "languages must be two");
  refuses([](TrainOptions& o) { o.settings = {{"model.widht", "3"}}; }, "model.widht");
  refuses([](TrainOptions& o) { o.threads = 5000; }, "threads");
  refuses([](TrainOptions& o) { o.from = "/no/such/model"; }, "/no/such/model");
}

}  // namespace
}  // namespace heed
