// The page of a table: what arrives is shown in order, what is chosen is sent.

import { afterEvent, showEvent } from "/static/animate.js";
import { Line, post } from "/static/api.js";
import { Board } from "/static/board.js";
import { groups, ORDER, rankName, sign } from "/static/cards.js";
import { Chooser } from "/static/chooser.js";
import { announce, h, refill, toast } from "/static/dom.js";
import { bars, graph } from "/static/insight.js";
import { settings } from "/static/settings.js";
import { capital, getLang, listed, t } from "/static/words.js";

const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];
const VERBS_FIRST = ["play", "run", "flip", "swap", "sneak", "stack", "take"];

export class TablePage {
  constructor(app, id) {
    Object.assign(this, {
      app,
      id,
      queue: [],
      busy: false,
      paused: false,
      sent: null,
      opinion: null,
      story: null,
      people: null,
    });
    this.board = new Board((what) => this.touch(what));
    this.chooser = new Chooser([]);
    this.actions = h("div", { class: "actions", role: "group" });
    this.prompt = h("p", { class: "prompt", id: "prompt" });
    this.logList = h("ol", { class: "log", tabindex: "0", "aria-label": t("log") });
    this.insightBox = h("div", { class: "insight" });
    this.seenBox = h("div", { class: "seen" });
    this.rulesBox = h("div", { class: "rules-card" });
    this.doing = h("div", { class: "doing" }, this.prompt, this.actions);
    this.lobby = h("div", { class: "lobby", hidden: true });
    this.end = h("section", { class: "end", hidden: true, "aria-live": "off" });
    this.watchBar = h("div", { class: "watch-bar", hidden: true });
    const panel = (name, title, body, open = false) =>
      h("details", { class: `panel ${name}`, open, "data-panel": name }, h("summary", {}, title), body);
    this.panels = {
      log: panel("log-panel", t("log"), this.logList, innerWidth > 900),
      insight: panel("insight-panel", t("insight"), this.insightBox, settings.hints),
      seen: panel("seen-panel", t("seen"), this.seenBox),
      rules: panel("rules-panel", t("rules"), this.rulesBox),
      keys: panel(
        "keys-panel",
        t("keys"),
        h(
          "dl",
          {},
          t("keys_list").map(([key, says]) => [h("dt", {}, key), h("dd", {}, says)]),
        ),
      ),
    };
    this.panels.rules.addEventListener("toggle", () => this.showRules());
    this.root = h(
      "div",
      { class: "table-page" },
      h("h1", { class: "unseen" }, t("title")),
      h("div", { class: "play-area" }, this.lobby, this.watchBar, this.board.root, this.doing, this.end),
      h("aside", { class: "side", "aria-label": t("log") }, Object.values(this.panels)),
    );
    this.onKey = (event) => this.key(event);
    this.onHidden = () => document.hidden || this.work();
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("visibilitychange", this.onHidden);
    this.line = new Line(
      id,
      settings.token(id),
      (message) => this.receive(message),
      (up) => this.connection(up),
    );
  }

  leave() {
    this.line.close();
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("visibilitychange", this.onHidden);
  }

  connection(up) {
    document.body.classList.toggle("offline", !up);
    toast(t(up ? "online" : "offline"), up ? "" : "bad");
  }

  relabel() {
    this.line.send({ type: "look", lang: getLang() });
  }

  // --- what arrives -----------------------------------------------------------------------------

  receive(message) {
    if (message.type === "table") {
      this.queue = [];
      this.fresh = message;
      if (!this.busy) this.takeWhole();
    } else if (message.type === "step") {
      this.queue.push(message);
      this.work();
    } else if (message.type === "people") {
      this.people = message;
      this.showPeople();
    } else if (message.type === "refused") this.refused(message);
    else if (message.type === "insight") this.showOpinion(message);
    else if (message.type === "story") this.showStory(message);
    else if (message.type === "note") toast(message.says);
    else if (message.type === "gone") {
      settings.forgetToken(this.id);
      toast(message.says, "bad");
      this.app.go("");
    }
  }

  takeWhole() {
    const message = this.fresh;
    this.fresh = null;
    this.whole = message;
    this.log = message.log;
    this.show(message);
    this.drawLog();
    this.board.say(message.says ?? message.log.at(-1) ?? t("dealt"));
    this.showLobby();
    this.showWatchBar();
    this.shown();
    this.work();
  }

