// The JSON that the server's routes answer with (src/serve/routes/), as far as the explorer reads it. Each field is
// described here once. Numbers are counted from 1 where nothing else is said.

/** GET /v1/models */
interface ModelsJson {
  data: ModelJson[];
  /** The language pairs for which a text passes through several models; absent where there are none. */
  chains?: ChainJson[];
}

/** A pair, the languages of which and those between are tags. */
interface ChainJson {
  pair: string;
  source: string;
  target: string;
  through: string[];
}

/** A model of the server. */
interface ModelJson {
  id: string;
  task: string;
  /** The model_type of its config.json. */
  type: string;
  /** Those that requests may ask for; its own first. */
  precisions: string[];
  /** Its directory; absent for a bundled model. */
  path?: string;
  /** "de-en"; absent for a model with unknown languages or several. */
  pair?: string;
  /** The languages of the pair, or those of a request that names none. */
  source?: string;
  target?: string;
  /** Of a model with several. */
  source_languages?: string[];
  target_languages?: string[];
}

/** Weights by layer, head, query and key; a head of which nothing was recorded is empty. */
type WeightsJson = number[][][][];

/** Numbers in base64 (src/inspect/json/trace_pack.h). */
interface PackedHead {
  /** float16, row by row. */
  weights: string;
  // With details:
  width?: number;
  scale?: number;
  /** float32: the log-sum-exp of each query's scores, then the scale of each vector, then that of the corrections. */
  rows?: string;
  /** int8: queries, keys and values. */
  vectors?: string;
  /** int8: what rounded vectors lack in q k^T, of the pairs whose weight does not tell it. */
  corrections?: string;
  /** The soft cap of the scores, where there is one. */
  cap?: number;
  /** float16, row by row: what relative positions add to the scores. */
  bias?: string;
  /** float32: the same by key - query, from 1 - queries on. */
  distances?: string;
  /** Bits, row by row: 1 where the mask hides the key. */
  hidden?: string;
}

/** Vectors and scores of one head, by position. */
interface DetailJson {
  width: number;
  scale: number;
  query: number[][];
  key: number[][];
  value: number[][];
  scores: number[][];
  /** The soft cap of the scores; 0: none. */
  cap?: number;
  /** What relative positions add to the scores. */
  bias?: number[][];
  /** 0 where the mask hides the key; absent: nowhere. */
  visible?: number[][];
}

/** POST /v1/attend, and `heed attend --json`. */
interface TraceJson {
  model: string;
  source: string;
  target: string;
  source_tokens: string[];
  target_tokens: string[];
  /** What the decoder reads. */
  decoder_tokens?: string[];
  /** The word of each source token, from 0; absent where the tokens' marks say it. */
  source_words?: number[];
  /** The same of each token that the decoder reads. */
  decoder_words?: number[];
  /** Whether source tokens that continue a word begin with "##". */
  word_pieces?: boolean;
  /** "mean": one matrix a layer. */
  heads?: "all" | "mean";
  /** ln P of the target. */
  log_probability?: number;
  score?: number;
  /** ln P of each target token. */
  log_probabilities?: number[];
  /** Of each word of the target, separated by white space: the probability that it also stands in a human translation. */
  word_confidence?: number[];
  /** Numbers, dates and times that source and target say differently, in words. */
  warnings?: string[];
  attention?: Partial<Record<Stack, WeightsJson>>;
  /** By layer and head, instead of `attention` and `details`. */
  packed?: Partial<Record<Stack, (PackedHead | null)[][]>>;
  details?: Partial<Record<Stack, (DetailJson | null)[][]>>;
}

/** POST /v1/translate with `confidence`, as far as a pair of `chains` needs it. */
interface TranslationsJson {
  translations: PassedJson[];
}

/** A translation in several steps. */
interface PassedJson {
  translation: string;
  /** What the steps before the last say. */
  intermediate: string[];
  warnings: string[];
  word_confidence: number[];
}

/** POST /v1/search */
interface SearchJson {
  steps: {step: number; candidates: CandidateJson[]}[];
  finished: {node: number | null; translation: string; log_probability: number; score: number}[];
}

/** A token that the search considered. */
interface CandidateJson {
  /** The node that it continues; null at the first step. */
  parent: number | null;
  /** Its own node; null if it was dropped. */
  node: number | null;
  token: string;
  /** The translation so far. */
  text: string;
  log_probability: number;
  /** ln P of all tokens so far. */
  sum: number;
  kept: boolean;
  finished: boolean;
}

