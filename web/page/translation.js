// The translation, with what there is to doubt in it: words that the model is unsure of are underlined, and
// what the translation says otherwise than the source is listed.

import {strings} from "../strings.js";

import {element, setAttribute} from "./dom.js";

const kUnsure = 0.5;  // confidences below: more likely wrong than right

/// The parts of a text between which words begin and end: each second one is white space.
/** @param {string} text */
function partsOf(text) { return text.split(/(\s+)/); }

export function createTranslation() {
  const line = element("p", {id: "confidence", class: "note-line", role: "status", hidden: true});
  const output = element("output", {id: "translation", class: "translation", "for": "source", dir: "auto"});
  const warnings = element("ul", {id: "warnings", class: "warnings", hidden: true});
  let shown = "";

  /** @param {string} word @param {number} confidence */
  const doubtful = (word, confidence) => {
    const say = () => {
      line.textContent = strings.confidence(word, confidence);
    };
    return element(
        "button", {
          type: "button",
          class: "unsure",
          "aria-describedby": "confidence",
          onpointerenter: say,
          onfocus: say,
          onclick: say,
        },
        word);
  };

  return {
    elements: [output, line, warnings],
    /// `confidences`: of each word; null where none are shown.
    /** @param {string} text @param {number[] | null} confidences */
    show(text, confidences) {
      const wanted = JSON.stringify([text, confidences]);
      if (wanted === shown) return;
      shown = wanted;
      const parts = partsOf(text), words = parts.filter((part) => part.trim());
      const known = confidences?.length === words.length ? confidences : [];
      let word = 0, unsure = 0;
      output.replaceChildren(...parts.map((part) => {
        const confidence = part.trim() ? known[word++] ?? 1 : 1;
        if (confidence >= kUnsure) return part;
        ++unsure;
        return doubtful(part, confidence);
      }));
      line.hidden = unsure === 0;
      line.textContent = unsure === 0 ? "" : strings.unsureWords(unsure);
    },
    hide: (/** @type {boolean} */ isHidden) => {
      output.hidden = isHidden;
    },
    /// What the translation says otherwise than the source: it is underlined and described by that.
    /** @param {string[]} texts */
    warn(texts) {
      warnings.hidden = texts.length === 0;
      warnings.replaceChildren(...texts.map((text) => element("li", {}, strings.warning(text))));
      output.classList.toggle("doubtful", texts.length > 0);
      setAttribute(output, "aria-describedby", texts.length > 0 ? "warnings" : null);
    },
  };
}
