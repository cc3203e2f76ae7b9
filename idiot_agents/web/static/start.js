// The start page: who plays, at which table, by which rules.

import { post } from "/static/api.js";
import { h, refill, toast } from "/static/dom.js";
import { settings } from "/static/settings.js";
import { getLang, t } from "/static/words.js";

const equal = (a, b) => Object.keys(a).every((key) => a[key] === b[key]);

export class StartPage {
  constructor(app) {
    this.app = app;
    const { presets, defaults, agents, first: proposal } = app.catalog;
    const kept = settings.choice;
    const known = new Set(agents.map((agent) => agent.id));
    const first = defaults.agents?.length ? defaults.agents : [proposal];
    this.choice = {
      watch: false,
      preset: "standard",
      options: { ...(defaults.rules ?? presets.standard) },
      players: defaults.players ?? 2,
      seats: [...Array(5).keys()].map((n) => first[Math.max(0, n - 1) % first.length]),
      seed: defaults.seed === null || defaults.seed === undefined ? "" : String(defaults.seed),
    };
    const proposed = defaults.agents?.length || (defaults.rules && !equal(defaults.rules, presets.standard));
    const usable =
      kept &&
      Array.isArray(kept.seats) &&
      kept.seats.length === 5 &&
      kept.seats.every((id) => known.has(id) || id === "guest") &&
      kept.preset in presets &&
      Object.keys(kept.options ?? {}).join() === Object.keys(presets.standard).join();
    if (usable && !proposed)
      Object.assign(this.choice, kept, { seed: this.choice.seed });
    if (!app.catalog.guests) this.choice.seats = this.choice.seats.map((id) => (id === "guest" ? first[0] : id));
    this.root = h("div", { class: "start-page" });
    this.rulesOpen = false;
    this.draw();
  }

  leave() {}

  relabel() {
    this.draw();
  }

  /** The table whose rules these are, or the one from which the fewest differ. */
  nearest() {
    const { presets } = this.app.catalog;
    const differing = (name) =>
      Object.keys(presets[name]).filter((key) => presets[name][key] !== this.choice.options[key]);
    return Object.keys(presets)
      .map((name) => [name, differing(name)])
      .sort((a, b) => a[1].length - b[1].length)[0];
  }

  changedFromPreset() {
    const table = this.app.catalog.presets[this.choice.preset];
    return Object.keys(table).filter((key) => table[key] !== this.choice.options[key]);
  }

  draw() {
    const { choice } = this;
    const focus = document.activeElement?.id;
    this.problem = h("p", { class: "problem", role: "alert", id: "problem" });
    refill(
      this.root,
      h("div", { class: "hero" }, h("h1", {}, t("title")), h("p", {}, t("tagline"))),
      this.resume(),
      h(
        "form",
        {
          class: "start",
          novalidate: true,
          onsubmit: (event) => {
            event.preventDefault();
            this.begin();
          },
        },
        h("div", { class: "pair" }, this.modeField(), this.playersField()),
        this.tableField(),
        this.seatsField(),
        this.houseRules(),
        this.moreField(),
        this.problem,
        h("button", { type: "submit", class: "primary big", id: "begin" }, t(choice.watch ? "watch_now" : "play_now")),
      ),
    );
    if (focus) document.getElementById(focus)?.focus();
    this.check();
  }

  resume() {
    const tables = settings.tables.slice(0, 3);
    if (!tables.length) return null;
    return h("p", { class: "resume" }, h("a", { class: "button", href: `#table/${tables[0]}` }, t("resume")));
  }

