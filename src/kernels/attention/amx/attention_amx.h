// Attention on AMX, with products of float32 in three bf16 numbers (gemm/amx/bf16_split-inl.h). The vector
// kernels call these where the sequence is long enough; everything else about AMX attention is inside this
// folder.
#pragma once

#include "kernels/attention/attention.h"

namespace heed {

/// Whether the sequence goes to AMX: see attention_pays_on_amx(). Always false without AMX, with a soft cap,
/// and where a window hides keys.
bool use_amx_attention(const AttentionArguments<float>& arguments, const AttentionSpan& span);

/// All heads of a span.
void amx_attention(const AttentionArguments<float>& arguments, const AttentionSpan& span);

/// One head of a span, none of whose rows has a large shift (kMaxShift in attention/head-inl.h).
void amx_attention_backward(const AttentionBackwardArguments<float>& arguments, const AttentionSpan& span,
                            int head);

}  // namespace heed
