// The extension module heed._heed: what the files of this folder bind, and what they share. The classes of
// the package, with their documentation and types, are in python/heed/.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace heed::python {

/// The argument in Python for a field of an options struct, "from_model" for "from".
std::string argument_of(const std::string& field);

void bind_arrays(nanobind::module_& m);
void bind_attention(nanobind::module_& m);
void bind_classifier(nanobind::module_& m);
void bind_command(nanobind::module_& m);
void bind_embedder(nanobind::module_& m);
void bind_generator(nanobind::module_& m);
void bind_inspector(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_tokenizer(nanobind::module_& m);
void bind_trace(nanobind::module_& m);
void bind_train(nanobind::module_& m);
void bind_translator(nanobind::module_& m);

}  // namespace heed::python
