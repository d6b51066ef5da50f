// What the page knows of one job: its state, its course, its best routes, and the one that is looked at.

import { ask, connection, Refusal, Stream } from "./api.js";

const LIVE = new Set(["waiting", "running", "paused"]);
const MOST_POINTS = 4000;
const MOST_STREAMS = 4;
const SERIES = ["time", "current", "best", "temperature", "acceptance"];

let streams = 0;

export class Run {
  /** Follow a job; `spec` is what it was started with, where this page started it. */
  constructor(id, spec = null) {
    Object.assign(this, { id, spec, name: "", options: spec?.options ?? {}, state: "waiting", place: null, error: null });
    this.points = Object.fromEntries(SERIES.map((name) => [name, []]));
    this.shares = [];
    this.progress = null;
    this.best = null;
    this.improvements = [];
    this.known = new Map();
    this.shown = null;
    this.step = null;
    this.controller = [];
    this.result = null;
    this.instance = null;
    this.timetable = null;
    this.listeners = new Set();
    this.ready = this.load();
  }

  get live() {
    return LIVE.has(this.state);
  }

  get selector() {
    return this.options.selector ?? "auto";
  }

  path(rest = "") {
    return `/jobs/${encodeURIComponent(this.id)}${rest}`;
  }

  listen(call) {
    this.listeners.add(call);
    return () => this.listeners.delete(call);
  }

  tell(kind) {
    for (const call of this.listeners) call(kind, this);
  }

  async load() {
    try {
      this.take(await ask(this.path()));
      this.instance = await ask(this.path("/instance"));
      this.name ||= this.instance.name;
      if (this.best) this.best.unserved ??= unserved(this.instance, this.best);
      this.tell("instance");
      if (this.best) this.tell("best");
    } catch (problem) {
      if (problem instanceof Refusal && problem.status === 0) {
        connection.wake.add(() => (this.instance ? null : (this.ready = this.load())));
        return;
      }
      this.fail(problem.message);
    }
    if (this.state !== "failed" && this.state !== "gone") this.follow();
  }

  /** Take over what GET /jobs/{id} says. */
  take(job) {
    this.name = job.name ?? this.name;
    this.options = { ...(job.options ?? {}), ...this.options };
    this.place = job.place ?? null;
    this.error = job.error ?? null;
    if (job.progress && !this.progress) this.progress = job.progress;
    if (job.best?.routes) this.setBest(job.best);
    if (job.result) this.result = job.result;
    this.setState(job.state ?? this.state);
  }

  /** Streams are few, as a browser opens only six connections to a server: other runs are asked now and then. */
  follow() {
    if (this.stream || this.polling || this.closed) return;
    if (streams < MOST_STREAMS) {
      streams += 1;
      this.stream = new Stream(
        this.id,
        (name, data) => this.hear(name, data),
        (problem) => (this.drop(), problem.status === 404 ? this.forgotten() : this.fail(problem.message)),
        () => !this.live && (this.drop(), true),
      );
      return;
    }
    this.polling = setInterval(async () => {
      try {
        this.take(await ask(this.path()));
        if (this.progress) this.tell("progress");
      } catch (problem) {
        if (problem.status === 404) this.forgotten();
      }
      if (!this.live || streams < MOST_STREAMS) {
        clearInterval(this.polling);
        this.polling = null;
        this.follow();
      }
    }, 1500);
  }

  drop() {
    if (this.stream) {
      this.stream.close();
      this.stream = null;
      streams -= 1;
    }
  }

  hear(name, data) {
    if (name === "state") {
      this.place = data.place ?? null;
      this.setState(data.state);
    } else if (name === "progress") this.advance(data);
    else if (name === "best") this.improve(data);
    else if (name === "step") {
      this.step = this.options.slow ? data : null;
      this.tell("step");
    } else if (name === "done") this.finish(data.result ?? data);
    else if (name === "failed" || name === "error") this.fail(data.error);
    if (!this.live && (name === "done" || name === "failed" || name === "error")) this.drop();
  }

  setState(state) {
    const was = this.state;
    this.state = state;
    if (!LIVE.has(state)) this.step = null;
    if (was !== state || state === "waiting") this.tell("state");
  }

  advance(data) {
    const { points } = this;
    const before = this.progress;
    if (points.time.length && data.time < points.time.at(-1)) return;
    this.progress = data;
    for (const name of SERIES) points[name].push(data[name] ?? null);
    if (data.uses) this.shares.push([data.time, data.uses]);
    if (points.time.length > MOST_POINTS) this.thin();
    if (data.controller && JSON.stringify(data.controller) !== JSON.stringify(before?.controller)) {
      this.controller.push({ time: data.time, ...data.controller });
      if (this.controller.length > 60) this.controller.shift();
    }
    this.tell("progress");
  }

