// What an event looks like: cards fly from where they lay to where they go, before the new view is drawn.

import { back, face } from "/static/cards.js";
import { h } from "/static/dom.js";
import { settings } from "/static/settings.js";
import { t } from "/static/words.js";

const FLIGHT = 380;
const LOOK = 650;
const BREATH = 260;

const stage = () => document.getElementById("stage");
const wait = (ms) => new Promise((done) => setTimeout(done, ms * settings.pace));
const box = (element) => element?.getBoundingClientRect();

/** One card from a place to another. */
async function fly(card, from, to, { delay = 0, turn = 0, fade = false } = {}) {
  if (!from || !to || !settings.pace) return;
  card.classList.add("flying");
  Object.assign(card.style, {
    left: `${from.left}px`,
    top: `${from.top}px`,
    width: `${from.width}px`,
    height: `${from.height}px`,
  });
  stage().append(card);
  const dx = to.left + to.width / 2 - from.left - from.width / 2;
  const dy = to.top + to.height / 2 - from.top - from.height / 2;
  const scale = Math.min(to.width / from.width, 2) || 1;
  const motion = card.animate(
    [
      { transform: "none", opacity: 1 },
      { transform: `translate(${dx}px, ${dy}px) scale(${scale}) rotate(${turn}deg)`, opacity: fade ? 0 : 1 },
    ],
    {
      duration: FLIGHT * settings.pace,
      delay: delay * settings.pace,
      easing: "cubic-bezier(.3,.7,.3,1)",
      fill: "both",
    },
  );
  await motion.finished.catch(() => {});
  card.remove();
}

/** A word that rises from a place and fades. */
function bubble(place, text, kind = "") {
  const at = box(place);
  if (!at || !settings.pace) return;
  const shown = h("span", { class: `bubble ${kind}` }, text);
  shown.style.left = `${Math.max(70, Math.min(innerWidth - 70, at.left + at.width / 2))}px`;
  shown.style.top = `${Math.max(40, at.top + Math.min(at.height / 3, 6))}px`;
  stage().append(shown);
  setTimeout(() => shown.remove(), 1500 * Math.max(settings.pace, 0.5));
}

const hide = (cards) => cards.forEach((card) => (card.style.visibility = "hidden"));

/** The size of a card within a place, at its middle. */
function target(board, name) {
  const place = board.place(name);
  const card = place?.querySelector(".card:last-of-type") ?? place?.querySelector(".card");
  return box(card) ?? box(place);
}

/** Which cards an action lays, as [rank, n]. */
export function laid(event) {
  const [verb, what = ""] = event.action.split(" ");
  if (verb === "play") return [[what[0], Number(what.split("x")[1] ?? 1)]];
  if (verb === "sneak") return [["3", Number(what.slice(1) || 1)]];
  if (verb === "run") {
    const order = "3456789JQKA";
    const [low, high] = what.split("-").map((rank) => order.indexOf(rank));
    return [...order.slice(low, high + 1)].map((rank) => [rank, 1]);
  }
  if (verb === "take" && what) return [[what, 1]];
  return [];
}

async function throwCards(board, event) {
  const { seat } = event;
  const flights = [];
  const goal = target(board, "pile");
  let delay = 0;
  for (const [rank, n] of laid(event)) {
    const from = event.phase === "up" ? board.upCards(seat, rank, n) : board.handCards(seat, rank, n);
    const boxes = from.map(box);
    hide(from);
    for (const start of boxes) {
      flights.push(fly(face(rank), start, goal, { delay, turn: 4 }));
      delay += 70;
    }
  }
  await Promise.all(flights);
}

async function turnOver(board, event) {
  const blind =
    event.action === "chance"
      ? board.place("stock").querySelector(".card:last-of-type")
      : board.slotCard(event.seat, Number(event.action.split(" ")[1]));
  const from = box(blind);
  if (event.action !== "chance" && blind) hide([blind]);
  await fly(face(event.shown), from, target(board, "pile"), { turn: 3 });
}

