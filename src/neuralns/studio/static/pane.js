// One run: its buttons, its figures, its map, timetable and table, and the charts beside them.

import { downloadAddress } from "./api.js";
import { Chart } from "./charts.js";
import { announce, make, perFrame, toast, write } from "./dom.js";
import { number, plural, seconds } from "./format.js";
import { RouteMap } from "./map.js";
import { ControllerPanel, OperatorPanel } from "./operators.js";
import { Scrubber } from "./scrubber.js";
import { RouteTable } from "./table.js";
import { Tabs } from "./tabs.js";
import { Timetable } from "./timetable.js";

const FORMATS = [
  ["sol", "CVRPLIB .sol"], ["json", "JSON"], ["csv", "CSV for spreadsheets"], ["vroom", "VROOM's answer"], ["png", "Picture, PNG"],
  ["svg", "Picture, SVG"], ["geojson", "GeoJSON"], ["trace", "Trace of the run, CSV"],
];
const STATES = {
  waiting: "waiting", running: "searching", paused: "paused", done: "finished", stopped: "stopped", failed: "failed", gone: "not on the server any more",
};

export class Pane {
  /** `acts` holds what the page does for a run: start again from its best, close it. */
  constructor(run, acts, about) {
    Object.assign(this, { run, acts, about });
    this.map = new RouteMap("Map of the routes; arrow keys move it, plus and minus zoom, full stop and comma go from route to route");
    this.timetable = new Timetable();
    this.table = new RouteTable((place) => run.shown || this.map.chooseRoute(place));
    this.scrubber = new Scrubber(run);
    this.head();
    this.side();
    this.timesNote = make("p", { className: "note padded", hidden: true });
    const times = make("div", { className: "view-times" }, this.timesNote, this.timetable.element);
    this.views = new Tabs(
      "What is shown of the routes",
      [["map", "Map", make("div", { className: "view-map" }, this.map.element)], ["timetable", "Timetable", times], ["routes", "Routes", this.table.element]],
      (name) => this.opened(name),
    );
    this.element = make(
      "article",
      { className: "pane", data: { run: run.id }, aria: { label: "Run" } },
      this.header,
      make(
        "div",
        { className: "pane-body" },
        make("section", { className: "view" }, this.views.row, this.views.panels, this.scrubber.element),
        make("section", { className: "side" }, this.sideTabs.row, this.sideTabs.panels),
      ),
    );
    this.refresh = perFrame(() => this.update());
    this.unlisten = run.listen((kind) => this.heard(kind));
    if (run.instance) this.heard("instance");
    this.heard("state");
  }

  head() {
    const button = (text, title, act, className = "") => make("button", { type: "button", title, className, onclick: act }, text);
    this.title = make("h2", {});
    this.badge = make("span", { className: "badge", role: "status" });
    this.chips = make("div", { className: "chips" });
    this.pause = button("Pause", "Pause or go on (space)", () => this.togglePause());
    this.stop = button("Stop", "Stop and keep the best so far (X)", () => this.order("stop"));
    this.pace = button("Slow", "Iteration by iteration, with who is removed, or at full speed again (W)", () => this.togglePace());
    this.more = make("input", { type: "number", min: 0.5, step: "any", value: 10, aria: { label: "Seconds to go on for" } });
    this.further = make("span", { className: "further" }, button("Go on for", "Start a new run from these routes", () => this.acts.goOn(this.run, Number(this.more.value))), this.more, "s");
    this.menuTitle = make("summary", { className: "button" }, "Take the best so far");
    this.menuItems = make("div", { className: "menu-items" });
    this.menu = make("details", { className: "menu" }, this.menuTitle, this.menuItems);
    this.link = button("Link", "Copy a link that starts the same run: instance, options, seed", () => this.acts.link(this.run));
    this.close = button("×", "Close this run; it is stopped and forgotten by the server", () => this.acts.close(this.run), "quiet close");
    this.close.setAttribute("aria-label", "Close this run");
    this.figures = {};
    const figure = (name, label) => make("div", {}, make("dt", {}, label), (this.figures[name] = make("dd", {}, "–")));
    this.bar = make("progress", { max: 1, value: 0, aria: { label: "Time spent" } });
    this.problem = make("p", { className: "problem", hidden: true, role: "alert" });
    this.header = make(
      "header",
      { className: "pane-head" },
      make("div", { className: "pane-title" }, this.title, this.badge, this.chips, this.close),
      make("dl", { className: "figures" }, figure("best", "best"), figure("current", "current"), figure("routes", "routes"), figure("unserved", "unserved"), figure("time", "time"), figure("iterations", "iterations")),
      make("div", { className: "pane-acts" }, this.pause, this.pace, this.stop, this.further, this.menu, this.link),
      this.bar,
      this.problem,
    );
  }

