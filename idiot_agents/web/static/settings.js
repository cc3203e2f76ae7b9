// What a browser remembers: language, look, speed, name, and its seats at tables.

const PREFIX = "idiot.";

function read(key, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise; // storage is switched off, or holds something foreign
  }
}

function write(key, value) {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Without storage everything still works until the page is closed.
  }
}

const memory = {};
const get = (key, otherwise) => (key in memory ? memory[key] : (memory[key] = read(key, otherwise)));
const put = (key, value) => {
  memory[key] = value;
  write(key, value);
};

export const SPEEDS = { slow: 1.7, normal: 1, fast: 0.4, off: 0 };
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const settings = {
  get lang() {
    return get("lang", null);
  },
  set lang(value) {
    put("lang", value);
  },
  get theme() {
    return get("theme", "auto");
  },
  set theme(value) {
    put("theme", value);
  },
  get speed() {
    return get("speed", null) ?? (still.matches ? "off" : "normal");
  },
  set speed(value) {
    put("speed", value);
  },
  /** How long movements take, as a factor; 0: none. */
  get pace() {
    return still.matches || document.hidden ? 0 : (SPEEDS[this.speed] ?? 1);
  },
  get name() {
    return get("name", "");
  },
  set name(value) {
    put("name", value);
  },
  get hints() {
    return get("hints", false);
  },
  set hints(value) {
    put("hints", value);
  },
  get choice() {
    return get("choice", null);
  },
  set choice(value) {
    put("choice", value);
  },
  token(table) {
    return get("seats", {})[table]?.token ?? null;
  },
  keepToken(table, token) {
    const seats = { ...get("seats", {}) };
    delete seats[table];
    seats[table] = { token, at: Date.now() };
    const newest = Object.entries(seats).slice(-20);
    put("seats", Object.fromEntries(newest));
  },
  forgetToken(table) {
    const seats = { ...get("seats", {}) };
    delete seats[table];
    put("seats", seats);
  },
  get tables() {
    return Object.keys(get("seats", {})).reverse();
  },
};
