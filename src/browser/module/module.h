// Heed as a module without a main(): requests and answers are JSON. web/heed_module.js calls it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "translate/translator.h"

namespace heed::browser {

/// One translation model and what was asked of it.
class Module {
 public:
  Module();
  ~Module();

  /// {"method": "load", "directory": "/model", "precision": "int8"} opens the files of a model, which the
  /// page has put into the module's file system; precision may be left out.
  /// {"method": "translate", "text": T} with the options beam, nbest, length_penalty and alignment: the
  /// answer of `heed translate --json`. The answer is {"result": ...}, or {"error": MESSAGE} for what the
  /// command would refuse.
  std::string answer(const std::string& request);

 private:
  struct Opened;
  nlohmann::ordered_json load(const nlohmann::json& request);
  nlohmann::ordered_json translate(const nlohmann::json& request) const;

  std::unique_ptr<Opened> opened_;
};

}  // namespace heed::browser
