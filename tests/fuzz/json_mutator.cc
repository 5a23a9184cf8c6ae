#include "json_mutator.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {
namespace {

using nlohmann::json;

/// The parser and dump() recurse, and the sanitizers make stack frames large.
constexpr int kDeepest = 100;

bool is_deep(std::string_view text) {
  int depth = 0, deepest = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest > kDeepest;
}

class JsonMutation {
 public:
  JsonMutation(json& root, unsigned seed) : root_(root), random_(seed) { collect(root); }

  /// Ends the mutation: the values that it has collected may be gone.
  void apply() {
    switch (below(6)) {
      case 0:
        any() = scalar();
        break;
      case 1:
        any() = json(any());
        break;
      case 2:
        change(any());
        break;
      case 3:
        add(container());
        break;
      case 4:
        remove(container());
        break;
      default:
        rename(container());
    }
  }

 private:
  size_t below(size_t count) { return random_() % count; }

  void collect(json& value) {
    values_.push_back(&value);
    if (value.is_structured()) containers_.push_back(&value);
    for (json& each : value) {
      if (value.is_structured()) collect(each);
    }
  }

  json& any() { return *values_[below(values_.size())]; }
  json& container() { return containers_.empty() ? root_ : *containers_[below(containers_.size())]; }
  static json::iterator at(json& container, size_t index) {
    return std::next(container.begin(), static_cast<json::difference_type>(index));
  }

  /// The values at which readers' ranges and types end.
  json scalar() {
    static const std::vector<json> all = {
        nullptr,   true,          false,         0,          1,   2,    -1,    3,   64,   65536,
        INT32_MAX, INT64_MAX,     INT64_MIN,     UINT64_MAX, 0.5, -0.0, 1e-30, 1e3, 1e38, 1e308,
        "",        json::array(), json::object()};
    return all[below(all.size())];
  }

  std::string mutated(std::string text) {
    constexpr size_t kMore = 32;
    const size_t size = text.size();
    text.resize(size + kMore);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size()));
    return text;
  }

  void change(json& value) {
    if (value.is_string()) {
      value = mutated(value.get<std::string>());
    } else if (value.is_number_integer()) {
      const auto number = value.get<uint64_t>();  // wraps around
      const uint64_t changed[] = {number + 1, number - 1, number * 2, number / 2, -number, random_()};
      value = static_cast<int64_t>(changed[below(std::size(changed))]);
    } else if (value.is_number()) {
      const double number = value.get<double>(),
                   changed[] = {number / 2, number * 2, -number, 1 - number, 1 / number};
      value = changed[below(std::size(changed))];
    } else if (value.is_boolean()) {
      value = !value.get<bool>();
    } else if (value.is_array() && !value.empty()) {
      std::shuffle(value.begin(), value.end(), random_);
    } else {
      value = scalar();
    }
  }

  void add(json& container) {
    json value = below(2) == 0 ? scalar() : json(any());
    if (container.is_array()) {
      container.insert(at(container, below(container.size() + 1)), std::move(value));
    } else if (container.is_object()) {
      container[mutated(some_key(container))] = std::move(value);
    } else {
      container = json::array({std::move(value)});
    }
  }

  void remove(json& container) {
    if (container.is_structured() && !container.empty())
      container.erase(at(container, below(container.size())));
  }

  void rename(json& container) {
    if (!container.is_object() || container.empty()) return add(container);
    const std::string old = at(container, below(container.size())).key();
    const std::string name = mutated(below(2) == 0 ? old : some_key(this->container()));
    json value = std::move(container[old]);
    container.erase(old);
    container[name] = std::move(value);
  }

  /// One of the object, or none.
  std::string some_key(json& object) {
    if (!object.is_object() || object.empty() || below(2) == 0) return {};
    return at(object, below(object.size())).key();
  }

  json& root_;
  std::minstd_rand random_;
  std::vector<json*> values_, containers_;
};

}  // namespace

size_t mutate_json(uint8_t* bytes, size_t size, size_t room, unsigned seed, size_t begin) {
  const std::string_view text(reinterpret_cast<const char*>(bytes) + begin, size - begin);
  constexpr unsigned kOneIn = 4;
  json value = seed % kOneIn == 0 || is_deep(text) ? json(json::value_t::discarded)
                                                   : json::parse(text, nullptr, false);
  if (value.is_discarded()) return LLVMFuzzerMutate(bytes, size, room);
  JsonMutation(value, seed / kOneIn).apply();
  const std::string changed = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (begin + changed.size() > room) return LLVMFuzzerMutate(bytes, size, room);
  std::ranges::copy(changed, bytes + begin);
  return begin + changed.size();
}

size_t mutate_json_behind_line(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  const uint8_t* const end = std::find(bytes, bytes + size, '\n');
  return mutate_json(bytes, size, room, seed, std::min(static_cast<size_t>(end - bytes) + 1, size));
}

}  // namespace heed
