// The frame around the pages: language, look, speed, and which page is shown.

import { catalog } from "/static/api.js";
import { setRankNames } from "/static/cards.js";
import { h, refill } from "/static/dom.js";
import { settings, SPEEDS } from "/static/settings.js";
import { JoinPage, StartPage } from "/static/start.js";
import { TablePage } from "/static/table.js";
import { ViewerPage } from "/static/viewer.js";
import { getLang, setLang, t } from "/static/words.js";

const inNorwegian = () => /^(nb|nn|no)\b/.test(navigator.language);

class App {
  constructor(offered) {
    this.catalog = offered;
    setRankNames(offered.ranks);
    setLang(settings.lang ?? (inNorwegian() ? "no" : (offered.defaults.lang ?? "en")));
    this.theme();
    this.bar();
    addEventListener("hashchange", () => this.route());
    this.route();
  }

  theme() {
    if (settings.theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = settings.theme;
  }

  bar() {
    const select = (key, values, value, choose) => {
      const box = h(
        "select",
        { "aria-label": t(key), id: `set-${key}`, onchange: (event) => choose(event.target.value) },
        values.map((name) => h("option", { value: name }, t(`${key}_${name}`))),
      );
      box.value = value;
      return h("label", { class: "setting" }, h("span", {}, t(key)), box);
    };
    document.getElementById("skip").textContent = t("skip");
    refill(
      document.getElementById("bar"),
      h(
        "a",
        { class: "logo", href: "#" },
        h("img", { src: "/static/icon.svg", alt: "", width: 28, height: 28 }),
        "Idiot",
      ),
      h("nav", {}, h("a", { href: "#" }, t("home")), h("a", { href: "#view" }, t("viewer"))),
      h(
        "button",
        {
          type: "button",
          class: "quiet settings-button",
          "aria-expanded": "false",
          "aria-controls": "settings",
          "aria-label": t("settings"),
          onclick: (event) => this.openSettings(event.currentTarget),
        },
        "⚙",
      ),
      h(
        "div",
        { class: "settings", id: "settings" },
        select("speed", Object.keys(SPEEDS), settings.speed, (value) => (settings.speed = value)),
        select("theme", ["auto", "light", "dark"], settings.theme, (value) => {
          settings.theme = value;
          this.theme();
        }),
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            id: "language",
            lang: getLang() === "no" ? "en" : "nb",
            onclick: () => {
              settings.lang = getLang() === "no" ? "en" : "no";
              setLang(settings.lang);
              this.bar();
              this.relabel();
            },
          },
          t("other_language"),
        ),
      ),
    );
  }

  /** On a phone the settings are folded away. */
  openSettings(button) {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    document.getElementById("settings").classList.toggle("open", open);
  }

  /** Everything again, in the other language. */
  relabel() {
    if (this.page instanceof TablePage) this.route();
    else this.page.relabel();
  }

  go(hash) {
    if (location.hash.slice(1) === hash) this.route();
    else location.hash = hash;
  }

  view(record, where) {
    this.waiting = [record, where];
    this.go("view");
  }

  route() {
    const [page, ...parts] = location.hash.slice(1).split("/");
    this.page?.leave();
    document.title = t("title");
    if (page === "table" && parts.length === 1) this.page = new TablePage(this, parts[0]);
    else if (page === "join" && parts.length === 2) this.page = new JoinPage(this, ...parts);
    else if (page === "view") {
      this.page = new ViewerPage(this, ...(this.waiting ?? []));
      this.waiting = undefined;
    } else this.page = new StartPage(this);
    document.body.dataset.page = this.page.constructor.name;
    refill(document.getElementById("main"), this.page.root);
    scrollTo(0, 0);
  }
}

/** One sentence instead of a page without anything on it. */
function excuse(error) {
  refill(
    document.getElementById("main"),
    h(
      "div",
      { class: "excuse", role: "alert" },
      h("h1", {}, t("title")),
      h("p", {}, error.message),
      h("button", { type: "button", class: "primary", onclick: () => location.reload() }, t("reload")),
    ),
  );
}

setLang(settings.lang ?? (inNorwegian() ? "no" : "en"));
try {
  new App(await catalog());
} catch (error) {
  excuse(error);
  throw error;
}
