// Elements in one line each.  Text is always text: nothing that a person typed is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else if (name === "checked" || name === "value" || name === "selected" || name === "disabled" || name === "open")
      element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

const live = () => document.getElementById("live");

/** New children for an element; what is null or false is left out. */
export function refill(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

/** Tell screen readers. */
export function announce(text) {
  live().append(h("p", {}, text));
  while (live().childElementCount > 6) live().firstChild.remove();
}

/** A sentence that comes and goes. */
export function toast(text, kind = "") {
  const box = document.getElementById("toasts");
  const shown = h("p", { class: `toast ${kind}` }, text);
  box.append(shown);
  while (box.childElementCount > 3) box.firstChild.remove();
  setTimeout(() => shown.remove(), 2500 + 45 * text.length);
  announce(text);
}
