// Several runs beside each other: their best costs over the same seconds, and who is ahead by how much.

import { Chart, together } from "./charts.js";
import { make, perFrame } from "./dom.js";
import { number, seconds } from "./format.js";

export class Comparison {
  constructor() {
    this.chart = new Chart("Best cost at equal seconds", { height: 200, settled: true });
    this.caption = make("caption", {});
    this.body = make("tbody");
    const head = ["run", "seed", "best", "behind the leader", "iterations"];
    this.table = make("table", {}, this.caption, make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))), this.body);
    this.element = make("section", { className: "comparison", aria: { label: "Comparison" } }, this.chart.element, make("div", { className: "scroll-x" }, this.table));
    this.runs = [];
    this.stops = [];
    this.refresh = perFrame(() => this.update());
  }

  set(runs) {
    this.stops.forEach((stop) => stop());
    this.runs = runs;
    this.stops = runs.map((run) => run.listen(this.refresh));
    this.refresh();
  }

  label(run, place) {
    const same = this.runs.some((other, each) => each !== place && other.selector === run.selector && other.name === run.name);
    const names = new Set(this.runs.map(({ name }) => name));
    return `${names.size > 1 ? `${run.name}, ` : ""}${run.selector}${same ? `, run ${place + 1}` : ""}`;
  }

  update() {
    const { runs } = this;
    if (!this.element.isConnected || runs.length < 2) return;
    const courses = runs.map(({ points }) => ({ time: points.time, value: points.best }));
    this.chart.set(runs.map((run, place) => ({ label: this.label(run, place), slot: place + 8 * (place % 2), step: true })), together(courses));
    const common = Math.min(...runs.map(({ points }) => points.time.at(-1) ?? 0));
    const over = runs.every((run) => !run.live);
    const values = runs.map((run) => {
      if (over) return run.best?.cost ?? null;
      const place = run.points.time.findLastIndex((time) => time <= common);
      return place < 0 ? null : run.points.best[place];
    });
    const leader = Math.min(...values.filter((value) => value !== null));
    this.caption.textContent = over ? `After ${seconds(common)} each` : `After the first ${seconds(common)} of each`;
    this.body.replaceChildren(
      ...runs.map((run, place) => {
        const behind = values[place] === null || !Number.isFinite(leader) ? "–" : values[place] === leader ? (values.every((value) => value === leader) ? "level" : "leads") : `${((100 * (values[place] - leader)) / leader).toFixed(2)} %`;
        const cells = [number(run.options.seed ?? 0), number(values[place]), behind, number(run.result?.iterations ?? run.progress?.iteration)];
        return make("tr", { className: behind === "leads" ? "leads" : "" }, make("th", { scope: "row" }, this.label(run, place)), ...cells.map((cell) => make("td", {}, cell)));
      }),
    );
  }
}