  async work() {
    if (this.busy || !this.whole) return;
    this.busy = true;
    while (this.queue.length && !this.fresh) {
      const step = this.queue.shift();
      const before = this.state.view;
      this.settle();
      try {
        await showEvent(this.board, before, step.event);
      } catch (error) {
        console.error(error); // what is shown may stumble; the game goes on
      }
      if (this.fresh) break;
      this.log.push(...step.lines);
      this.show(step);
      this.drawLog();
      this.board.say(step.event.says);
      step.lines.forEach(announce);
      if (this.myTurn) announce(t("your_turn"));
      await afterEvent(this.board, step.event);
      this.shown();
    }
    this.busy = false;
    if (this.fresh) this.takeWhole();
  }

  /** No choosing while cards move. */
  settle() {
    this.chooser = new Chooser([]);
    this.opinion = null;
    this.drawActions(true);
  }

  /** Tell the server what has been shown, unless the game is paused. */
  shown() {
    if (!this.paused) this.line.send({ type: "shown", version: this.state.version });
  }

  // --- what is shown ----------------------------------------------------------------------------

  get role() {
    return this.whole.role;
  }

  get watching() {
    return this.role.seat === null;
  }

  get myTurn() {
    return this.state.choices.length > 0;
  }

  show(message) {
    clearTimeout(this.sentTimer);
    this.sent = null;
    this.state = message;
    this.chooser = new Chooser(message.choices);
    this.opinion = null;
    this.draw();
    this.doing.hidden = Boolean(message.view.result);
    if (message.view.result) this.showEnd();
    else this.end.hidden = true;
    if (this.myTurn && settings.hints) this.askOpinion();
    this.drawInsight();
    this.drawSeen();
  }

  draw() {
    const { view, names, why } = this.state;
    const live = this.myTurn && !this.sent;
    const away = this.people?.seats.map((seat) => seat.away);
    this.board.render({ view, names, away, why, chooser: this.chooser, live, watching: this.watching });
    this.root.classList.toggle("my-turn", live);
    document.title = live ? `● ${t("your_turn")} – ${t("title")}` : t("title");
    this.drawActions();
  }

  drawActions(busy = false) {
    const { view, names } = this.state;
    const matches = [...this.chooser.matches].sort((a, b) => VERBS_FIRST.indexOf(a.verb) - VERBS_FIRST.indexOf(b.verb));
    const buttons = matches.map((action, n) =>
      h(
        "button",
        {
          type: "button",
          class: n ? "" : "primary",
          "data-key": `do${action.verb}`,
          "data-action": action.action,
          onclick: () => this.act(action),
        },
        capital(action.says),
      ),
    );
    const plain = this.chooser.plain.map((action) =>
      h(
        "button",
        {
          type: "button",
          class: action.verb === "done" && !matches.length ? "primary" : "",
          "data-key": `do${action.verb}`,
          "data-action": action.action,
          title: capital(action.says),
          onclick: () => this.act(action),
        },
        t(action.verb),
      ),
    );
    if (!this.chooser.isEmpty)
      plain.unshift(
        h("button", { type: "button", class: "quiet", "data-key": "clear", onclick: () => this.clear() }, t("clear")),
      );
    const hint = !this.watching && this.myTurn && !busy && !settings.hints;
    if (hint)
      plain.push(
        h(
          "button",
          { type: "button", class: "quiet", "data-key": "hint", onclick: () => this.askOpinion(true) },
          t("hint"),
        ),
      );
    const focus = document.activeElement?.dataset?.key;
    refill(this.actions, ...buttons, ...plain);
    if (focus && !this.board.root.contains(document.activeElement))
      this.actions.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    this.prompt.textContent = this.promptText(view, names, busy);
  }

  promptText(view, names, busy) {
    if (view.result || !this.state.started) return "";
    if (this.myTurn && !busy) {
      if (this.sent) return "";
      const what = { swap: "your_turn_swap", hand: "your_turn", up: "choose_up", down: "choose_down" }[view.phase];
      if (!this.chooser.isEmpty) return `${t("your_turn")}.`;
      return view.phase === "hand" ? `${t("your_turn")}. ${t("choose")}` : t(what);
    }
    return view.turn === null || busy ? "" : t("turn_of", { name: names[view.turn] });
  }