  side() {
    const sync = `run-${this.run.id}`;
    this.costs = new Chart("Cost", { height: 190, settled: true, sync });
    this.temperature = new Chart("Temperature", { height: 110, log: true, sync });
    this.acceptance = new Chart("Accepted", { height: 110, share: true, sync });
    this.slow = make("p", { className: "slow", hidden: true });
    const progress = make("div", { className: "panel" }, this.slow, this.costs.element, this.temperature.element, this.acceptance.element);
    this.operators = new OperatorPanel(sync);
    this.controller = new ControllerPanel();
    this.left = make("div", { className: "panel" });
    this.sideTabs = new Tabs("How the run goes", [
      ["progress", "Progress", progress], ["operators", "Operators", this.operators.element], ["controller", "Controller", this.controller.element], ["unserved", "Unserved", this.left],
    ]);
  }

  heard(kind) {
    const { run } = this;
    if (kind === "instance") {
      this.map.setInstance(run.instance, this.about);
      if (!run.instance.nodes?.length) this.views.open("routes");
      this.formats();
    }
    if (kind === "best" || kind === "shown" || kind === "step" || kind === "instance") this.stale = true;
    if (kind === "state") announce(`${run.name}: ${STATES[run.state] ?? run.state}`);
    if (kind === "improvements" || (kind === "state" && !run.live)) this.opened(this.views.current);
    this.refresh();
  }

  update() {
    const { run } = this;
    if (!this.element.isConnected) return;
    const seen = run.scene;
    if (this.stale && run.instance && seen) {
      this.stale = false;
      this.map.setScene(seen);
      this.unserved(seen.unserved ?? []);
    }
    this.scrubber.update();
    this.updateHead();
    const { points } = run;
    const temperature = points.temperature.map((each) => (each > 0 ? each : null));
    this.costs.set([{ label: "current", colour: "--muted", width: 1 }, { label: "best", slot: 0, width: 2.2, step: true }], [points.time, points.current, points.best]);
    this.temperature.set([{ label: "temperature", slot: 1 }], [points.time, temperature]);
    this.acceptance.set([{ label: "share of candidates", slot: 2 }], [points.time, points.acceptance]);
    this.operators.update(run);
    this.controller.update(run);
    const { step } = run;
    this.slow.hidden = !step;
    if (step) {
      const heavy = overloaded(run.instance, step.routes);
      const told = `${step.destroy} removed ${plural(step.removed.length, "customer")}, ${step.repair} put them back: ${number(step.cost)}, ${step.accepted ? "accepted" : "refused"}.`;
      write(this.slow, heavy ? `${told} For a while, ${plural(heavy, "vehicle")} may carry too much; such routes never count as best.` : told);
    }
  }

  updateHead() {
    const { run } = this;
    write(this.title, run.name || "…");
    const state = run.state === "running" && !run.progress ? "preparing" : (STATES[run.state] ?? run.state);
    write(this.badge, run.state === "waiting" && run.place ? `${state}, place ${run.place}` : state);
    this.badge.dataset.state = run.state;
    this.writeChips();
    const { progress, best, shown } = run;
    write(this.figures.best, number(shown?.cost ?? best?.cost ?? progress?.best));
    write(this.figures.current, run.live ? number(progress?.current) : "–");
    write(this.figures.routes, best ? number((shown ?? best).routes.length) : "–");
    write(this.figures.unserved, best ? number(((shown ?? best).unserved ?? []).length) : "–");
    this.figures.unserved.classList.toggle("bad", ((shown ?? best)?.unserved ?? []).length > 0);
    const time = run.live ? progress?.time : (run.result?.runtime ?? progress?.time);
    write(this.figures.time, `${seconds(time ?? 0)}${run.options.time ? ` of ${seconds(Number(run.options.time))}` : ""}`);
    write(this.figures.iterations, number(run.result?.iterations ?? progress?.iteration));
    this.bar.value = run.live ? Math.min(1, (time ?? 0) / (Number(run.options.time) || 1)) : 1;
    this.bar.hidden = !run.live;
    this.pause.hidden = !(run.state === "running" || run.state === "paused");
    write(this.pause, run.state === "paused" ? "Go on" : "Pause");
    this.pace.hidden = run.state !== "running" || run.options.workers > 1;
    write(this.pace, run.options.slow ? "Fast" : "Slow");
    this.stop.hidden = !run.live;
    this.further.hidden = run.live || !best || run.state === "gone";
    const trace = this.menuItems.querySelector("[data-format=trace]");
    if (trace) trace.hidden = run.live;
    this.menu.hidden = !best || run.state === "gone";
    write(this.menuTitle, run.live ? "Take the best so far" : "Download");
    this.problem.hidden = !run.error;
    write(this.problem, run.error ?? "");
  }

