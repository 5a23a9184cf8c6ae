// Makes elements of the page.

/// An element with attributes, listeners (`onclick: f`) and children. Attributes that are null or false are
/// left out; true is written as an empty value.
/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {(Content | Content[])[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      made.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else
      made.setAttribute(name, value === true ? "" : String(value));
  }
  const isThere = (/** @type {Content} */ child) => child !== null && child !== undefined;
  made.append(.../** @type {(Node | string)[]} */ (children.flat().filter(isThere)));
  return made;
}

/// Fades the left and right edges of a box that scrolls, where there is more to see.
/** @template {HTMLElement} Box @param {Box} box */
export function fadeEdges(box) {
  const show = () => {
    box.classList.toggle("more-left", box.scrollLeft > 1);
    box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  box.addEventListener("scroll", show, {passive: true});
  const sizes = new ResizeObserver(show);
  sizes.observe(box);
  for (const child of box.children) sizes.observe(child);
  return box;
}

/// The message of whatever was thrown.
/** @param {unknown} error */
export function messageOf(error) { return error instanceof Error ? error.message : String(error); }

/** @param {Element} each */
export function hasFocus(each) { return each === document.activeElement; }

/// Shows a value in a field, but not while it has the focus: what is half typed there would be lost.
/** @param {HTMLInputElement | HTMLTextAreaElement} field @param {string} value */
export function showValue(field, value) {
  if (!hasFocus(field) && field.value !== value) field.value = value;
}

/// What draws on a canvas.
/** @param {HTMLCanvasElement} canvas */
export function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));  // every browser has it
}

/// Sets or removes an attribute.
/** @param {Element} target @param {string} name @param {string | boolean | null} value */
export function setAttribute(target, name, value) {
  if (value === null || value === false)
    target.removeAttribute(name);
  else
    target.setAttribute(name, value === true ? "" : value);
}

/// A row of buttons of which one is chosen. `choose(value)` is called with the value of the button.
/**
 * @template {string | number | boolean} Value
 * @param {string} label
 * @param {[Value, string, string?][]} options value, name and, if there is one, title
 * @param {(value: Value) => void} choose
 * @returns {Choice<Value>}
 */
export function choice(label, options, choose) {
  /** @type {Map<Value, HTMLButtonElement>} */
  const buttons = new Map();
  const group = element("div", {role: "radiogroup", "aria-label": label, class: "choice"});
  for (const [value, name, title] of options) {
    const button = element(
        "button", {
          type: "button",
          role: "radio",
          "aria-checked": "false",
          tabindex: "-1",
          title: title ?? null,
          onclick: () => choose(value),
        },
        name);
    buttons.set(value, button);
    group.append(button);
  }
  group.addEventListener("keydown", (event) => {
    const all = [...buttons.values()].filter((button) => !button.disabled);
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const next = all[(all.findIndex(hasFocus) + step + all.length) % all.length];
    next.focus();
    next.click();
  });
  return {
    element: group,
    buttons,
    /** @param {Value} chosen */
    show(chosen) {
      for (const [value, button] of buttons) {
        button.setAttribute("aria-checked", String(value === chosen));
        button.tabIndex = value === chosen ? 0 : -1;
      }
      if (!buttons.has(chosen) && buttons.size > 0) [...buttons.values()][0].tabIndex = 0;
    },
  };
}

/// A labelled select.
/** @param {string} label @param {(value: string) => void} change @param {Attributes} attributes */
export function select(label, change, attributes = {}) {
  const box = element("select", {
    ...attributes,
    onchange: () => {
      change(box.value);
    }
  });
  const name = element("span", {}, label);
  return {
    element: element("label", {class: "field"}, name, box),
    box,
    name,
    /// `options`: [value, name] pairs.
    /** @param {[string, string][]} options @param {string} chosen */
    show(options, chosen) {
      const wanted = JSON.stringify(options);
      if (box.dataset.options !== wanted) {
        box.replaceChildren(...options.map(([value, name]) => element("option", {value}, name)));
        box.dataset.options = wanted;
      }
      box.value = chosen;
    },
  };
}
