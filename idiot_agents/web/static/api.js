// Talking to the server: requests, and one socket for a table that comes back when it is cut.

import { getLang, t } from "/static/words.js";

/** A request; throws an Error whose message is a sentence for people. */
export async function post(path, body) {
  return ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lang: getLang(), ...body }),
  });
}

async function ask(path, options) {
  let response, answer;
  try {
    response = await fetch(path, options);
    answer = await response.json();
  } catch {
    throw new Error(t("no_answer")); // no server, or something else in its place
  }
  if (!response.ok) throw new Error(answer.error ?? t("no_answer"));
  return answer;
}

export const catalog = () => ask("/api/catalog");

/** A connection to a table; `handler(message)` receives all that the server says, `state(up)` whether it is there. */
export class Line {
  constructor(table, token, handler, state) {
    Object.assign(this, { table, token, handler, state, tries: 0, closed: false });
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = (this.socket = new WebSocket(`${scheme}://${location.host}/ws`));
    socket.onopen = () => this.send({ type: "hello", table: this.table, token: this.token, lang: getLang() });
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "gone") this.closed = true;
      if (this.tries) this.state(true);
      this.tries = 0;
      this.handler(message);
    };
    socket.onclose = () => {
      if (this.closed) return;
      if (!this.tries) this.state(false);
      this.tries += 1;
      this.timer = setTimeout(() => this.open(), Math.min(5000, 250 * 2 ** this.tries));
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}