/** Show the pile as it lies after the cards were laid, and whether a blind card fits. */
async function showPile(board, before, event) {
  let order = before.pile_order;
  const cards =
    laid(event)
      .map(([rank, n]) => rank.repeat(n))
      .join("") + event.shown;
  order = event.action.startsWith("sneak") ? cards + order : order + cards;
  board.drawPile(order);
  if (event.shown) {
    bubble(board.pile, t(event.fitted ? "fits" : "fits_not"), event.fitted ? "good" : "bad");
    if (!event.fitted) board.pile.classList.add("shake");
    await wait(LOOK * 1.4);
    board.pile.classList.remove("shake");
  }
}

async function burn(board, event) {
  board.pile.classList.add("burning");
  bubble(board.pile, t(event.burned.length === 1 ? "burns_1" : "burns"), "hot");
  await wait(LOOK);
  const goal = target(board, "burned");
  const from = target(board, "pile");
  const cards = [...event.burned].slice(-4);
  await Promise.all(cards.map((rank, n) => fly(face(rank), from, goal, { delay: 60 * n, turn: 40, fade: true })));
  board.pile.classList.remove("burning");
  board.drawPile("");
}

async function takePile(board, event) {
  const from = target(board, "pile");
  const goal = box(board.place(`hand-${event.seat}`));
  board.drawPile("");
  const cards = [...event.took].slice(-6);
  const small = goal && { left: goal.left + goal.width / 2 - 20, top: goal.top, width: 40, height: goal.height };
  await Promise.all(cards.map((rank, n) => fly(face(rank), from, small, { delay: 50 * n })));
}

async function draw(board, before, event) {
  const from = target(board, "stock");
  const goal = box(board.place(`hand-${event.seat}`));
  const small = goal && { left: goal.left + goal.width / 2 - 20, top: goal.top, width: 40, height: goal.height };
  const flights = [...Array(event.drew).keys()].map((n) => fly(back(), from, small, { delay: 110 * n }));
  board.drawStock(before.stock - event.drew - (event.action === "chance" ? 1 : 0));
  await Promise.all(flights);
}

async function exchange(board, event) {
  const [hand, up] = event.action.split(" ").slice(1);
  const [fromHand] = board.handCards(event.seat, hand, 1);
  const [fromUp] = board.upCards(event.seat, up, 1);
  const [a, b] = [box(fromHand), box(fromUp)];
  hide([fromHand, fromUp].filter(Boolean));
  await Promise.all([fly(face(hand), a, b), fly(face(up), b, a)]);
}

async function stackCard(board, event) {
  const rank = event.action.split(" ")[1];
  const [card] = board.handCards(event.seat, rank, 1);
  const [goal] = board.upCards(event.seat, rank, 1);
  const from = box(card);
  if (card) hide([card]);
  await fly(face(rank), from, box(goal));
}

/** Show an event on the board that still shows `before`; returns when the new view may be drawn. */
export async function showEvent(board, before, event) {
  if (!settings.pace) return;
  const verb = event.action.split(" ")[0];
  if (verb === "swap") await exchange(board, event);
  else if (verb === "stack") await stackCard(board, event);
  else if (verb === "flip" || verb === "chance") await turnOver(board, event);
  else await throwCards(board, event);
  if (verb !== "swap" && verb !== "stack" && verb !== "done" && (laid(event).length || event.shown))
    await showPile(board, before, event);
  if (event.burned) await burn(board, event);
  if (event.took) await takePile(board, event);
  if (event.drew) await draw(board, before, event);
}

/** After the new view is drawn: say what cannot be seen in it, and breathe. */
export async function afterEvent(board, event) {
  if (!settings.pace) return;
  const seatOf = (seat) =>
    board.root.querySelector(`.player[data-seat="${seat}"] .plate`) ?? board.me.querySelector(".plate");
  if (event.skipped !== null) bubble(seatOf(event.skipped), t("skipped"), "bad");
  if (event.place !== null) bubble(seatOf(event.seat), t("goes_out"), "good");
  else if (event.again && event.skipped === null && !["swap", "stack", "done"].includes(event.action.split(" ")[0]))
    bubble(seatOf(event.seat), t("again"));
  await wait(BREATH);
}
