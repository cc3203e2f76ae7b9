// The table as one seat sees it, drawn from a view.  Draws and says where things lie; decides nothing.

import { back, countedName, face, groups, hole, ORDER, rankName, shown, sign } from "/static/cards.js";
import { h, refill } from "/static/dom.js";
import { cardCount, t } from "/static/words.js";

const MOST_IN_FAN = 8;
const FANNED = 4;

/** Keeps each face-up card in its slot while others come and go. */
class Slots {
  constructor() {
    this.lying = [[], [], []];
  }

  lay(ranks) {
    const left = [...ranks];
    for (const slot of this.lying) {
      for (let place = slot.length - 1; place >= 0; place--) {
        const found = left.indexOf(slot[place]);
        if (found < 0) slot.splice(place, 1);
        else left.splice(found, 1);
      }
    }
    for (const rank of left) {
      const free = this.lying.find((slot) => slot.length === 0);
      const alike = this.lying.find((slot) => slot.includes(rank));
      (free && !(alike && ranks.length > 3) ? free : (alike ?? free ?? this.lying[0])).push(rank);
    }
    return this.lying;
  }
}

export class Board {
  /** `onTouch(what)` with {zone, rank}, {slot}, "take" or "chance"; without it nothing can be touched. */
  constructor(onTouch = null) {
    this.onTouch = onTouch;
    this.slots = [];
    this.others = h("div", { class: "others" });
    this.stock = h(onTouch ? "button" : "div", { class: "spot stock", "data-place": "stock" });
    this.pile = h(onTouch ? "button" : "div", { class: "spot pile", "data-place": "pile" });
    this.burned = h("div", { class: "spot burned", "data-place": "burned" });
    if (onTouch) {
      this.stock.addEventListener("click", () => onTouch("chance"));
      this.pile.addEventListener("click", () => onTouch("take"));
    }
    this.banner = h("p", { class: "banner" });
    this.me = h("div", { class: "me" });
    this.root = h(
      "section",
      { class: "board", "aria-label": t("table") },
      this.others,
      h("div", { class: "middle" }, this.stock, this.pile, this.burned),
      this.banner,
      this.me,
    );
  }

  say(text) {
    this.banner.textContent = text;
  }

