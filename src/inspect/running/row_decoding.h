// Decoding of heed/model.h: rows of one text, with their cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/hooks.h"
#include "heed/tensor.h"
#include "inspect/running/hook_caller.h"
#include "models/autoregressive_model.h"
#include "models/directory/loaded_model.h"

namespace heed {

class RowDecoding {
 public:
  /// As Model::start(), and throws as it does. The model must outlive this.
  RowDecoding(const models::LoadedModel& loaded, const std::vector<int32_t>& ids,
              const std::vector<int32_t>& decoder_ids, const Hooks& hooks);
  RowDecoding(const RowDecoding&) = delete;
  RowDecoding& operator=(const RowDecoding&) = delete;

  const Tensor& logits() const { return logits_; }  ///< (R, V)
  int rows() const { return static_cast<int>(logits_.dim(0)); }
  int64_t length() const { return length_; }
  /// As Decoding::step(), and throws as it does.
  void step(const std::vector<int32_t>& tokens, const std::vector<int>& parents);

 private:
  void require(const std::vector<int32_t>& tokens, const std::vector<int>& parents) const;
  void read(const std::vector<models::StepRow>& rows);

  const models::AutoregressiveModel& model_;
  HookCaller hooks_;
  nn::Context context_;
  std::unique_ptr<models::DecoderState> state_;
  int32_t sentence_ = 0;
  Tensor logits_;
  int64_t length_ = 0;
  bool complete_ = false;  // whether the last step has ended without an exception
};

}  // namespace heed
