// Heed as a module without a main(): opens models, and answers the requests of the server's routes, with the
// same code and the same bytes. web/heed/module.js calls it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serve/service.h"

namespace heed::browser {

class Module {
 public:
  Module();

  /// {"method": "POST", "path": "/v1/attend", "body": B}: what `heed serve` answers to it, of the models that
  /// are open. {"open": {"name": N, "directory": D}} opens the files of a model, which the page has put into
  /// the module's file system, with "precision" in this one, with "bundled": true as a bundled one: what GET
  /// /v1/models/N answers, or an error with the command's words.
  ///
  /// The result is a line of JSON, {"status": 200, "headers": {NAME: VALUE, ...}}, and behind it the bytes of
  /// the body.
  std::string answer(const std::string& request);

 private:
  void open(const nlohmann::json& model);

  serve::Service service_;
  int64_t requests_ = 0;
};

}  // namespace heed::browser
