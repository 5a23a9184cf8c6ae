// Traces in few bytes, for pages (explorer_page.h): JSON like that of trace_json.h, but with numbers in
// base64.
//
// Instead of `attention` there is `packed`, with `encoder`, `decoder` and `cross`, each [layer][head]. A head
// is null where nothing was recorded, or an object:
//
//   field         base64 of (little-endian)
//   weights       float16, (queries, keys): relative error below 0.05%, or absolute error below 3e-8
//   rows          float32: for each query, ln(sum of exp(score)), then the scale of each query, key and
//                 value, and that of the corrections if there are any
//   vectors       int8, (queries + keys + keys, width): query, key and value vectors, divided by their scales
//   corrections   int8, divided by their scale: q k^T minus the product of the vectors above, of those pairs
//                 whose weight does not tell it
//   bias          float16, (queries, keys): HeadDetail::bias, or
//   distances     float32, (queries + keys - 1): the same where it depends on key - query alone, from
//                 1 - queries on
//   hidden        bits, the lowest of a byte first, (queries, keys): 1 where the mask hides the key
//
// `width`, `scale` and `cap` are those of HeadDetail. All fields but `weights` are there where the trace has
// details, and the last four and `cap` where the head has such a thing.
//
// The scores are not stored: they follow from q k^T, as trace.h says. A pair whose weight is a normal number
// of float16 (from 2^-14 on) has the score ln(weight) + ln(sum of exp(score)), within 0.0005, which gives
// q k^T as (score - bias) / scale. Smaller weights, such as those of hidden keys, do not tell it, nor does
// any under a soft cap, whose inverse would enlarge errors. There the rounded vectors and a correction do,
// within 1/254 of the largest correction.
//
// The explorer reads this form (web/picture/packed.js); the tests of both read the cases of
// tests/data/packed_traces.json.
#pragma once

#include <string>

#include "inspect/json/trace_json.h"

namespace heed {

/// One trace as a JSON object. Throws as check_trace does.
std::string pack_trace(const Trace& trace);
/// With further members.
std::string pack_trace(const Trace& trace, const TraceNotes& notes);

}  // namespace heed
