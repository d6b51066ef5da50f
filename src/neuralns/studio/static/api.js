// All talk with the server: requests, the stream of events, and whether it can be reached.

const PATIENCE = [500, 1000, 2000, 4000, 8000];
const HEARTBEAT = 4000;
const SILENCE = 60000;

/** A refusal of the server, with its sentence. */
export class Refusal extends Error {
  constructor(status, sentence, wait) {
    super(sentence);
    this.status = status;
    this.wait = wait;
  }
}

const address = new URL(location.href);
let token = address.searchParams.get("token") ?? sessionStorage.getItem("token") ?? "";
if (address.searchParams.has("token")) {
  sessionStorage.setItem("token", token);
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}
let askForToken = async () => null;
export const onTokenWanted = (ask) => (askForToken = ask);

const headers = (more = {}) => (token ? { Authorization: `Bearer ${token}`, ...more } : more);

/** Send a request; answers JSON, throws a Refusal with the server's sentence or an error when there is no server. */
export async function ask(path, { method = "GET", body, timeout = 30000 } = {}) {
  const sent = { method, headers: headers(), signal: AbortSignal.timeout(timeout) };
  if (body !== undefined) {
    sent.body = JSON.stringify(body);
    sent.headers = headers({ "Content-Type": "application/json" });
  }
  let answer;
  try {
    answer = await fetch(path, sent);
  } catch (problem) {
    connection.failed();
    throw new Refusal(0, "The server does not answer.");
  }
  connection.answered();
  if (answer.status === 401 && (await renewToken())) return ask(path, { method, body, timeout });
  if (!answer.ok) throw await refusal(answer);
  return answer.status === 204 ? null : answer.json();
}

async function refusal(answer) {
  let sentence = `The server answered ${answer.status}.`;
  try {
    const told = await answer.json();
    if (typeof told.error === "string") sentence = told.error;
  } catch {
    // No JSON, no better sentence.
  }
  return new Refusal(answer.status, sentence, Number(answer.headers.get("Retry-After")) || null);
}

async function renewToken() {
  const given = await askForToken();
  if (!given) return false;
  token = given;
  sessionStorage.setItem("token", token);
  return true;
}

/** The address of a download, with the token where there is one. */
export function downloadAddress(id, format) {
  const path = `/jobs/${encodeURIComponent(id)}/download/${encodeURIComponent(format)}`;
  return token ? `${path}?token=${encodeURIComponent(token)}` : path;
}

/** Whether the server can be reached; tells listeners of every change. */
export const connection = {
  lost: false,
  tries: 0,
  retryAt: 0,
  listeners: new Set(),
  wake: new Set(),
  failed() {
    this.tries += 1;
    const wait = PATIENCE[Math.min(this.tries, PATIENCE.length) - 1];
    this.retryAt = Date.now() + wait;
    this.lost = true;
    this.tell();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.try(), wait);
  },
  answered() {
    this.tries = 0;
    if (!this.lost) return;
    this.lost = false;
    clearTimeout(this.timer);
    this.tell();
    for (const call of this.wake) call();
  },
  /** Ask whether the server is there again; all streams follow its answer. */
  async try() {
    try {
      await fetch("/health", { signal: AbortSignal.timeout(5000), cache: "no-store" });
    } catch {
      return this.failed();
    }
    return this.answered();
  },
  tell() {
    for (const call of this.listeners) call(this);
  },
};

setInterval(() => {
  if (!connection.lost && document.visibilityState === "visible") connection.try();
}, HEARTBEAT);
window.addEventListener("online", () => connection.try());
window.addEventListener("offline", () => connection.failed());

/** Follow the events of a job until it is `over`; goes on after the last event seen when the connection was lost. */
export class Stream {
  constructor(id, hear, gone, over) {
    Object.assign(this, { id, hear, gone, over, last: null, closed: false });
    this.again = () => this.open();
    this.open();
  }

  async open() {
    connection.wake.delete(this.again);
    if (this.closed || this.abort) return;
    const abort = (this.abort = new AbortController());
    try {
      const more = { Accept: "text/event-stream" };
      if (this.last !== null) more["Last-Event-ID"] = this.last;
      const answer = await fetch(`/jobs/${encodeURIComponent(this.id)}/events`, {
        headers: headers(more),
        signal: abort.signal,
        cache: "no-store",
      });
      if (!answer.ok) {
        this.abort = null;
        this.close();
        return this.gone(await refusal(answer));
      }
      connection.answered();
      await this.read(answer.body, abort);
    } catch {
      // Told below: an interruption looks the same however it comes about.
    }
    this.abort = null;
    if (this.over()) this.close();
    if (!this.closed) {
      // A stream may end by itself, which is no loss while the server answers.
      connection.wake.add(this.again);
      await new Promise((resolve) => setTimeout(resolve, PATIENCE[0]));
      connection.lost = true;
      await connection.try();
    }
  }

  async read(body, abort) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const silence = setTimeout(() => abort.abort(), SILENCE);
      const { value, done } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      const parts = (text + value).split(/\r?\n\r?\n/);
      text = parts.pop();
      for (const part of parts) {
        this.event(part);
        if (this.closed) return;
      }
    }
  }

  event(text) {
    let name = "message";
    const data = [];
    for (const line of text.split(/\r?\n/)) {
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") name = value;
      else if (field === "data") data.push(value);
      else if (field === "id") this.last = value;
    }
    if (data.length) this.hear(name, JSON.parse(data.join("\n")));
  }

  close() {
    this.closed = true;
    connection.wake.delete(this.again);
    this.abort?.abort();
  }
}