  drawLog() {
    const end = this.logList;
    refill(end, ...this.log.map((line) => h("li", {}, line)));
    end.scrollTop = end.scrollHeight;
  }

  drawSeen() {
    const { view } = this.state;
    const row = (name, ranks) =>
      h(
        "div",
        {},
        h("dt", {}, t(name)),
        h(
          "dd",
          {},
          ranks
            ? groups([...ranks].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))).map(([rank, n]) =>
                h("span", { class: "chip", title: rankName(rank, n) }, n > 1 ? `${n}×${sign(rank)}` : sign(rank)),
              )
            : t("none"),
        ),
      );
    const rows = [row("seen_pile", view.pile), row("seen_burned", view.burned)];
    if (view.seat !== null) rows.push(row("seen_unseen", view.unseen));
    refill(this.seenBox, h("dl", {}, rows));
  }

  async showRules() {
    if (!this.panels.rules.open || !this.state) return;
    try {
      const { view } = this.state;
      const answer = await post("/api/check", { rules: view.options, players: view.players });
      const [title, , ...lines] = answer.card.split("\n");
      refill(
        this.rulesBox,
        h("p", {}, title),
        h(
          "ol",
          {},
          lines.map((line) => h("li", {}, line.replace(/^\s*\d+\.\s*/, ""))),
        ),
      );
    } catch (error) {
      toast(error.message, "bad");
    }
  }

  // --- people -----------------------------------------------------------------------------------

  showPeople() {
    if (this.state && !this.busy) this.draw();
    if (this.whole) {
      this.whole.free = this.people.free;
      this.showLobby();
    }
  }

  showLobby() {
    const { free, started, invite } = { ...this.whole, started: this.state.started };
    this.lobby.hidden = started;
    refill(this.lobby);
    if (started) return;
    const base = this.app.catalog.share ?? `${location.origin}/`;
    const link = `${location.hostname === "localhost" || location.hostname === "127.0.0.1" ? base : `${location.origin}/`}#join/${this.id}/${invite ?? this.whole.invite}`;
    this.lobby.append(h("h2", {}, t("lobby")));
    if (this.role.host && this.whole.invite) {
      const field = h("input", {
        type: "text",
        readonly: true,
        value: link,
        "aria-label": t("lobby_line"),
        onfocus: (event) => event.target.select(),
      });
      const copy = async () => {
        try {
          await navigator.clipboard.writeText(link);
        } catch {
          field.select(); // an address without encryption has no clipboard: the old way still works
          document.execCommand("copy");
        }
        toast(t("copied"));
      };
      this.lobby.append(
        h("p", {}, t("lobby_line")),
        h("div", { class: "row" }, field, h("button", { type: "button", onclick: copy }, t("copy"))),
        h(
          "button",
          { type: "button", class: "primary", onclick: () => this.line.send({ type: "start" }) },
          t("start_now"),
        ),
      );
    } else this.lobby.append(h("p", {}, t("wait_host")));
    if (this.people) {
      const names = this.state.names;
      this.lobby.append(
        h(
          "ul",
          {},
          names.map((name, seat) => h("li", {}, free.includes(seat) ? `${t("seat_n", { n: seat + 1 })}: …` : name)),
        ),
      );
    }
  }

  showWatchBar() {
    this.watchBar.hidden = !this.watching;
    if (!this.watching) return;
    const { view, names } = this.state;
    const seat = h(
      "select",
      {
        "aria-label": t("view_from"),
        onchange: (event) =>
          this.line.send({ type: "look", seat: event.target.value === "" ? null : Number(event.target.value) }),
      },
      h("option", { value: "" }, t("all_open")),
      names.map((name, n) => h("option", { value: String(n) }, name)),
    );
    seat.value = view.seat === null ? "" : String(view.seat);
    this.pauseButton = h("button", { type: "button", onclick: () => this.pause(!this.paused) });
    const step = h("button", { type: "button", onclick: () => this.step() }, t("step"));
    refill(this.watchBar, this.pauseButton, step, h("label", {}, `${t("view_from")} `, seat));
    this.pause(this.paused);
  }

  pause(paused) {
    const goesOn = this.paused && !paused;
    this.paused = paused;
    this.pauseButton.textContent = t(paused ? "go" : "pause");
    if (goesOn) this.shown();
  }

  step() {
    this.pause(true);
    this.line.send({ type: "shown", version: this.state.version });
  }

  // --- choosing ---------------------------------------------------------------------------------

  reason(what) {
    const { why, view, names } = this.state;
    if (!why) return view.result ? t("over") : view.turn === null ? "" : t("turn_of", { name: names[view.turn] });
    if (what === "take" || what === "chance") return why[what];
    if (what.slot !== undefined) return why.down;
    return why[what.zone][what.rank];
  }

  touch(what) {
    if (!this.state || this.sent) return;
    if (what === "take" || what === "chance") {
      const action = this.chooser.plain.find((one) => one.verb === what);
      if (action) return this.act(action);
      return this.explain(what);
    }
    const before = this.chooser.isEmpty;
    const found =
      what.slot !== undefined ? this.chooser.touchSlot(what.slot) : this.chooser.touch(what.zone, what.rank);
    if (!found) return this.explain(what);
    this.draw();
    const [match] = this.chooser.matches;
    if (match) announce(capital(match.says));
    else if (before || !this.chooser.isEmpty) announce(t("selected"));
  }

  explain(what) {
    const reason = this.reason(what);
    if (reason) toast(reason, "why");
  }

  clear() {
    this.chooser.clear();
    this.draw();
  }

  act(action) {
    if (this.sent) return;
    this.sent = this.state.version;
    this.line.send({ type: "act", version: this.state.version, action: action.action });
    this.chooser = new Chooser([]); // nothing more can be chosen until the answer is here
    this.draw();
    this.sentTimer = setTimeout(() => this.unsend(), 4000); // the line may have been cut just then
  }

  unsend() {
    clearTimeout(this.sentTimer);
    this.sent = null;
    this.chooser = new Chooser(this.state.choices);
    this.draw();
  }

  refused(message) {
    if (message.what === "act") this.unsend();
    toast(message.says, "bad");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.state) return;
    if (event.target.closest?.("input, select, textarea, dialog")) return;
    const onButton = event.target.closest?.("button, summary, a");
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "Escape") return this.clear();
    if (key === "Enter") {
      // On a card, Enter does what is chosen; on any other button it presses that.
      if (onButton && !onButton.classList.contains("touch")) return;
      const first = this.actions.querySelector("button.primary");
      if (first && !this.chooser.isEmpty) {
        event.preventDefault();
        first.click();
      }
      return;
    }
    if (key === " " && this.watching && !onButton) {
      event.preventDefault();
      return this.pause(!this.paused);
    }
    const digit = /^(Digit|Numpad)(\d)$/.exec(event.code)?.[2];
    const handled = this.keyAction(key, digit, event.shiftKey);
    if (handled) event.preventDefault();
  }

  keyAction(key, digit, shift) {
    const plain = (verb) => {
      const action = this.chooser.plain.find((one) => one.verb === verb);
      if (action) this.act(action);
      else this.explain(verb);
      return true;
    };
    const choice = (verb) => {
      const action = this.chooser.matches.find((one) => one.verb === verb);
      if (action) this.act(action);
      return Boolean(action);
    };
    const { phase } = this.state.view;
    if (digit && phase === "down" && "123".includes(digit)) {
      this.touch({ slot: Number(digit) });
      return true;
    }
    if (key === "t") {
      if (choice("take")) return true;
      return plain("take");
    }
    if (key === "c") return plain("chance");
    if (key === "f" || key === "d") return phase === "swap" ? plain("done") : false;
    if (key === "s") return choice("sneak");
    if (key === "+") return choice("stack");
    if (key === "h") {
      this.askOpinion(true);
      return true;
    }
    const rank =
      digit === "0" ? "T" : digit && digit !== "1" ? digit : { j: "J", q: "Q", k: "K", a: "A", x: "*", "*": "*" }[key];
    if (!rank) return false;
    const chosenHand = Object.keys(this.chooser.choice.hand).length > 0;
    const up = shift || phase === "up" || (phase === "swap" && chosenHand);
    this.touch({ zone: up ? "up" : "hand", rank });
    return true;
  }

  // --- the model --------------------------------------------------------------------------------

  askOpinion(open = false) {
    if (open) this.panels.insight.open = true;
    if (!this.myTurn && !this.watching) return toast(t("hint_wait"));
    this.line.send({ type: "insight" });
  }

  showOpinion(message) {
    if (!same(message.version, this.state.version)) return;
    this.opinion = message;
    this.drawInsight();
    const best = message.actions[0];
    if (!this.watching) announce(capital(best.says));
  }

  drawInsight() {
    const always = h(
      "label",
      { class: "check" },
      h("input", {
        type: "checkbox",
        checked: settings.hints,
        onchange: (event) => {
          settings.hints = event.target.checked;
          if (settings.hints && (this.myTurn || this.watching)) this.askOpinion();
          this.drawActions();
        },
      }),
      t("always"),
    );
    const who = this.watching && this.opinion ? this.state.names[this.opinion.seat] : null;
    const body = this.opinion
      ? bars(this.opinion, { name: this.opinion.adviser, who })
      : [h("p", {}, this.myTurn ? "" : t("hint_wait"))];
    const button = h(
      "button",
      { type: "button", disabled: !(this.myTurn || this.watching), onclick: () => this.askOpinion() },
      t("hint"),
    );
    refill(this.insightBox, ...body, h("div", { class: "row" }, button, always));
    if (
      this.watching &&
      settings.hints &&
      !this.opinion &&
      this.state.view.turn !== null &&
      this.panels.insight.open &&
      !this.asked
    ) {
      this.asked = true;
      setTimeout(() => (this.asked = false), 150);
      this.line.send({ type: "insight" });
    }
  }

  // --- the end ----------------------------------------------------------------------------------

  showEnd() {
    const { view, names } = this.state;
    const { out, idiots, truncated } = view.result;
    const mine = this.role.seat;
    const losers = listed(idiots.map((seat) => names[seat]));
    let verdict = t(idiots.length > 1 ? "lost_by_two" : "lost_by", { name: capital(losers) });
    if (truncated) verdict = t("truncated");
    else if (mine !== null) verdict = t(idiots.includes(mine) ? "you_lost" : "you_won");
    const lost = !truncated && mine !== null && idiots.includes(mine);
    const buttons = [
      h(
        "button",
        { type: "button", class: "primary", onclick: () => this.line.send({ type: "rematch" }) },
        t("rematch"),
      ),
      h("button", { type: "button", onclick: () => this.save() }, t("save")),
      h("button", { type: "button", onclick: () => this.openViewer() }, t("open_viewer")),
      h("a", { class: "button", href: "#" }, t("home")),
    ];
    this.storyBox = h("div");
    refill(
      this.end,
      h("h2", { class: lost ? "lost" : "", tabindex: "-1" }, verdict),
      h(
        "ol",
        { class: "places" },
        out.map((seat) => h("li", {}, names[seat])),
        idiots.map((seat) => h("li", { class: "lost" }, `${names[seat]} – ${t("idiot")}`)),
      ),
      h("div", { class: "row" }, buttons),
      this.storyBox,
    );
    const wasHidden = this.end.hidden;
    this.end.hidden = false;
    announce(verdict);
    if (wasHidden) {
      if (this.whole.adviser) this.line.send({ type: "story" });
      this.end.scrollIntoView({ block: "nearest", behavior: settings.pace ? "smooth" : "auto" });
    }
  }

  showStory(message) {
    if (!same(message.version, this.state.version) || !this.storyBox) return;
    const who = this.watching ? this.state.names[message.seat] : null;
    refill(this.storyBox, graph(message, { who, open: (index) => this.openViewer(index) }));
  }

  async record() {
    return post("/api/record", { table: this.id, token: settings.token(this.id) });
  }

  async save() {
    try {
      const record = await this.record();
      const file = new Blob([JSON.stringify(record) + "\n"], { type: "application/json" });
      const link = h("a", {
        href: URL.createObjectURL(file),
        download: `idiot-${this.id}-${this.whole.round + 1}.json`,
      });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      toast(error.message, "bad");
    }
  }

  async openViewer(index = 0) {
    try {
      const record = await this.record();
      this.app.view(record, { index, seat: this.watching ? null : this.role.seat });
    } catch (error) {
      toast(error.message, "bad");
    }
  }
}
