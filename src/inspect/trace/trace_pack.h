// Traces in few bytes, for pages (explorer_page.h): JSON like that of trace_json.h, but with numbers in
// base64.
//
// Instead of `attention` there is `packed`, with `encoder`, `decoder` and `cross`, each [layer][head]. A head
// is null where nothing was recorded, or an object:
//
//   field     base64 of (little-endian)
//   weights   float16, (queries, keys): relative error below 0.05%, or absolute error below 3e-8
//   rows      float32: for each query, ln(sum of exp(score)), then the scale of each query, key and value
//   vectors   int8, (queries + keys + keys, width): query, key and value vectors, divided by their scales
//
// `width` and `scale` are those of HeadDetail; `rows` and `vectors` are there where the trace has details. A
// score is ln(weight) + ln(sum of exp(score)) then, exact where the weight is not 0. The explorer reads this
// form (web/picture/packed.js); the tests of both read the cases of tests/data/packed_traces.json.
#pragma once

#include <string>

#include "inspect/trace/trace_json.h"

namespace heed {

/// One trace as a JSON object. Throws as check_trace does.
std::string pack_trace(const Trace& trace);
/// With further members.
std::string pack_trace(const Trace& trace, const TraceNotes& notes);

}  // namespace heed