/** POST /v1/lens, and `heed lens --json`. A stack that the model does not have has empty lists. */
interface LensJson {
  model: string;
  source: string;
  target: string;
  /** What each stack reads. */
  tokens: Record<LensStack, string[]>;
  /** What each position of the stack that predicts is expected to predict. */
  expected_tokens: string[];
  states: Record<LensStack, LensStateJson[]>;
  /** The vectors of one token of each stack; with `encoder_position` or `decoder_position`. */
  parts?: Record<LensStack, LensPartsJson | null>;
}

interface LensPartsJson {
  position: number;
  /** Of all tokens of the stack. */
  ids: number[];
  /** Before positions are added; empty where it is not known. */
  embedding: number[];
  /** As the states of the stack. */
  states: {
    vector: number[];
    /** What the heads of attention mix, side by side. */
    heads?: number[];
    added?: number[];
    /** ln of the sum of exp of the logits. */
    log_sum?: number;
  }[];
  /** Of the last state, where it predicts a token: for each of `temperatures`, ln of the sum of p^(1/T) over the vocabulary. */
  log_sums?: number[];
}

type LensStack = "encoder" | "decoder";

/** The vectors of all tokens at one point of a stack. */
interface LensStateJson {
  /** 0: before the first. */
  layer: number;
  /** embedding, self-attention, cross-attention, feed-forward, recurrence or output. */
  part: LensPart;
  norms: number[];
  /** Of what the sub-layer added; absent where nothing is added. */
  added_norms?: number[];
  // Where the output layer reads vectors of this width:
  /** The probability of the expected token. */
  expected?: number[];
  /** The likeliest tokens of each position, best first. */
  predictions?: {token: string; probability: number}[][];
}

type LensPart = "embedding" | "self-attention" | "cross-attention" | "feed-forward" | "recurrence" | "output";

type AttributionMethod = "integrated" | "gradient" | "rollout" | "leave-out";

/** POST /v1/attribute, and `heed attribute --json`. Lists have an item for each token that is explained. */
interface AttributionJson {
  model: string;
  source: string;
  target: string;
  source_tokens: string[];
  target_tokens: string[];
  method: AttributionMethod;
  /** "zero" or the token that takes the place of all others; null unless the method is "integrated". */
  baseline: string | null;
  /** Which of target_tokens. */
  tokens: number[];
  instead: (string | null)[];
  /** What is explained: ln P of the token, less that of the alternative; null for rollout. */
  log_probability: (number | null)[];
  /** Of the source tokens, then of the earlier target tokens, if the model reads them. */
  attributions: number[][];
  sum: number[];
  /** What the sum should be; null unless the method is "integrated". */
  difference: (number | null)[];
  evaluations: number[];
}

/** Heads, sub-layers, or the residual stream at one position. */
type PatchedPart = "heads" | "layers" | "positions";

/** POST /v1/patch, and `heed patch --json`. */
interface PatchingJson {
  model: string;
  source: string;
  /** The second text. */
  other: string;
  target: string;
  source_tokens: string[];
  other_tokens: string[];
  target_tokens: string[];
  /** Of each source token, the position of its counterpart in other_tokens. */
  counterparts: (number | null)[];
  /** Which of target_tokens the log-probability is of. */
  tokens: number[];
  /** The alternative whose log-probability is taken away. */
  instead: string | null;
  what: PatchedPart;
  /** The log-probability after the first text, and after the second. */
  clean: number;
  corrupted: number;
  /** The share of the difference that comes back, by row and column; null for a position without a counterpart. */
  effects: Record<Stack, (number | null)[][]>;
  /** Layers; of positions, the first is "embedding". */
  rows: Record<Stack, string[]>;
  /** Heads, "layer" and the parts of LensPart, or tokens. */
  columns: Record<Stack, string[]>;
  evaluations: number;
}

/** POST /v1/completions with `logprobs` and `temperatures`. */
interface CompletionsJson {
  choices: {logprobs: LogprobsJson}[];
}

/** Of each token that is written. */
interface LogprobsJson {
  top_logprobs: Record<string, number>[];
  /** For each of `temperatures`, ln of the sum of p^(1/T) over the vocabulary. */
  log_sums: number[][];
}

/** POST /v1/classify */
interface ClassesJson {
  results: {probabilities: Record<string, number>}[];
}

/** POST /v1/embeddings */
interface EmbeddingsJson {
  data: {embedding: number[]}[];
}

/** An error: OpenAI's form or LibreTranslate's. */
interface ErrorJson {
  error?: string | {message: string};
}
