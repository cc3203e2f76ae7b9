// What the model thinks, drawn: bars for the legal actions, a graph of the chance over a game.

import { h, s } from "/static/dom.js";
import { capital, percent, t } from "/static/words.js";

const MOST_BARS = 6;
const LEAST = 0.005;

/** Bars of an opinion.  `chosen`: the text of the action that was taken, to be marked. */
export function bars(opinion, { name, who = null, chosen = null }) {
  if (opinion.chance === null) {
    return [h("p", {}, t("hint_none", { name })), h("p", { class: "best" }, capital(opinion.actions[0].says))];
  }
  const many = opinion.actions.filter(
    (action, n) => n < MOST_BARS && (action.p >= LEAST || n === 0 || action.action === chosen),
  );
  const chance = who
    ? t("seat_chance", { name: who, p: percent(opinion.chance) })
    : t("hint_chance", { p: percent(opinion.chance) });
  return [
    h("p", {}, who ? t("opinion_of", { model: name, who }) : t("hint_says", { name })),
    h(
      "ol",
      { class: "bars" },
      many.map((action) =>
        h(
          "li",
          { class: action.action === chosen ? "taken" : "" },
          h(
            "span",
            { class: "what" },
            capital(action.says),
            action.action === chosen && h("b", {}, ` (${t("chosen")})`),
          ),
          h(
            "span",
            { class: "track", "aria-hidden": "true" },
            h("span", { class: "fill", style: { width: `${100 * action.p}%` } }),
          ),
          h("span", { class: "p" }, percent(action.p)),
        ),
      ),
    ),
    h("p", { class: "chance" }, chance),
    h(
      "div",
      { class: "track wide", "aria-hidden": "true" },
      h("div", { class: "fill", style: { width: `${100 * opinion.chance}%` } }),
    ),
  ];
}

/** The graph of a finished game.  `open(index)` shows an action of it; without it the list cannot be opened. */
export function graph(story, { who = null, open = null }) {
  const { points, marked, end } = story;
  const values = points.map((point) => point.chance).concat(end === null ? [] : [end]);
  const [width, height, left, bottom] = [640, 240, 56, 26];
  const x = (n) => left + (n * (width - left - 12)) / Math.max(1, values.length - 1);
  const y = (p) => 10 + (1 - p) * (height - bottom - 10);
  const line = values.map((p, n) => `${n ? "L" : "M"}${x(n).toFixed(1)} ${y(p).toFixed(1)}`).join("");
  const lines = [0, 0.5, 1].map((p) => [
    s("line", { x1: left, x2: width - 12, y1: y(p), y2: y(p), class: "grid" }),
    s("text", { x: left - 8, y: y(p) + 4, "text-anchor": "end" }, percent(p)),
  ]);
  const dots = marked.map((place, n) => [
    s("circle", { cx: x(place), cy: y(points[place].chance), r: 10, class: "mark" }),
    s(
      "text",
      { x: x(place), y: y(points[place].chance) + 4.5, "text-anchor": "middle", class: "number" },
      String(n + 1),
    ),
  ]);
  const says = who ? t("story_of", { who, name: story.adviser }) : t("story_line", { name: story.adviser });
  const picture = s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      class: "graph",
      role: "img",
      "aria-label": `${says} ${values.map(percent).join(", ")}`,
    },
    lines,
    s("path", { d: `${line}L${x(values.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z`, class: "area" }),
    s("path", { d: line, class: "line" }),
    dots,
    s("text", { x: width - 12, y: height - 6, "text-anchor": "end" }, `${t("story_decisions")} →`),
  );
  const list = marked.map((place) => {
    const point = points[place];
    const after = place + 1 < values.length ? values[place + 1] : point.chance;
    const text = t("story_move", {
      n: marked.indexOf(place) + 1,
      said: capital(point.says),
      before: percent(point.chance),
      after: percent(after),
      best: point.best_says,
    });
    return h(
      "li",
      {},
      h("span", {}, text),
      open && h("button", { type: "button", class: "quiet", onclick: () => open(point.index) }, t("story_open")),
    );
  });
  return h(
    "section",
    { class: "story" },
    h("h3", {}, t("story")),
    h("p", {}, says),
    points.length > 0 && picture,
    h("p", {}, list.length ? t("story_marked") : t("story_none")),
    list.length > 0 && h("ol", { class: "marked" }, list),
  );
}
