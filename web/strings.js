// All text of the page, in one place.

export const strings = {
  title: "Heed",
  subtitle: "What a Transformer attends to",
  tourStart: "Take the tour",
  source: "Sentence",
  sourceHint: "Type a sentence",
  target: "Translation",
  classTarget: "Class",
  vectorTarget: "Vector",
  others: "How similar these are, one sentence a line",
  examplesOfSimilar: ["The dog is asleep.", "A puppy takes a nap.", "The price of oil fell again."],
  /** @param {number} width */
  numbers: (width) => `${width} numbers`,
  /** @param {number} width */
  vectorOf: (width) => `A vector of ${width} numbers`,
  /** @param {string} label @param {number} probability */
  classAndShare: (label, probability) => `${label}: ${(100 * probability).toFixed(1)} %`,
  /** @param {string} token */
  predicted: (token) => `The next token: “${token}”`,
  /** @param {number} cosine */
  cosineWithOriginal: (cosine) => `Cosine with the original vector: ${cosine.toFixed(4)}`,
  text: "Text",
  pair: "Languages",
  model: "Model",
  from: "From",
  to: "To",
  /** @param {string} code */
  languageName: (code) => {
    try {
      return new Intl.DisplayNames(["en"], {type: "language"}).of(code.replaceAll("_", "-")) ?? code;
    } catch {
      return code;  // no language tag
    }
  },
  /** @param {string} from @param {string} to */
  pairName: (from, to) => `${strings.languageName(from)} → ${strings.languageName(to)}`,
  /// A model by its languages, and by its name where that says more.
  /** @param {Model} model */
  modelName: (model) => {
    if (!model.pair)
      return strings.taskNames[model.task] ? `${model.id} (${strings.taskNames[model.task]})` : model.id;
    const pair = strings.pairName(model.source, model.target);
    return model.id === model.pair ? pair : `${pair} (${model.id})`;
  },
  /// Of models without languages.
  /** @type {Record<string, string>} */
  taskNames: {
    text: "language model",
    classification: "classifier",
    embedding: "sentence vectors",
    masked: "fills masks",
  },
  /** @param {ChainJson} chain */
  chainName: (chain) => `${strings.pairName(chain.source, chain.target)}, ${strings.through(chain.through)}`,
  /** @param {string[]} codes */
  through: (codes) => `through ${codes.map(strings.languageName).join(" and ")}`,
  /** @param {string} code @param {string} text */
  intermediate: (code, text) => `In ${strings.languageName(code)}: “${text}”`,
  lookAt: "Look at",
  beam: "Beam size",
  penalty: "Length penalty",
  precision: "Precision",
  apiKey: "API key",
  byDefault: "as the model says",
  settings: "Settings",
  tokens: "Tokens",
  words: "Words",
  unit: "Attention between",
  sentences: "Sentence in this file",
  sourceTokens: "Tokens of the source",
  targetTokens: "Tokens of the target",
  textTokens: "Tokens of the text",
  try: "Try",
  /// By the language that a model reads.
  examples: {
    de: [
      "Der Hund schläft.", "Das kleine Kind, das gestern im Garten spielte, schläft schon.",
      "Kannst du mir bitte helfen?"
    ],
    en: ["The dog is sleeping.", "Where did you learn to swim?", "The weather is nice today."],
    es: ["El perro duerme.", "¿Dónde aprendiste a nadar?", "Hoy hace buen tiempo."],
    fr: ["Le chien dort.", "Où as-tu appris à nager ?", "Il fait beau aujourd'hui."],
  },
  examplesOfText:
      ["Once upon a time there was a little dog", "The cat that the children saw in the garden was"],
  /// Sentences that differ from these, and from those of the tour, in a word.
  /** @type {Record<string, string>} */
  differing: {
    "Der Hund schläft.": "Die Katze schläft.",
    "Das kleine Kind, das gestern im Garten spielte, schläft schon.":
        "Das kleine Kind, das gestern im Garten spielte, schläft nicht.",
    "Kannst du mir bitte helfen?": "Kannst du ihm bitte helfen?",
    "The dog is sleeping.": "The cat is sleeping.",
    "Where did you learn to swim?": "When did you learn to swim?",
    "The weather is nice today.": "The weather is bad today.",
    "El perro duerme.": "El gato duerme.",
    "¿Dónde aprendiste a nadar?": "¿Cuándo aprendiste a nadar?",
    "Hoy hace buen tiempo.": "Hoy hace mal tiempo.",
    "Le chien dort.": "Le chat dort.",
    "Où as-tu appris à nager ?": "Quand as-tu appris à nager ?",
    "Il fait beau aujourd'hui.": "Il fait chaud aujourd'hui.",
    "Once upon a time there was a little dog": "Once upon a time there was a little cat",
    "The cat that the children saw in the garden was": "The cats that the children saw in the garden were",
    "Der Hund hat gut geschlafen.": "Die Katze hat gut geschlafen.",
    "The dog slept well in the garden.": "The cat slept well in the garden.",
  },
  working: "translating …",
  unsure: "Unsure words",
  unsureOptions: {"": "underlined", "plain": "plain"},
  /** @param {number} count */
  unsureWords: (count) => count === 1 ? "The model is unsure of the underlined word." :
                                        `The model is unsure of ${count} underlined words.`,
  /** @param {string} word @param {number} confidence */
  confidence: (word, confidence) => `“${word}”: ${
      strings.percent(confidence)} is the estimated probability that a human translation has this word.`,
  /** @param {string} warning */
  warning: (warning) => `Check this: ${warning}`,
  /** @param {number} score */
  score: (score) => `log-probability ${score.toFixed(2)}`,
  /** @param {number} logProbability @param {number} score */
  finishedScore: (logProbability, score) => strings.score(logProbability) +
      (Math.abs(score - logProbability) > 0.005 ? `, score for its length ${score.toFixed(2)}` : ""),
  stacks: {encoder: "Encoder", cross: "Cross", decoder: "Decoder"},
  stackTitles: {
    encoder: "source tokens look at source tokens",
    cross: "target tokens look at source tokens",
    decoder: "target tokens look at what has been written",
  },
  stackLabel: "Stack",
  layerLabel: "Layer",
  headLabel: "Head",
  mean: "Mean",
  all: "All",
  /** @param {Stack} stack @param {number} layer @param {number} head */
  headName: (stack, layer, head) =>
      `${strings.stacks[stack]} layer ${layer}, ${head === 0 ? "mean of the heads" : `head ${head}`}`,
  views: {
    lines: "Lines",
    heads: "All heads",
    head: "One head",
    query: "One query",
    layers: "Layers",
    why: "Why",
    patch: "Patch",
    model: "Model",
    change: "Change it",
    search: "The search",
    compare: "Compare",
    next: "Next token",
  },
  viewLabel: "View",
  lead: {
    lines:
        "Each line joins a token below with one that it looks at. Its strength is the weight, its colour the head.",
    heads:
        "Every head of every layer. Rows are queries, columns keys; the stronger the colour, the more attention.",
    head: "Rows are queries, columns the keys they look at. Each row sums to 1.",
    query:
        "How one row of the attention comes about: dot products, scaled, masked, softmax, and the values mixed.",
    why: "How much each token that the model has read contributes to a token that it writes.",
    patch: "Which parts of the model carry what another sentence changes.",
    model:
        "The whole way, from characters to the word that is written, with the model's numbers. Each part opens. Click a token above to follow another.",
    layers: "What each token's vector says after each step of the model.",
    change:
        "Switch heads off, demand or forbid words, write another target, and see what becomes of the translation.",
    search: "What the search considered at each step: kept branches, dropped ones, and the winner.",
    compare: "The same head for two sentences, translations, models or precisions, and where they differ.",
    next:
        "What the last token looks at, what the model finds likely to come next, and how temperature and top-p change that.",
  },
  show: "Show",
  shownOfLayers: {
    predictions: "Likeliest token",
    expected: "Expected token",
    norms: "Norm",
    added: "Added",
  },
  leadOfLayers: {
    predictions:
        "Each column is a token's vector on its way down through the layers. Each cell has the token that the output layer would choose there, as if no layers followed (logit lens). The stronger the colour, the more probable; bold is the token that follows.",
    expected:
        "How probable the token that follows, below, would be if the output layer read the vectors here, as if no layers followed (logit lens).",
    norms: "The Euclidean norm of each token's vector, from the embedding, above, through all layers.",
    added: "The norm of what attention and feed-forward networks add to each token's vector.",
  },
  columnsOfLayers: ["after", "token", "norm", "added", "expected", "its probability", "likeliest tokens"],
  /// A point of a stack; `short`: where there is little room.
  /** @param {number} layer @param {LensPart} part */
  stateName: (layer, part, short = false) => {
    const name = (short ? strings.shortParts : strings.parts)[part];
    return part === "embedding" || part === "output" ? name : `${layer} ${name}`;
  },
  parts: {
    "embedding": "embedding",
    "self-attention": "self-attention",
    "cross-attention": "cross-attention",
    "feed-forward": "feed-forward",
    "recurrence": "recurrence",
    "output": "output",
  },
  shortParts: {
    "embedding": "embed.",
    "self-attention": "self",
    "cross-attention": "cross",
    "feed-forward": "feed-f.",
    "recurrence": "recur.",
    "output": "output",
  },
  expectedRow: "expected",
  /// A part of a layer, or all of it.
  /** @param {LensPart | "layer"} part */
  patchedPart: (part, short = false) =>
      part === "layer" ? (short ? "all" : "all of it") : (short ? strings.shortParts : strings.parts)[part],
  state: "after",
  normColumn: "norm",
  addedColumn: "added",
  likeliest: "likeliest tokens",
  /// With three significant digits.
  /** @param {number} value */
  norm: (value) => value >= 100 ? value.toFixed(0) :
      value >= 10               ? value.toFixed(1) :
                                  value.toFixed(2),
  /** @param {number} share */
  percent: (share) =>
      share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`,
  /** @param {string} token @param {number} share */
  tokenShare: (token, share) => `“${token}” ${strings.percent(share)}`,
  /**
   * @param {string} where @param {string} token @param {string[]} likeliest @param {number} norm
   * @param {number | undefined} added
   */
  vectorIs: (where, token, likeliest, norm, added) =>
      `“${token}”, ${where}: ${likeliest.length ? `${likeliest.slice(0, 3).join(", ")}; ` : ""}norm ${
          strings.norm(norm)}${added === undefined ? "" : `, added ${strings.norm(added)}`}`,
  /** @param {string} token @param {string | null} expected */
  wayOf: (token, expected) =>
      `The way of “${token}”${expected === null ? "" : `, after which “${expected}” is expected`}`,
  outputReadsTheLast: "In a recurrent network, the output layer reads the last vectors only.",
  /** @param {number} norm */
  vectorNorm: (norm) => `norm ${strings.norm(norm)}`,
  withAllHeads: "With all heads: those that are switched off count in the translation alone.",
  nextWithAllHeads: "With all heads: those that are switched off count in the attention alone.",
  otherWithAllHeads: "The other model has all its heads: those that are switched off are of the first one.",
  method: "Method",
  methods: {
    "integrated": "Integrated gradients",
    "gradient": "Gradient × input",
    "rollout": "Attention rollout",
    "leave-out": "Leaving out",
  },
  leadOfWhy: {
    "integrated":
        "How much each token raises or lowers the log-probability of the outlined token: gradients along the way from a sentence without content to this one. The values sum to the difference between the two.",
    "gradient":
        "How the log-probability of the outlined token would change if a token's embedding were a little longer: the embedding times the gradient. Quick, and only true near this sentence.",
    "rollout":
        "Where the attention leads through all layers, as the mean over heads. It says nothing about the token that is written: compare it with the other methods.",
    "leave-out": "By how much the log-probability of the outlined token falls when a token is left out.",
  },
  whyOfSource: "Source",
  whyOfText: "Text",
  whyOfTarget: "Translation: click a token to explain it",
  whyOfNext: "Next token",
  whyOfClass: "Class",
  whyOfMask: "Tokens for the masks",
  insteadLabel: "Why not",
  insteadHint: "another token",
  noInstead: "(none)",
  /** @param {number} seconds */
  computing: (seconds) => `computing${seconds >= 1 ? `, ${seconds} s` : ""} …`,
  /// Of a contribution: with its sign.
  /** @param {number} value */
  signed: (value) => (Number(value.toFixed(2)) > 0 ? "+" : "") + strings.decimal(value, 2),
  /** @param {number} value */
  decimal: (value, digits = 3) => {
    const text = Math.abs(value).toFixed(digits);
    return value < 0 && Number(text) !== 0 ? `−${text}` : text;
  },
  /** @param {string} token @param {string | null} instead */
  whatIsExplained: (token, instead) =>
      instead === null ? `ln P(“${token}”)` : `ln P(“${token}”) − ln P(“${instead}”)`,
  /** @param {string} token @param {string} what @param {number} value */
  contributes: (token, what, value) => Math.abs(value) < 0.005 ?
      `“${token}” leaves ${what} as it is` :
      `“${token}” ${value < 0 ? "lowers" : "raises"} ${what} by ${Math.abs(value).toFixed(3)}`,
  /** @param {string} token @param {number} share */
  hasShare: (token, share) => `“${token}” has ${strings.percent(share)} of the attention through all layers`,
  whyHint: "Point at a token, or move with the arrow keys. Enter explains a token of the translation.",
  pointHint: "Point at a token, or move with the arrow keys.",
  /** @param {string} token */
  notRead: (token) => `“${token}” is not read by then`,
  /// The sum of the values and what it should be.
  /**
     @param {string} what @param {number} value @param {number} sum @param {number}
         difference @param {string} baseline @param {number} passes
   */
  sumOfIntegrated: (what, value, sum, difference, baseline, passes) =>
      `${what} = ${strings.decimal(value)}. The values sum to ${strings.decimal(sum)}; they should sum to ${
          strings.decimal(difference)}, the difference from the baseline, ${
          baseline === "zero" ?
              "embeddings of zeros" :
              `“${baseline}” in place of every token`} (${passes} passes through the model).`,
  /** @param {string} what @param {number} value @param {number} sum */
  sumOfGradient: (what, value, sum) => `${what} = ${strings.decimal(value)}. The values sum to ${
      strings.decimal(sum)}; they need not sum to anything in particular.`,
  /** @param {string} what @param {number} value @param {number} sum */
  sumOfLeaveOut: (what, value, sum) => `${what} = ${strings.decimal(value)}. The values sum to ${
      strings.decimal(
          sum)}; they need not sum to anything in particular, as tokens can stand in for each other.`,
  /** @param {number} sum */
  sumOfRollout: (sum) =>
      `The shares sum to ${strings.decimal(sum)}${sum < 0.9995 ? "; the rest is the start token's." : "."}`,
  contribution: "contribution",
  role: "part of",
  besideLabel: "Other sentence",
  patchedLabel: "What is put back",
  patched: {heads: "Heads", layers: "Layers", positions: "Positions"},
  watchedLabel: "Watch",
  againstLabel: "Against",
  watchAll: "the whole translation",
  leadOfPatch: {
    heads:
        "The model reads the other sentence, and one head at a time gives what it gave for the first. How much of the difference in log-probability comes back? 1 is all of it, 0 nothing.",
    layers:
        "The model reads the other sentence, and one sub-layer at a time adds what it added for the first, at all tokens. How much of the difference in log-probability comes back? 1 is all of it, 0 nothing.",
    positions:
        "The model reads the other sentence, and one token at a time has the vector that it had in the first, after one layer. How much of the difference in log-probability comes back? 1 is all of it, 0 nothing.",
  },
  changeAWord: "Change a word of the other sentence, and see which part of the model carries the difference.",
  /** @param {string} what @param {number} clean @param {number} corrupted */
  patchedDifference: (what, clean, corrupted) => `${what} = ${
      strings.decimal(clean, 2)} after the sentence, ${strings.decimal(corrupted, 2)} after the other one.`,
  /** @param {string} where @param {number} effect */
  mostComesBack: (where, effect) => `${where} brings back the most: ${strings.decimal(effect, 2)}.`,
  nothingComesBack: "No single part brings anything back.",
  otherLength:
      "The two have different numbers of tokens: those between their common beginning and end stay as they are.",
  /// A cell of the maps.
  /** @param {Stack} stack @param {string} layer @param {LensPart | "layer"} part */
  subLayerName: (stack, layer, part) =>
      `${strings.stacks[stack]} layer ${layer}, ${strings.patchedPart(part)}`,
  /** @param {Stack} stack @param {string} layer @param {string} token */
  positionName: (stack, layer, token) => layer === "embedding" ?
      `“${token}” before ${strings.stacks[stack]} layer 1` :
      `“${token}” after ${strings.stacks[stack]} layer ${layer}`,
  /** @param {string} where @param {number} effect */
  bringsBack: (where, effect) => Math.abs(effect) < 0.005 ? `${where} brings nothing back` :
      effect > 0 ? `${where} brings back ${strings.decimal(effect, 2)} of the difference` :
                   `${where} makes the difference larger, by ${strings.decimal(-effect, 2)}`,
  /** @param {string} where */
  noCounterpart: (where) => `${where}: no counterpart in the other sentence`,
  patchedHint: "Point at a cell, or move with the arrow keys.",
  patchedHeadHint: "Point at a head, or move with the arrow keys. A click or Enter shows its attention.",
  /** @param {string} what @param {string} other */
  pictureOfPatch: (what, other) => `${what}, and what comes back of the difference to “${other}”`,
  columnsOfPatch: ["part", "comes back"],
  /// The whole model: names of parts, and what they say in one line.
  wholeModel: {
    /** @param {string} encoder @param {string} decoder @param {string} written */
    shown: (encoder, decoder, written) => [encoder && `The encoder at “${encoder}”`,
                                           decoder && `${encoder ? "the" : "The"} decoder at “${decoder}”`,
                                           written && `which writes “${written}”`]
                                              .filter((each) => each)
                                              .join(", ") +
        ".",
    input: {encoder: "Text to tokens", decoder: "What is written so far"},
    /** @param {number} characters @param {number} tokens */
    inputLine: (characters, tokens) => `${characters} characters, ${tokens} tokens`,
    embedding: "Tokens to vectors",
    /** @param {string} token @param {number} id @param {number} width @param {number} position */
    embeddingLine: (token, id, width, position) =>
        `“${token}”, id ${id}: ${width} numbers, and its position, ${position}`,
    /** @param {LensStack} stack @param {number} layer */
    layer: (stack, layer) => `${strings.stacks[stack]} layer ${layer}`,
    attention: {encoder: "Self-attention", cross: "Cross-attention", decoder: "Self-attention"},
    feedForward: "Feed-forward",
    recurrence: "Recurrence",
    /** @param {{weight: number, text: string}[]} keys */
    looks: (keys) =>
        `looks at ${keys.map(({text, weight}) => `“${text}” ${strings.percent(weight)}`).join(", ")}`,
    /** @param {number} norm */
    adds: (norm) => `adds ${strings.norm(norm)}`,
    /** @param {string} saying */
    says: (saying) => `then ${saying}`,
    output: "Output",
    columns: {token: "token", id: "id", characters: "as the vocabulary has it"},
    steps: {
      embedding: "embedding",
      position: "position",
      input: "sum",
      reads: "x, as it was",
      heads: "heads, side by side",
      projected: "their projection, added",
      added: "added",
      sum: "x + added",
      normed: "norm of the sum",
      state: "vector",
      last: "last vector",
    },
    positionHelp:
        "What is added to the embedding before the first layer: the position, and in some models a norm. It is 0 where attention itself knows the positions.",
    feedForwardHelp: "Two linear layers with a nonlinear function between them, for each token alone.",
    projectionHelp: "A matrix mixes the heads into what is added to the vector.",
    queryButton: "Look at this in One query",
    logitsLead:
        "The output layer gives each token of the vocabulary a logit. exp(logit ÷ temperature), divided by the sum over all tokens, is its probability.",
    logitColumns: ["token", "logit", "probability", "at this temperature"],
    /** @param {string} token @param {string} probability */
    outputLine: (token, probability) => `“${token}” with ${probability}`,
    written: "written",
    /** @param {string} what */
    classLine: (what) => `the class: ${what}`,
    vectorLine: "the vectors that the pooling or the head on top reads",
    /** @param {number[]} numbers */
    numbers: (numbers) => `${numbers.slice(0, 4).map((each) => strings.decimal(each, 2)).join("  ")}${
        numbers.length > 4 ? " …" : ""}`,
    /** @param {number} norm @param {number} width */
    size: (norm, width) => `${width} numbers, norm ${strings.norm(norm)}`,
  },
  leadSwitching: "Switch heads off or scale them, and see what becomes of the result.",
  leadVertical:
      "Each line joins a token on the right with one on the left that it looks at. Its strength is the weight, its colour the head.",
  startToken: "⟨start⟩",
  table: "The numbers as a table",
  /** @param {string} query @param {string} key @param {number} weight */
  weightOf: (query, key, weight) =>
      `“${query}” gives “${key}” ${(100 * weight).toFixed(1)} % of its attention`,
  /** @param {string} query @param {{weight: number, text: string}[]} keys */
  looksAt: (query, keys) => `“${query}” looks at ${
      keys.map(({weight, text}) => `“${text}” ${(100 * weight).toFixed(0)} %`).join(", ")}`,
  /** @param {string} key @param {{weight: number, text: string}[]} queries */
  isSeenBy: (key, queries) => `“${key}” is looked at by ${
      queries.map(({weight, text}) => `“${text}” ${(100 * weight).toFixed(0)} %`).join(", ") || "nobody"}`,
  readingHint: "Point at a token, or move with the arrow keys. Enter keeps it marked.",
  /** @param {string} what @param {string} source @param {string} target */
  pictureOf: (what, source, target) => `${what}. Source: ${source}. Target: ${target}.`,
  query: "query",
  key: "key",
  head: "head",
  sortLabel: "Sort by",
  filterLabel: "Show",
  everyHead: "every head",
  filterAtLeast: "at least",
  place: "place in the model",
  metrics: {
    entropy: "entropy",
    distance: "distance",
    diagonal: "on the diagonal",
    ends: "on the ends",
    punctuation: "on punctuation",
  },
  metricHelp: {
    entropy: "Bits. 0: all attention on one token; the more, the more evenly it is spread.",
    distance: "How many tokens the attention is away from the query's own place.",
    diagonal: "The share of attention on the query's own place.",
    ends: "The share on ⟨end⟩, ⟨start⟩ and other special tokens.",
    punctuation: "The share on punctuation.",
  },
  /** @param {string} metric @param {number} value */
  metricValue: (metric, value) => metric === "entropy" ? `${value.toFixed(2)} bits` :
      metric === "distance" ? value.toFixed(1) :
                              `${Math.round(100 * value)} %`,
  /** @param {number} shown @param {number} all */
  headsShown: (shown, all) => (shown === all ? `${all} heads` : `${shown} of ${all} heads`),
  noHeads: "No head passes the filter.",
  queryChoice: "Query",
  steps: {
    key: "Key",
    vector: "Key vector k",
    product: "q · k",
    /** @param {number} scale 1 / √d in most models */
    scaled: (scale) => {
      const root = 1 / (scale * scale), whole = Math.max(1, Math.round(root));
      return Math.abs(root - whole) < 1e-4 * whole ? `÷ √${whole}` : `× ${Number(scale.toPrecision(4))}`;
    },
    /** @param {number} cap */
    capped: (cap) => `Cap ${cap}`,
    biased: "+ position",
    masked: "Mask",
    weight: "Softmax",
    value: "Value v",
    share: "Weight × v",
    contribution: "Part of the output",
  },
  /** @param {string} token @param {number} width */
  queryVector: (token, width) => `Query q of “${token}”: ${width} numbers`,
  outputVector: "Output: the sum of weight × v",
  /** @param {number} cap */
  capHelp: (cap) => `The soft cap: x becomes ${cap} tanh(x ÷ ${cap}), so that no score is beyond ±${cap}.`,
  biasHelp: "What the model adds for the position of the key relative to the query.",
  maskHelp: "−∞ where the query must not see the key: softmax gives it 0.",
  contributionHelp:
      "The share of the output vector that this value makes up, measured along the output. All shares sum to 100 %.",
  noDetail:
      "There are no queries, keys and values here: this attention is additive, or the mean of several heads.",
  needsServer: "This needs the model. Start it with",
  needsServerAfter: "and open the address that it prints.",
  /** @param {boolean} other whether it is not attention that is shown */
  commandIntro: (other) => other ? "The command that draws this:" : "The command that draws this attention:",
  commandOfNumbers: "The command that writes these numbers:",
  copy: "Copy",
  copied: "Copied",
  selected: "Selected: copy it with Ctrl+C or ⌘C",
  exports: "Take it with you",
  exportLabels: {svg: "SVG", png: "PNG", pdf: "PDF", json: "JSON", csv: "CSV", link: "Link"},
  pdfHint: "PDF is drawn by the command:",
  off: "Heads switched off",
  switching: "A click changes",
  scale: "and multiplies it by",
  switchOne: "this head",
  switchOff: "Switch off",
  switchOn: "Switch on",
  offLayer: "the layer",
  offOthers: "the others of its layer",
  onAll: "Switch all on",
  original: "Original",
  changed: "Changed",
  difference: "Difference of the log-probability",
  /// By the kind of the result (outcome.js).
  differenceOf: {
    text: "Difference of the text's log-probability",
    classification: "Difference of the log-probability of the original class",
    vectors: "Difference of the cosine",
  },
  perToken: "For each token",
  forced: "It begins with",
  required: "It contains",
  forbidden: "It avoids",
  constraints: "Steer the translation",
  constraintsHint:
      "Several words or phrases are separated by commas. A word without capitals is avoided in any case; word* stands for all that begin so.",
  /** @param {string} word */
  forbidWord: (word) => `Translate without “${word}”`,
  forbidHint: "Click a word to have it translated without.",
  ownTarget: "Or write it",
  reset: "As the model translates",
  matter: "Which heads matter?",
  matterRun: "Switch each off in turn",
  /// By the kind of the result (outcome.js).
  matterLead: {
    translation: "What the translation loses in log-probability when one head gives nothing.",
    text: "What the text loses in log-probability when one head gives nothing.",
    classification: "What the class loses in log-probability when one head gives nothing.",
    vectors: "How much the cosine with the original vector falls when one head gives nothing.",
  },
  /** @param {number} done @param {number} all */
  matterProgress: (done, all) => `${done} of ${all}`,
  lossColumn: "change",
  logProbability: "log-probability",
  other: "Compare with",
  otherText: "another sentence",
  otherModel: "another model",
  otherPrecision: "another precision",
  /** @param {number} most */
  differenceMap: (most) => `Difference: second minus first, at most ${most.toFixed(most < 0.1 ? 3 : 2)}`,
  /** @param {number} first @param {number} second */
  scores: (first, second) => `Log-probability: ${first.toFixed(3)} and ${second.toFixed(3)}.`,
  notComparable: "The two have different numbers of tokens, so there is no difference to draw.",
  comparedByPlace: "The two have different tokens: the difference compares them position by position.",
  searchEmpty: "There is no search tree for this.",
  searchOfModel: "The translation is written by hand; this is the search for the model's own.",
  kept: "kept",
  dropped: "dropped",
  winner: "winner",
  finished: "finished",
  continueBranch: "Click a branch to continue it",
  /** @param {string} text @param {string} state @param {number} probability @param {number} sum */
  branch: (text, state, probability, sum) => `“${text}”: ${state}; the last token has ${
      (100 * probability).toFixed(1)} %, all together ln P = ${sum.toFixed(2)}`,
  stepColumn: "step",
  sumColumn: "ln P so far",
  stateColumn: "state",
  otherTarget: "another translation",
  differenceColumn: "difference",
  otherTokens: "all others",
  append: "Append this token to the text",
  notLanguageModel: "This view is for language models, and this model translates or classifies.",
  tourSentences: {de: "Der Hund hat gut geschlafen.", en: "The dog slept well in the garden."},
  tourPart: "Part of the tour",
  tourParts: ["Attention", "The whole model"],
  tour: [
    [
      "Query, key, value",
      "Every token asks a question, its query, and every token offers a key to be found by and a value to be taken. The dot product of query and key says how well they fit. Here is one token's query, with the model's real numbers, against all keys of its sentence."
    ],
    [
      "Scaling and softmax",
      "Dot products of long vectors get large, and softmax of large numbers leaves one winner and no gradient. So they are divided by √d, the root of the vectors' length. Softmax then turns them into weights that sum to 1, and the output is the mix of values in these shares."
    ],
    [
      "The look-ahead mask",
      "The decoder writes from left to right, and while it learns it must not see what it is about to write. So every score to the right of the diagonal is set to minus infinity, and its weight becomes 0. That is the empty triangle."
    ],
    [
      "Heads",
      "One attention looks in one way at a time, so a layer has several, its heads, each with queries, keys and values of its own. Some look at a neighbour, some at the end of the sentence, some at everything. Point at a token to see where each head looks; click a map to see it large."
    ],
    [
      "Cross-attention is an alignment",
      "When the decoder writes a word, its cross-attention looks at the source words it comes from. Most heads learn that from pairs of sentences alone; in training, one head may be shown alignments (head 1 of layer 1 of the bundled German model). Follow the lines of one word: where the order of the languages differs, they cross."
    ],
    [
      "Why so much attention goes to the end",
      "Softmax cannot give nothing: the weights of a query sum to 1. A head that has nothing to add for a token puts its weight where it changes least, often on ⟨end⟩ or a full stop, whose value vectors are short. The heads are sorted by their share on the end here."
    ],
    [
      "A head is gone",
      "A head that is switched off gives zeros. The translation often stays, or a word of it changes: the other heads and the path around them carry it. Switch off every layer of Cross, and the decoder writes something that has nothing to do with the sentence."
    ],
    [
      "Before the Transformer",
      "Recurrent networks with attention had a single matrix between target and source. It looked much like this mean over the heads of a layer. What was added is that tokens of one sentence look at each other, in many ways at once, and without waiting for one another."
    ],
    [
      "Positions",
      "Attention compares vectors and knows nothing of order. So each token's embedding gets a vector added that says its place, in this kind of model one of sines and cosines. Below are both for one token, and their sum, which the first layer reads. Click another token above: embedding and place are others."
    ],
    [
      "The residual stream",
      "No sub-layer replaces a token's vector: each one reads it and adds to it. The sum that runs from the embedding to the output is the residual stream, and what one layer has written there all later ones can read. Each number is the norm of what is added; the table below follows one token."
    ],
    [
      "Norm",
      "Each sub-layer adds numbers of a size of its own. The norm subtracts the mean of the vector's numbers, divides by their standard deviation, and multiplies each by a learned factor, so that the next sub-layer reads what it was trained for. Compare “x + added” with “norm of the sum”. Many newer models take the norm of what a sub-layer reads, and leave the stream itself alone."
    ],
    [
      "Feed-forward",
      "Attention moves information from token to token; the feed-forward network works on each token alone, with about two thirds of a layer's weights. Here the model reads another sentence, and one sub-layer at a time adds what it added for yours. In the encoder the feed-forward networks bring back more of the difference than attention; in the decoder, cross-attention fetches it."
    ],
    [
      "Softmax and temperature", "The output layer gives each token of the vocabulary a number, its logit, and softmax turns logits into probabilities. Dividing by a temperature before changes how decided the model is: below 1 the likeliest token takes nearly everything, above 1 the others come closer. Move the slider under “Output”."
    ],
    [
      "Why so many layers",
      "A layer can only work with what those before it have written. Here the output layer reads the vectors early, as if no layers followed. At first a vector says the token that was read; the one that follows appears once cross-attention has looked at the source. Below are the tokens that are expected."
    ],
    [
      "What training changed",
      "A model begins with random numbers. First it learns which words are frequent, then which belong together, and last which word of the source a word of the translation comes from. This page has no checkpoints of a training; heed serve shows three with --pair de-en --model models/checkpoints/step-100 and likewise step-500 and step-5000."
    ],
    [
      "What attention does not explain",
      "It is tempting to read attention as the reason for a word. Here it is followed through all layers, as the mean over the heads: often ⟨end⟩ gets the most, and the word that was translated no more than others. Now choose “Leaving out” or “Integrated gradients”, which ask what the word's probability depends on. Attention says where a head reads, not what the model makes of it."
    ],
  ],
  tourRnn:
      "A recurrent network with attention has a single matrix between target and source: this one. It looks much like the mean over the heads of a Transformer's cross-attention. What was added is that tokens of one sentence look at each other, in many ways at once, and without waiting for one another.",
  tourCheckpoints:
      "Three checkpoints of one training of a small model. After 100 updates it knows which words are frequent and says them whatever it reads; its attention is spread evenly. After 500 some words are right. At the end each word looks at those that it comes from. Choose one: the other views show it, too.",
  checkpoint: "Checkpoint",
  afterUpdates: "After",
  updates: "updates",
  /** @param {number} count */
  count: (count) => count.toLocaleString("en"),
  /** @param {number} n */
  step: (n) => `Step ${n}`,
  temperature: "Temperature",
  top: "Top-p",
  weight: "weight",
  write: "Write on",
  writeStop: "Stop",
  writeHint: "Draws one of the tokens below after the other, with their probabilities.",
  /** @param {string} token */
  nextLooksAt: (token) => `To predict the next token, “${token}” looks at`,
  probability: "probability",
  token: "token",
  /** @param {string} why */
  failed: (why) => `The server says: ${why}`,
  // On a site without a server:
  /** @param {string} why */
  refused: (why) => `Heed says: ${why}`,
  /** @param {string} why */
  notLoaded: (why) => `Heed cannot be loaded: ${why}`,
  openModel: "Open a model…",
  openModelHint: "Choose its directory, or drop it anywhere on the page. Its files stay in this browser.",
  /** @param {string} name */
  opening: (name) => `Opening ${name}…`,
  /** @param {string} name @param {string} why */
  notOpened: (name, why) => `${name} cannot be opened: ${why}`,
  /** @param {string} tokens @param {string} most */
  tooLong: (tokens, most) =>
      `The text has ${tokens} tokens, and this page shows the attention of up to ${most}. Shorten it.`,
  unreachable: "The server does not answer. Is heed serve still running?",
  /** @param {number} n @param {number} all */
  tourOf: (n, all) => `${n} of ${all}`,
  tourBack: "Back",
  tourNext: "Next",
  tourNextPart: "On to the whole model",
  tourDone: "Done",
  tourEnd: "Leave the tour",
  tourLabel: "Guided tour",
  skip: "Skip to the views",
  footer:
      "Made by Heed. Nothing on this page is loaded from elsewhere; what you type goes to the server of this page and nowhere else.",
  footerOfSite:
      "Made by Heed. Nothing on this page is loaded from elsewhere. The model runs in this browser, and what you type stays in it.",
  footerOfFile: "Made by Heed. Nothing on this page is loaded from elsewhere, and nothing leaves it.",
};