  segments(name, legend, entries, value, choose) {
    return h(
      "fieldset",
      { class: "segments" },
      h("legend", {}, legend),
      entries.map(([key, label]) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name,
            id: `${name}-${key}`,
            value: String(key),
            checked: key === value,
            onchange: () => choose(key),
          }),
          h("span", {}, label),
        ),
      ),
    );
  }

  modeField() {
    const modes = [
      [false, t("play")],
      [true, t("watch")],
    ];
    return this.segments("mode", t("mode"), modes, this.choice.watch, (watch) => this.change({ watch }));
  }

  playersField() {
    const [least, most] = this.app.catalog.players;
    const counts = [...Array(most - least + 1).keys()].map((n) => [n + least, String(n + least)]);
    return this.segments("players", t("players"), counts, this.choice.players, (players) => this.change({ players }));
  }

  tableField() {
    const { presets } = this.app.catalog;
    return h(
      "fieldset",
      { class: "presets" },
      h("legend", {}, t("table")),
      Object.keys(presets).map((name) =>
        h(
          "label",
          { class: "preset" },
          h("input", {
            type: "radio",
            name: "preset",
            id: `preset-${name}`,
            checked: name === this.choice.preset,
            onchange: () => this.change({ preset: name, options: { ...presets[name] } }),
          }),
          h("span", { class: "box" }, h("b", {}, t(name)), h("span", {}, t(`${name}_line`))),
        ),
      ),
    );
  }

  seatsField() {
    const { catalog } = this.app;
    const from = this.choice.watch ? 0 : 1;
    const selects = [...Array(this.choice.players).keys()].slice(from).map((n) => {
      const options = ["model", "search", "rule"].map((kind) => {
        const agents = catalog.agents.filter((agent) => agent.kind === kind);
        return (
          agents.length > 0 &&
          h(
            "optgroup",
            { label: t(`kind_${kind}`) },
            agents.map((agent) => h("option", { value: agent.id }, this.describe(agent))),
          )
        );
      });
      if (catalog.guests && !this.choice.watch) options.push(h("option", { value: "guest" }, t("guest")));
      const select = h("select", { id: `seat-${n}`, onchange: (event) => this.seat(n, event.target.value) }, options);
      if (this.choice.watch && this.choice.seats[n] === "guest") this.choice.seats[n] = catalog.agents[0].id;
      select.value = this.choice.seats[n];
      return h("label", { class: "field" }, h("span", {}, t("seat_n", { n: n + 1 })), select);
    });
    return h("fieldset", { class: "seats" }, h("legend", {}, t(this.choice.watch ? "agents" : "opponents")), selects);
  }

  /** An agent with what it was trained on. */
  describe({ id, trained }) {
    if (!trained) return id;
    const everywhere = Object.keys(this.app.catalog.presets).every((name) => trained.split(", ").includes(name));
    return everywhere ? t("trained_all", { name: id }) : t("trained", { name: id, table: trained });
  }

  seat(n, id) {
    const seats = [...this.choice.seats];
    seats[n] = id;
    this.change({ seats });
  }

  houseRules() {
    const changed = this.changedFromPreset();
    const { options } = this.app.catalog;
    const titles = t("option");
    return h(
      "details",
      { class: "house", open: this.rulesOpen, ontoggle: (event) => (this.rulesOpen = event.target.open) },
      h("summary", {}, changed.length ? t("house_rules_n", { n: changed.length }) : t("house_rules")),
      changed.length > 0 &&
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            onclick: () => this.change({ options: { ...this.app.catalog.presets[this.choice.preset] } }),
          },
          t("reset_rules"),
        ),
      h(
        "div",
        { class: "options" },
        Object.entries(options).map(([name, values]) =>
          h(
            "fieldset",
            { class: changed.includes(name) ? "changed" : "" },
            h("legend", {}, titles[name], changed.includes(name) && h("small", {}, ` (${t("changed")})`)),
            values.map((entry) =>
              h(
                "label",
                { class: "check" },
                h("input", {
                  type: "radio",
                  name: `option-${name}`,
                  id: `option-${name}-${entry.value}`,
                  checked: this.choice.options[name] === entry.value,
                  onchange: () => this.change({ options: { ...this.choice.options, [name]: entry.value } }),
                }),
                entry[getLang()],
              ),
            ),
          ),
        ),
      ),
      (this.card = h(
        "details",
        { class: "card-of-rules", ontoggle: () => this.check() },
        h("summary", {}, t("rules_card")),
        h("div", {}),
      )),
    );
  }

  moreField() {
    return h(
      "details",
      { class: "more" },
      h("summary", {}, t("more")),
      h(
        "label",
        { class: "field" },
        h("span", {}, t("name")),
        h("input", {
          id: "name",
          type: "text",
          maxlength: 20,
          autocomplete: "nickname",
          value: settings.name,
          oninput: (event) => (settings.name = event.target.value),
        }),
      ),
      h(
        "label",
        { class: "field" },
        h("span", {}, t("seed")),
        h("input", {
          id: "seed",
          type: "text",
          inputmode: "numeric",
          value: this.choice.seed,
          "aria-describedby": "seed-note",
          oninput: (event) => {
            this.choice.seed = event.target.value.trim();
            this.check();
          },
        }),
        h("small", { id: "seed-note" }, t("seed_note")),
      ),
    );
  }

  change(part) {
    Object.assign(this.choice, part);
    settings.choice = { ...this.choice, seed: "" };
    this.draw();
  }

  /** Say what is not possible, and keep the rules in words up to date. */
  async check() {
    const number = (this.checks = (this.checks ?? 0) + 1);
    let says = "";
    try {
      const answer = await post("/api/check", { rules: this.choice.options, players: this.choice.players });
      if (number !== this.checks) return;
      says = answer.why_not ?? this.modelProblem() ?? this.seedProblem() ?? "";
      if (this.card.open) {
        const [, , ...lines] = answer.card.split("\n");
        refill(
          this.card.lastChild,
          h(
            "ol",
            {},
            lines.map((line) => h("li", {}, line.replace(/^\s*\d+\.\s*/, ""))),
          ),
        );
      }
    } catch (error) {
      says = error.message;
    }
    this.problem.textContent = says ? `${t("impossible")} ${says}` : "";
    this.impossible = says;
    this.note?.remove();
    const foreign = this.agents().find((agent) => {
      const tables = agent.trained ? agent.trained.split(", ") : [];
      return tables.length === 1 && tables[0] !== this.shortRules(); // a generalist is at home everywhere
    });
    if (foreign && !says) {
      this.note = h("p", { class: "note" }, t("trained_note", { name: foreign.id, table: foreign.trained }));
      this.problem.after(this.note);
    }
  }

  shortRules() {
    const [name, changed] = this.nearest();
    const text = (value) => (value === true ? "yes" : value === false ? "no" : value);
    return [name, ...changed.map((key) => `${key}=${text(this.choice.options[key])}`)].join(" ");
  }

  agents() {
    const ids = this.choice.seats.slice(this.choice.watch ? 0 : 1, this.choice.players);
    return this.app.catalog.agents.filter((agent) => ids.includes(agent.id));
  }

  modelProblem() {
    const small = this.agents().find((agent) => agent.players < this.choice.players);
    return small ? t("too_many", { name: small.id, n: small.players }) : null;
  }

  seedProblem() {
    return this.choice.seed === "" || /^-?\d{1,15}$/.test(this.choice.seed) ? null : t("seed_wrong");
  }

  async begin() {
    const { choice } = this;
    await this.check();
    if (this.impossible) {
      toast(`${t("impossible")} ${this.impossible}`, "bad");
      return;
    }
    const seats = choice.seats.slice(0, choice.players).map((id) => (id === "guest" ? { guest: true } : { agent: id }));
    if (!choice.watch) seats[0] = { person: settings.name };
    try {
      const made = await post("/api/tables", {
        rules: choice.options,
        seats,
        seed: choice.seed === "" ? null : Number(choice.seed),
      });
      settings.keepToken(made.table, made.token);
      this.app.go(`table/${made.table}`);
    } catch (error) {
      toast(error.message, "bad");
    }
  }
}

/** The page of an invitation. */
export class JoinPage {
  constructor(app, table, invite) {
    Object.assign(this, { app, table, invite });
    this.root = h("div", { class: "start-page" });
    this.draw();
  }

  leave() {}

  relabel() {
    this.draw();
  }

  draw() {
    refill(
      this.root,
      h("div", { class: "hero" }, h("h1", {}, t("title")), h("p", {}, t("join_title"))),
      h(
        "form",
        {
          class: "start",
          onsubmit: (event) => {
            event.preventDefault();
            this.join();
          },
        },
        h(
          "label",
          { class: "field" },
          h("span", {}, t("name")),
          h("input", {
            id: "name",
            type: "text",
            maxlength: 20,
            value: settings.name,
            oninput: (event) => (settings.name = event.target.value),
          }),
        ),
        h("button", { type: "submit", class: "primary big", id: "begin" }, t("join")),
      ),
    );
  }

  async join() {
    try {
      const seat = await post("/api/join", { table: this.table, invite: this.invite, name: settings.name });
      settings.keepToken(seat.table, seat.token);
      this.app.go(`table/${seat.table}`);
    } catch (error) {
      toast(error.message, "bad");
    }
  }
}
