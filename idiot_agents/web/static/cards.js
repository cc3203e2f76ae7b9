// Cards, drawn with CSS and a little SVG.  Suits mean nothing in Idiot, so the views hold none and the cards show none.

import { h, s } from "/static/dom.js";
import { getLang } from "/static/words.js";

export const sign = (rank) => (rank === "T" ? "10" : rank === "*" ? "★" : rank);
export const ORDER = "3456789TJQKA2*";

let names = {};
export const setRankNames = (given) => (names = given);
/** A rank in words. */
export const rankName = (rank, n = 1) => names[getLang()]?.[rank]?.[n === 1 ? 0 : 1] ?? rank;
/** Cards of one rank in words: "2 × seven". */
export const countedName = (rank, n) => (n === 1 ? rankName(rank) : `${n} ${rankName(rank, n)}`);

// What the special cards do, as a small sign, so that nobody has to know it from colour.
const FLAME =
  "M12 2c1 4-3 5-3 9 0 1.5.8 2.5 2 3-.5-2 .5-3 1.5-4 .3 2 2.5 3 2.5 5.5A3.2 3.2 0 0 1 12 19a5 5 0 0 1-5-5c0-1.5.5-2.5 1-3.5-3 2-4 4.5-4 6A8 8 0 0 0 20 15c0-6-6-7-8-13z";
const RESET = "M12 4a8 8 0 1 1-7.5 5.2l2 .7A6 6 0 1 0 12 6v3L7 5l5-4z";

function mark(path) {
  return s("svg", { viewBox: "0 0 24 24", class: "mark", "aria-hidden": "true" }, s("path", { d: path }));
}

/** A card's face. */
export function face(rank, extra = "") {
  const special = rank === "2" ? "reset" : rank === "T" || rank === "*" ? "burner" : "";
  return h(
    "span",
    { class: `card face ${special} ${extra}`, "data-card": rank, "aria-hidden": "true" },
    h("span", { class: "corner" }, sign(rank)),
    h("span", { class: "pip" }, sign(rank)),
    special && mark(special === "reset" ? RESET : FLAME),
    h("span", { class: "corner low" }, sign(rank)),
  );
}

/** A card's back. */
export const back = (extra = "") => h("span", { class: `card back ${extra}`, "aria-hidden": "true" });

/** A place where no card lies. */
export const hole = (extra = "") => h("span", { class: `card hole ${extra}`, "aria-hidden": "true" });

/** Ranks of a text with how often each occurs, in the text's order. */
export function groups(ranks) {
  const found = new Map();
  for (const rank of ranks) found.set(rank, (found.get(rank) || 0) + 1);
  return [...found];
}

/** Ranks for people: "3, 3, 10"; grouped where there are many. */
export const shown = (ranks) =>
  groups(ranks)
    .map(([rank, n]) => (n > 1 ? `${n} × ${sign(rank)}` : sign(rank)))
    .join(", ");
