// Paths and arguments of the command, which on Linux are bytes that need not be text.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace heed::python {

/// Bytes of Python, as os.fsencode() gives them, or a str.
struct Path {
  std::string bytes;
};

/// A text as a str, in which bytes that are not UTF-8, such as those of a path, become what os.fsdecode()
/// makes of them. Throws nanobind::python_error without memory.
inline nanobind::str decoded(const std::string& text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal<nanobind::str>(made);
}

}  // namespace heed::python

template <>
struct nanobind::detail::type_caster<heed::python::Path> {
  NB_TYPE_CASTER(heed::python::Path, const_name("bytes | str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    const bool is_bytes = PyBytes_Check(source.ptr()) != 0;
    Py_ssize_t size = is_bytes ? PyBytes_Size(source.ptr()) : 0;
    const char* const data =
        is_bytes ? PyBytes_AsString(source.ptr()) : PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (data == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(data, static_cast<size_t>(size));
    return true;
  }

  static handle from_cpp(const heed::python::Path& path, rv_policy, cleanup_list*) noexcept {
    return PyBytes_FromStringAndSize(path.bytes.data(), static_cast<Py_ssize_t>(path.bytes.size()));
  }
};