  writeChips() {
    const { options } = this.run;
    const found = this.run.result?.selector;
    const told = [`selector ${this.run.selector}${this.run.selector === "auto" && found ? ` (${found})` : ""}`, options.objective && options.objective !== "distance" && `objective ${options.objective}`];
    told.push(`seed ${options.seed ?? 0}`, options.workers > 1 && `${options.workers} cores`, options.portfolio && `portfolio ${options.portfolio}`, options.slow && "slow motion");
    const text = told.filter(Boolean);
    if (this.chipText === text.join()) return;
    this.chipText = text.join();
    this.chips.replaceChildren(...text.map((each) => make("span", { className: "chip" }, each)));
  }

  unserved(nodes) {
    this.sideTabs.label("unserved", nodes.length ? `Unserved (${nodes.length})` : "Unserved");
    const label = (node) => this.run.instance.labels?.[node] ?? node;
    const shown = nodes.slice(0, 300);
    this.left.replaceChildren(
      make("p", { className: "note" }, nodes.length ? `${plural(nodes.length, "customer")} on no route:` : "Every customer is on a route."),
      make("ul", { className: "unserved-list" }, ...shown.map((node) => make("li", {}, String(label(node))))),
      nodes.length > shown.length ? make("p", { className: "note" }, `and ${nodes.length - shown.length} more.`) : "",
    );
  }

  formats() {
    const { instance, id } = this.run;
    const has = { geojson: instance.kind === "geo", vroom: instance.vroom, png: instance.nodes, svg: instance.nodes };
    const offered = FORMATS.filter(([format]) => has[format] ?? !(format in has));
    this.menuItems.replaceChildren(
      ...offered.map(([format, label]) => make("a", { href: downloadAddress(id, format), download: "", data: { format }, onclick: () => (this.menu.open = false) }, label)),
    );
  }

  /** The timetable and the table are asked for when they are looked at. */
  async opened(name) {
    const { run } = this;
    if (name === "map") return this.map?.draw();
    if (!run.best || !run.instance) return undefined;
    try {
      const timetable = await run.loadTimetable();
      if (name === "timetable") this.timetable.set(timetable, run.instance);
      else this.table.set(timetable.routes, run.instance);
      this.timesNote.hidden = !run.live;
      write(this.timesNote, "The search goes on; these are the times of the best routes when this tab was opened.");
    } catch (problem) {
      toast(problem.message, true);
    }
    return undefined;
  }

  togglePause() {
    return this.order(this.run.state === "paused" ? "resume" : "pause");
  }

  async togglePace() {
    const slow = !this.run.options.slow;
    await this.order(slow ? "slow" : "fast");
    this.run.options.slow = slow;
    if (!slow) this.run.step = null;
    this.heard("step");
  }

  async order(verb) {
    try {
      await this.run.order(verb);
    } catch (problem) {
      toast(problem.message, true);
    }
  }

  dispose() {
    this.scrubber.halt();
    this.unlisten();
    this.element.remove();
  }
}

/** Routes with more than their vehicle holds, where that is a sum of demands. */
function overloaded(instance, routes) {
  if (!instance?.demands || instance.shipments?.length || instance.types?.length > 1 || !Number.isFinite(instance.capacity)) return 0;
  const load = (route) => route.reduce((sum, node) => sum + (instance.demands[node] ?? 0), 0);
  return routes.filter((route) => load(route) > instance.capacity + 1e-9).length;
}
