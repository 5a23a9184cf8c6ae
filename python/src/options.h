// Options structs of the library as classes of the extension module, with the rows of their tables
// (search/rules/option_row.h), from which python/heed/_options.py makes keyword arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tasks/generate_options.h"
#include "translate/translate_options.h"

namespace heed::python {

template <typename Field>
struct PythonType {
  static constexpr const char* kName = std::is_same_v<Field, bool>          ? "bool"
                                       : std::is_integral_v<Field>          ? "int"
                                       : std::is_floating_point_v<Field>    ? "float"
                                       : std::is_same_v<Field, std::string> ? "str"
                                                                            : nullptr;
};
template <typename Value>
struct PythonType<std::optional<Value>> : PythonType<Value> {};
template <>
struct PythonType<std::vector<std::string>> {
  static constexpr const char* kName = "texts";
};
template <>
struct PythonType<std::vector<std::pair<std::string, std::string>>> {
  static constexpr const char* kName = "terms";
};

/// Binds the struct with the fields of its table; its attribute `rows` is a list of (name, type, default,
/// help, whether it has a meaning for documents).
template <typename Options>
void bind_options(nanobind::module_& m, const char* name) {
  nanobind::class_<Options> bound(m, name);
  bound.def(nanobind::init<>());
  const Options usual;
  nanobind::list rows;
  visit_options(usual,
                [&]<typename Field>(const search::OptionRow& row, Field Options::*field, const auto&...) {
                  bound.def_rw(row.name.data(), field, nanobind::arg().none());
                  std::string help(row.help);
                  if (!row.otherwise.empty() && !std::is_same_v<Field, bool>)
                    help += " [" + std::string(row.otherwise) + "]";
                  rows.append(nanobind::make_tuple(std::string(row.name), PythonType<Field>::kName,
                                                   usual.*field, help, row.for_documents));
                });
  bound.attr("rows") = rows;
}

}  // namespace heed::python