  /** Keep every other point of a long course. */
  thin() {
    const keep = (_, place, all) => place % 2 === 0 || place === all.length - 1;
    for (const name of SERIES) this.points[name] = this.points[name].filter(keep);
    this.shares = this.shares.filter(keep);
  }

  improve(data) {
    let routes = data.routes;
    this.note(data);
    if (!routes && !data.changed) return undefined;
    if (!routes) {
      if (!this.best) return this.renew();
      routes = this.best.routes.slice(0, data.count ?? this.best.routes.length);
      for (const [place, route] of Object.entries(data.changed ?? {})) routes[Number(place)] = route;
      for (let place = 0; place < routes.length; place++) if (!routes[place]) return this.renew();
    }
    return this.setBest({ ...data, routes, unserved: data.unserved });
  }

  /** Keep when an improvement came; events that are told again are known by their index. */
  note({ index, time, iteration, cost }) {
    if (!this.improvements.length || this.improvements.at(-1).index < index) this.improvements.push({ index, time, iteration, cost });
  }

  /** Ask for the whole best where a part of it was missed. */
  async renew() {
    try {
      this.take(await ask(this.path()));
    } catch {
      // The next event tries again.
    }
  }

  setBest(best) {
    this.best = { ...best, vehicles: best.vehicles ?? [] };
    this.timetable = null;
    if (this.instance) this.best.unserved ??= unserved(this.instance, this.best);
    this.tell("best");
  }

  async finish(result) {
    this.result = result;
    if (result?.routes) {
      this.setBest({ ...this.best, ...pick(result, ["cost", "routes", "vehicles", "unserved", "skipped"]) });
    }
    this.setState(result?.stopped_by === "stop" ? "stopped" : "done");
    this.drop();
    try {
      this.improvements = await ask(this.path("/improvements"));
      const job = await ask(this.path());
      this.setState(job.state);
    } catch {
      // What the events told is kept.
    }
    this.tell("improvements");
  }

  fail(sentence) {
    this.error = sentence;
    this.drop();
    this.setState("failed");
    this.tell("state");
  }

  /** The server was started anew, or the hour is over: what has been seen stays on the page. */
  forgotten() {
    this.drop();
    this.error = "The server no longer knows this run; what is shown is the last that was heard of it.";
    this.state = "gone";
    this.tell("state");
  }

  /** Look at an improvement of the past, or at the best (null). */
  async look(place) {
    if (place === null || place >= this.improvements.length - 1) {
      this.shown = null;
      return this.tell("shown");
    }
    const wanted = this.improvements[place];
    this.wanted = place;
    let seen = this.known.get(wanted.index);
    if (!seen) {
      seen = await ask(this.path(`/improvements/${wanted.index}`));
      this.known.set(wanted.index, seen);
      if (this.known.size > 200) this.known.delete(this.known.keys().next().value);
    }
    if (this.wanted !== place) return undefined;
    this.shown = { ...wanted, place, ...seen, unserved: seen.unserved ?? unserved(this.instance, seen) };
    return this.tell("shown");
  }

  /** The routes to draw now, with who is removed in slow motion. */
  get scene() {
    if (this.shown) return this.shown;
    if (this.step && this.state !== "done") {
      return { routes: this.step.routes, vehicles: this.step.vehicles ?? [], removed: this.step.removed, unserved: [] };
    }
    return this.best;
  }

  async loadTimetable() {
    this.timetable ??= await ask(this.path("/timetable"));
    return this.timetable;
  }

  /** Ask for something; that it has been done is told by an event, as the answer may come before. */
  order(verb, body) {
    return ask(this.path(`/${verb}`), { method: "POST", body: body ?? {} });
  }

  /** Forget the job here; it is stopped on the server where it still runs. */
  async close() {
    this.closed = true;
    clearInterval(this.polling);
    this.drop();
    if (this.state !== "gone") {
      try {
        await ask(this.path(), { method: "DELETE" });
      } catch {
        // Nothing is left to stop.
      }
    }
  }

  /** What starts this run again: a hash for a link, or null where the file is too long for one. */
  get link() {
    if (!this.spec) return null;
    const text = JSON.stringify({ instance: this.spec.instance, options: this.spec.options });
    return text.length > 30000 ? null : `#run=${encodeURIComponent(text)}`;
  }
}

const pick = (object, names) => Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]));

/** Customers on no route. */
export function unserved(instance, solution) {
  const count = instance.nodes?.length ?? instance.demands?.length ?? 0;
  const seen = new Uint8Array(count);
  for (const depot of instance.depots ?? [0]) seen[depot] = 1;
  for (const route of solution.routes) for (const node of route) seen[node] = 1;
  const left = [];
  for (let node = 0; node < count; node++) if (!seen[node]) left.push(node);
  return left;
}
