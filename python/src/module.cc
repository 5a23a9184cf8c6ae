// The extension module heed._heed.
#include <nanobind/nanobind.h>

#include <string>

#include "base/log.h"
#include "base/text/option_error.h"
#include "bindings.h"
#include "heed/error.h"
#include "heed/version.h"
#include "paths.h"

namespace nb = nanobind;

namespace heed::python {
namespace {

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kShape:
      return "shape";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kFile:
      return "file";
    case ErrorKind::kFormat:
      return "format";
    case ErrorKind::kText:
      return "text";
    case ErrorKind::kNumeric:
      return "numeric";
  }
  return "usage";
}

/// The class of Python. Kept for the lifetime of the process.
PyObject* error_class = nullptr;

/// heed.Error(message) with the attribute `kind`.
void raise(ErrorKind kind, const std::string& message) {
  nb::object made = nb::borrow(error_class)(decoded(message));
  made.attr("kind") = name_of(kind);
  PyErr_SetObject(error_class, made.ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const OptionError& error) {
    raise(error.kind(), error.message(argument_of));
  } catch (const Error& error) {
    raise(error.kind(), error.what());
  }
}

const char* method_of(LogLevel level) {
  if (level == LogLevel::kError) return "error";
  return level == LogLevel::kWarning ? "warning" : "info";
}

/// Warnings and errors that end nothing go to the logger "heed" of Python's logging.
void log_to_python(LogLevel level, const std::string& message) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire acquired;
  try {
    const nb::object logger = nb::module_::import_("logging").attr("getLogger")("heed");
    logger.attr(method_of(level))("%s", decoded(message));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("heed: a log message");
  }
}

}  // namespace

std::string argument_of(const std::string& field) {
  return field == "from" ? "from_model" : field;
}

NB_MODULE(_heed, m) {
  m.doc() = "The compiled part of the package heed. Use the package.";
  m.def("version", &version);
  error_class = PyErr_NewExceptionWithDoc(
      "heed.Error",
      "Bad input: an invalid option, shape, file or text. The message says what is wrong, where, and what to "
      "do;\n"
      "`kind` is 'usage', 'shape', 'not_found', 'file', 'format', 'text' or 'numeric'.",
      PyExc_Exception, nullptr);
  m.attr("Error") = nb::borrow(error_class);
  nb::register_exception_translator(translate);
  set_log_handler(log_to_python);
  bind_arrays(m);
  bind_trace(m);
  bind_attention(m);
  bind_translator(m);
  bind_generator(m);
  bind_classifier(m);
  bind_embedder(m);
  bind_inspector(m);
  bind_tokenizer(m);
  bind_model(m);
  bind_train(m);
  bind_command(m);
}

}  // namespace heed::python
