// How a token is written, whatever it holds: the same rules as in pictures (src/inspect/trace/label.h); the
// tests of both read tests/data/token_labels.json.

const kWordMark = "\u2581";
/** @type {Record<string, string>} */
const kSpecial = {
  "</s>": "⟨end⟩",
  "<s>": "⟨start⟩",
  "<pad>": "⟨pad⟩",
  "<unk>": "⟨unknown⟩",
  "[CLS]": "[CLS]",
  "[SEP]": "[SEP]",
  "<|endoftext|>": "⟨end⟩",
  "<bos>": "⟨start⟩",
  "<eos>": "⟨end⟩",
};

/** @param {string} token */
export function isSpecial(token) { return Object.hasOwn(kSpecial, token); }

/** @param {string} token */
function beginsWord(token) { return token.startsWith(kWordMark); }

/// Controls, marks that turn the direction of text, and what is no character become visible.
/** @param {string} text */
export function visibleText(text) {
  return text.replace(/[\n\r]/g, "⏎")
      .replace(/\t/g, "⇥")
      .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
      .replace(/\u007f/g, "␡")
      .replace(
          /[\u0080-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g,
          (c) => "U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0"));
}

/** @param {string} token */
function byteOf(token) {
  const match = /^<0x([0-9A-F]{2})>$/.exec(token);
  return match ? parseInt(match[1], 16) : -1;
}

/// The labels of byte tokens that stand in a row: the character that they spell, with the number of the byte.
/** @param {number[]} bytes */
function labelBytes(bytes) {
  const labels = [];
  const decoder = new TextDecoder("utf-8", {fatal: true});
  while (labels.length < bytes.length) {
    let length = 0;
    for (let size = 1; size <= 4 && labels.length + size <= bytes.length && !length; ++size) {
      try {
        const text = decoder.decode(Uint8Array.from(bytes.slice(labels.length, labels.length + size)));
        for (let part = 1; part <= size; ++part) {
          labels.push(visibleText(text) + (size > 1 ? String.fromCharCode(0x2080 + part) : ""));
        }
        length = size;
      } catch { /* not a whole character yet */
      }
    }
    if (!length) labels.push("0x" + bytes[labels.length].toString(16).toUpperCase().padStart(2, "0"));
  }
  return labels;
}

/// One label per token: `text`, and whether it begins a word, continues one, or is special.
/** @param {string[]} tokens @returns {Label[]} */
export function tokenLabels(tokens) {
  /** @type {Label[]} */
  const labels = [];
  const wordPiece = tokens.some((token) => token.startsWith("##"));
  while (labels.length < tokens.length) {
    const token = tokens[labels.length];
    const bytes = [];
    while (byteOf(tokens[labels.length + bytes.length] ?? "") >= 0)
      bytes.push(byteOf(tokens[labels.length + bytes.length]));
    if (bytes.length > 0) {
      for (const text of labelBytes(bytes)) labels.push({text, special: false, begins: false});
    } else if (isSpecial(token)) {
      labels.push({text: kSpecial[token], special: true, begins: true});
    } else if (beginsWord(token)) {
      labels.push({text: visibleText(token.slice(1)) || "␣", special: false, begins: true});
    } else {
      labels.push(
          {text: visibleText(token) || "␀", special: false, begins: wordPiece && !token.startsWith("##")});
    }
  }
  return labels;
}

/// The word of each token, from 0: as src/inspect/terminal/words.h.
/** @param {string[]} tokens @returns {number[]} */
export function wordIndices(tokens) {
  /** @type {number[]} */
  const words = [];
  let afterSpecial = false;
  for (const token of tokens) {
    const special = isSpecial(token);
    const begins = beginsWord(token) || special || afterSpecial;
    words.push(words.length === 0 ? 0 : words[words.length - 1] + (begins ? 1 : 0));
    afterSpecial = special;
  }
  return words;
}

/// The text of each word; `wordPieces`: pieces that continue one begin with "##".
/** @param {string[]} tokens @param {number[]} words @param {boolean} [wordPieces] @returns {string[]} */
export function joinWords(tokens, words, wordPieces) {
  /** @type {(string | number)[][]} */
  const parts = [];
  tokens.forEach((token, n) => {
    const byte = byteOf(token);
    const continues = wordPieces && n > 0 && words[n] === words[n - 1];
    const mark = beginsWord(token) ? 1 : continues && token.startsWith("##") ? 2 : 0;
    (parts[words[n]] ??= []).push(byte >= 0 ? byte : token.slice(mark));
  });
  const encoder = new TextEncoder();
  return parts.map((part) => {
    const bytes = part.flatMap((piece) => (typeof piece === "number" ? [piece] : [...encoder.encode(piece)]));
    return new TextDecoder().decode(Uint8Array.from(bytes));
  });
}
