// The viewer: a finished game step by step, from one seat's view or with all cards open.

import { afterEvent, showEvent } from "/static/animate.js";
import { post } from "/static/api.js";
import { Board } from "/static/board.js";
import { announce, h, refill, toast } from "/static/dom.js";
import { bars } from "/static/insight.js";
import { t } from "/static/words.js";

export class ViewerPage {
  constructor(app, record = null, { index = 0, seat = null } = {}) {
    Object.assign(this, { app, record, index, seat, frames: null, playing: false, busy: false });
    this.board = new Board();
    this.body = h("div", { class: "viewer-body" });
    const open = h("input", {
      type: "file",
      accept: ".json,application/json",
      id: "file",
      onchange: async (event) => {
        await this.read(event.target.files[0]);
        event.target.value = ""; // so that the same file can be opened again
      },
    });
    this.root = h(
      "div",
      { class: "viewer-page" },
      h("h1", {}, t("viewer")),
      h("p", { class: "row file" }, h("label", { for: "file" }, t("open_file")), open),
      this.body,
    );
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    if (record) this.load();
    else this.body.append(h("p", {}, t("viewer_line")));
  }

  leave() {
    this.playing = false;
    document.removeEventListener("keydown", this.onKey);
  }

  relabel() {
    this.app.view(this.record, { index: this.index, seat: this.seat });
  }

  async read(file) {
    if (!file) return;
    try {
      this.record = JSON.parse(await file.text());
    } catch {
      return toast(t("not_json", { name: file.name }), "bad");
    }
    this.index = 0;
    this.seat = null;
    await this.load();
  }

  async load() {
    try {
      this.data = await post("/api/replay", { record: this.record, seat: this.seat });
    } catch (error) {
      return toast(error.message, "bad");
    }
    this.frames = this.data.frames;
    this.last = this.frames.length - 1;
    this.index = Math.min(this.index, this.last);
    this.build();
    this.show();
  }

  build() {
    const button = (key, press, sign, name = "") =>
      h("button", { type: "button", class: name, "aria-label": t(key), title: t(key), onclick: press }, sign);
    this.playButton = button("autoplay", () => this.play(), "▶");
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: this.last,
      value: this.index,
      "aria-label": t("step_n", { n: "", last: this.last }),
      oninput: (event) => this.jump(Number(event.target.value)),
    });
    this.where = h("output", {});
    const seat = h(
      "select",
      { onchange: (event) => this.lookFrom(event.target.value) },
      h("option", { value: "" }, t("all_open")),
      this.data.names.map((name, n) => h("option", { value: String(n) }, name)),
    );
    seat.value = this.seat === null ? "" : String(this.seat);
    this.opinionBox = h("div", { class: "insight" });
    refill(
      this.body,
      h(
        "div",
        { class: "viewer-bar" },
        button("first", () => this.jump(0), "|‹"),
        button("back", () => this.jump(this.index - 1), "‹"),
        this.playButton,
        button("next", () => this.forward(), "›", "primary next"),
        button("last", () => this.jump(this.last), "›|"),
        this.slider,
        this.where,
        h("label", {}, `${t("view_from")} `, seat),
      ),
      h("div", { class: "viewer-table" }, this.board.root, h("aside", { class: "side" }, this.opinionBox)),
    );
  }

  lookFrom(value) {
    this.seat = value === "" ? null : Number(value);
    this.load();
  }

  show() {
    const { view, event, opinion } = this.frames[this.index];
    this.board.render({ view, names: this.data.names, live: false });
    this.board.say(event ? event.says : t("dealt"));
    this.slider.value = this.index;
    this.where.textContent = t("step_n", { n: this.index, last: this.last });
    const next = this.frames[this.index + 1];
    refill(
      this.opinionBox,
      ...(opinion
        ? bars(opinion, { name: this.data.adviser, who: this.data.names[opinion.seat], chosen: next?.action ?? null })
        : [h("p", {}, t("no_opinion"))]),
    );
  }

  jump(index) {
    this.playing = false;
    this.playButton.textContent = "▶";
    if (!this.frames || this.busy || index < 0 || index > this.last) return;
    this.index = index;
    this.show();
    announce(this.board.banner.textContent);
  }

  async forward() {
    if (!this.frames || this.busy || this.index >= this.last) return;
    this.busy = true;
    const next = this.frames[this.index + 1];
    await showEvent(this.board, this.frames[this.index].view, next.event);
    this.index += 1;
    this.show();
    announce(next.event.says);
    await afterEvent(this.board, next.event);
    this.busy = false;
  }

  async play() {
    this.playing = !this.playing;
    this.playButton.textContent = this.playing ? "❚❚" : "▶";
    while (this.playing && this.index < this.last) {
      await this.forward();
      await new Promise((done) => setTimeout(done, 250));
    }
    this.playing = false;
    this.playButton.textContent = "▶";
  }

  key(event) {
    if (!this.frames || event.target.closest?.("input, select, textarea")) return;
    if (event.key === "ArrowRight") this.forward();
    else if (event.key === "ArrowLeft") this.jump(this.index - 1);
    else if (event.key === "Home") this.jump(0);
    else if (event.key === "End") this.jump(this.last);
    else return;
    event.preventDefault();
  }
}
