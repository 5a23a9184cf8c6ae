// Colours of pictures: read from the style sheet, so that light and dark are said in one place.

/// "#rrggbb" or "rgb(r, g, b)" as numbers.
/** @param {string} text */
export function parseColour(text) {
  const hex = /^#(..)(..)(..)$/.exec(text.trim());
  if (hex) return hex.slice(1).map((part) => parseInt(part, 16));
  return [...text.matchAll(/\d+(\.\d+)?/g)].slice(0, 3).map(([number]) => Number(number));
}

/** @param {number[]} colour */
function toHex(colour) {
  return "#" + colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
}

const kLevels = 64;

/// The colours of the page as it looks now.
export function readColours() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const value = (name) => style.getPropertyValue(name).trim();
  const stops = [0, 1, 2, 3, 4].map((n) => parseColour(value(`--scale-${n}`)));
  /** @type {number[][]} */
  const scale = [];
  for (let level = 0; level < kLevels; ++level) {
    const at = (level / (kLevels - 1)) * (stops.length - 1),
          from = Math.min(Math.floor(at), stops.length - 2);
    scale.push(stops[from].map((part, n) => part + (stops[from + 1][n] - part) * (at - from)));
  }
  const hexes = scale.map(toHex);
  /** @param {number} weight */
  const level = (weight) => Math.max(0, Math.min(kLevels - 1, Math.round(weight * (kLevels - 1))));
  const less = parseColour(value("--less")), more = parseColour(value("--more")), none = stops[0];
  /** @param {number[]} colour @param {number} share */
  const blend = (colour, share) => toHex(none.map((part, n) => part + (colour[n] - part) * share));
  return {
    background: value("--paper"),
    ink: value("--ink"),
    faint: value("--faint"),
    rule: value("--rule"),
    accent: value("--accent"),
    masked: value("--masked"),
    scale: hexes,
    heads: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => value(`--head-${n}`)),
    /// Of a weight from 0 to 1.
    /** @param {number} weight */
    weight: (weight) => hexes[level(weight)],
    /** @param {number} weight */
    weightParts: (weight) => scale[level(weight)],
    /// Of text on the colour of a weight.
    /** @param {number} weight */
    on: (weight) => value(weight > 0.6 ? "--paper" : "--ink"),
    /// Of a number around 0; `most` has the full colour.
    /** @param {number} number @param {number} most */
    signed: (number, most) =>
        blend(number < 0 ? less : more, most > 0 ? Math.min(1, Math.abs(number) / most) : 0),
  };
}

/// Of head 1, 2, ...; 0, the mean, has the ink's. The first heads have the style sheet's colours; those that
/// follow have them again, mixed with the ink, then with the paper, and so on with more of these.
/** @param {Colours} colours @param {number} head */
export function headColour(colours, head) {
  if (head === 0) return colours.ink;
  const number = (head - 1) % colours.heads.length, round = Math.floor((head - 1) / colours.heads.length);
  if (round === 0) return colours.heads[number];
  const other = parseColour(round % 2 === 1 ? colours.ink : colours.background);
  const share = 1 - 0.55 ** Math.ceil(round / 2);
  return toHex(parseColour(colours.heads[number]).map((part, n) => part + (other[n] - part) * share));
}