  /** Draw a view.  `state`: {view, names, away, chooser, why, live}; `live`: whether the seat may act now. */
  render(state) {
    this.state = state;
    const { view } = state;
    const focus = document.activeElement?.dataset?.key;
    while (this.slots.length < view.players) this.slots.push(new Slots());
    const bottom = view.seat ?? 0;
    const around = [...Array(view.players).keys()].slice(1).map((step) => (bottom + step) % view.players);
    this.root.dataset.players = view.players;
    this.root.dataset.turn = view.turn ?? "";
    refill(this.others, ...around.map((seat) => this.drawOther(seat)));
    this.drawStock();
    this.drawPile(view.pile_order);
    this.drawBurned();
    this.drawMe(bottom);
    if (focus) this.root.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  // --- players ----------------------------------------------------------------------------------

  plate(seat) {
    const { view, names, away } = this.state;
    const player = view.seats[seat];
    const onTurn = view.turn === seat;
    const mine = Boolean(this.onTouch) && view.seat === seat && !this.state.watching;
    const lost = view.result?.idiots.includes(seat);
    return h(
      "h3",
      { class: `plate ${onTurn ? "on-turn" : ""} ${lost ? "lost" : ""} ${player.place ? "out" : ""}` },
      onTurn && h("span", { class: "arrow", "aria-hidden": "true" }, "▶"),
      h("span", { class: "who" }, names[seat], mine && ` (${t("you")})`),
      view.dealer === seat && h("span", { class: "badge", title: t("dealer"), "aria-label": t("dealer") }, "D"),
      onTurn && h("span", { class: "unseen" }, `, ${t("turn")}`),
      !player.place && h("span", { class: "count" }, cardCount(player.hand_size)),
      player.place && h("span", { class: "tag" }, t("out_n", { n: player.place })),
      lost && h("span", { class: "tag" }, t("idiot")),
      away?.[seat] && h("span", { class: "tag" }, t("away")),
    );
  }

  drawOther(seat) {
    const player = this.state.view.seats[seat];
    const known = player.known ?? "";
    const hidden = Math.max(0, player.hand_size - known.length);
    const backs = Math.min(hidden, Math.max(1, MOST_IN_FAN - known.length));
    const cards = [...Array(hidden ? backs : 0).keys()].map(() => back());
    cards.push(...[...known].slice(0, 14).map((rank) => face(rank)));
    const label = known ? `${t("hand")}: ${cardCount(player.hand_size)} (${shown(known)})` : "";
    return h(
      "section",
      { class: "player", "data-seat": seat, "aria-label": this.state.names[seat] },
      this.plate(seat),
      h(
        "div",
        { class: `fan ${cards.length > 6 ? "tight" : ""}`, "data-place": `hand-${seat}` },
        label && h("span", { class: "unseen" }, label),
        cards,
      ),
      player.place ? null : this.drawSlots(seat, false),
    );
  }

  drawSlots(seat, mine) {
    const { view, chooser, why, live } = this.state;
    const player = view.seats[seat];
    const lying = this.slots[seat].lay(player.up);
    const touch = mine && this.onTouch;
    const picked = {};
    const slots = lying.map((cards, place) => {
      const down = player.down[place];
      const open = player.down_cards?.[place];
      const under = !down ? hole() : open ? face(open, "under") : back();
      let label = down ? t("face_down") : t("empty");
      if (cards.length) label = cards.map((rank) => rankName(rank)).join(", ");
      const body = [under, ...cards.map((rank, n) => this.upCard(rank, n, picked, mine))];
      const common = { class: "slot", "data-place": `slot-${seat}-${place}`, style: { "--up": cards.length } };
      if (!touch || (!down && !cards.length)) {
        return h("div", common, h("span", { class: "unseen" }, label), body);
      }
      const rank = cards.at(-1);
      const flips = !cards.length;
      const can =
        live &&
        chooser &&
        (flips ? chooser.possible({ hand: {}, up: {}, slot: place + 1 }) : chooser.touchable("up", rank));
      const chosen = flips
        ? chooser?.choice.slot === place + 1
        : cards.some((_, n) => body[n + 1].classList.contains("chosen"));
      const says = flips ? `${t("slot_n", { n: place + 1 })}: ${label}` : `${t("face_up")}: ${label}`;
      return h(
        "button",
        {
          ...common,
          class: `slot touch ${can ? "can" : ""} ${chosen ? "chosen" : ""}`,
          type: "button",
          "data-key": `slot${place}`,
          "aria-pressed": String(Boolean(chosen)),
          "aria-label": `${says}${live ? (can ? `, ${t("playable")}` : why ? `, ${t("not_playable")}` : "") : ""}`,
          onclick: () => this.onTouch(flips ? { slot: place + 1 } : { zone: "up", rank }),
        },
        body,
      );
    });
    return h("div", { class: "slots", "data-place": `up-${seat}` }, slots);
  }

  upCard(rank, place, picked, mine) {
    const chosen = mine ? (this.state.chooser?.count("up", rank) ?? 0) : 0;
    picked[rank] = (picked[rank] || 0) + 1;
    const card = face(rank, `up ${picked[rank] <= chosen ? "chosen" : ""}`);
    card.style.setProperty("--n", place);
    return card;
  }

  drawMe(seat) {
    const { view, chooser, live, why } = this.state;
    const open = view.seat === null;
    const ranks = open ? view.seats[seat].known : view.hand;
    const hand = groups(ranks).sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]));
    const drawn = hand.map(([rank, n]) => {
      const cards = [...Array(n).keys()].map((place) => {
        const card = face(rank, place >= n - (chooser?.count("hand", rank) ?? 0) ? "chosen" : "");
        return card;
      });
      const chosen = chooser?.count("hand", rank) ?? 0;
      const can = live && chooser?.touchable("hand", rank);
      const style = { "--count": n };
      if (!this.onTouch) return h("div", { class: "group", "data-rank": rank, style }, cards);
      let label = countedName(rank, n);
      if (chosen) label += `, ${chosen} ${t("selected")}`;
      else if (live) label += `, ${can ? t("playable") : t("not_playable")}`;
      return h(
        "button",
        {
          class: `group touch ${can ? "can" : ""} ${live && !can && why ? "cannot" : ""} ${chosen ? "chosen" : ""}`,
          type: "button",
          "data-rank": rank,
          "data-key": `hand${rank}`,
          "aria-label": label,
          "aria-pressed": String(chosen > 0),
          style,
          onclick: () => this.onTouch({ zone: "hand", rank }),
        },
        cards,
        n > 1 && h("span", { class: "times", "aria-hidden": "true" }, `×${n}`),
      );
    });
    refill(
      this.me,
      h("div", { class: "mine" }, this.plate(seat), this.drawSlots(seat, true)),
      h(
        "div",
        {
          class: `hand ${hand.length > 8 ? "many" : ""}`,
          "data-place": `hand-${seat}`,
          role: "group",
          "aria-label": `${t("hand_of")}: ${cardCount(ranks.length)}`,
        },
        drawn.length ? drawn : h("span", { class: "nothing" }, view.seats[seat].place ? "" : t("empty")),
      ),
    );
  }

  // --- the middle -------------------------------------------------------------------------------

  /** What a place of the middle is called and how many cards lie there. */
  label(name, count) {
    return h(
      "span",
      { class: "label" },
      h("span", { class: "name" }, t(name)),
      " ",
      h("span", { class: "size" }, count ? cardCount(count) : t("empty")),
    );
  }

  drawStock(count = this.state.view.stock) {
    const { chooser, live } = this.state;
    const can = live && chooser?.plain.some((action) => action.verb === "chance");
    this.stock.classList.toggle("can", Boolean(can));
    refill(
      this.stock,
      h("span", { class: "heap" }, count ? [count > 2 && back("b"), count > 1 && back("a"), back()] : hole()),
      this.label("stock", count),
    );
  }

  /** Draw the pile with these ranks, from bottom to top. */
  drawPile(order) {
    const { chooser, live } = this.state;
    const can = live && chooser?.plain.some((action) => action.verb === "take");
    this.pile.classList.toggle("can", Boolean(can));
    const top = order.at(-1);
    let run = 0;
    while (run < order.length && order.at(-1 - run) === top) run += 1;
    const fan = [...order].slice(-Math.max(FANNED, Math.min(run, FANNED)));
    refill(
      this.pile,
      h(
        "span",
        { class: "heap" },
        fan.length
          ? fan.map((rank, n) => {
              const card = face(rank);
              card.style.setProperty("--lean", fan.length - 1 - n);
              return card;
            })
          : hole(),
      ),
      this.label("pile", order.length),
      h("span", { class: "unseen" }, top ? `, ${rankName(top)}` : ""),
      run > 1 &&
        h("span", { class: `run ${run === 3 ? "three" : ""}` }, run === 3 ? t("run_3") : t("run_n", { n: run })),
    );
  }

  drawBurned(count = this.state.view.burned.length) {
    const { burned } = this.state.view;
    this.burned.title = burned ? shown(burned) : "";
    refill(
      this.burned,
      h("span", { class: "heap" }, count ? back("ash") : hole()),
      this.label("burned", count),
    );
  }

  // --- where things lie -------------------------------------------------------------------------

  place(name) {
    return this.root.querySelector(`[data-place="${name}"]`);
  }

  /** The cards of a rank in the hand of `seat`, nearest the edge first; the fan of somebody whose cards are hidden. */
  handCards(seat, rank, n) {
    const hand = this.place(`hand-${seat}`);
    const own = [...hand.querySelectorAll(`[data-card="${CSS.escape(rank)}"]`)].reverse().slice(0, n);
    const others = [...hand.querySelectorAll(".card")].reverse();
    while (own.length < n && others.length) {
      const card = others.shift();
      if (!own.includes(card)) own.push(card);
    }
    return own;
  }

  upCards(seat, rank, n) {
    return [...this.place(`up-${seat}`).querySelectorAll(`.up[data-card="${CSS.escape(rank)}"]`)].reverse().slice(0, n);
  }

  slotCard(seat, slot) {
    return this.place(`slot-${seat}-${slot - 1}`)?.querySelector(".card");
  }
}

export { sign };
