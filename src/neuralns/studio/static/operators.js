// Share and gain per second of each operator, as bars and over time; what the controller set, and why.

import { Chart } from "./charts.js";
import { make, write } from "./dom.js";
import { brief, number, percent, plainly, seconds } from "./format.js";
import { colourOf, dashOf, onScheme } from "./palette.js";

const MOST_LINES = 8;

export class OperatorPanel {
  constructor(sync) {
    this.rows = new Map();
    this.body = make("tbody");
    this.note = make("p", { className: "note" });
    this.table = make(
      "table",
      { className: "operators" },
      make("thead", {}, make("tr", {}, ...["operator", "share of uses", "gain per second"].map((text) => make("th", { scope: "col" }, text)))),
      this.body,
    );
    this.chart = new Chart("Share of each operator over time", { height: 120, share: true, sync, legend: false });
    this.element = make("div", { className: "panel operators-panel" }, this.table, this.chart.element, this.note);
    onScheme(() => this.rows.forEach((row, name) => this.paintRow(row, name)));
  }

  update(run) {
    const uses = run.progress?.uses ?? {};
    const gains = run.progress?.gains ?? {};
    const names = Object.keys(uses);
    const all = names.reduce((sum, name) => sum + uses[name], 0);
    const most = Math.max(1e-12, ...Object.values(gains).map((gain) => Math.abs(gain ?? 0)));
    names.forEach((name) => {
      const row = this.row(name);
      const share = all ? uses[name] / all : 0;
      row.share.style.width = `${100 * share}%`;
      row.gain.style.width = `${(100 * Math.abs(gains[name] ?? 0)) / most}%`;
      write(row.shareText, percent(share));
      write(row.gainText, brief(gains[name]));
    });
    this.lines(run, names);
    const told = run.result?.decision_time_share;
    write(
      this.note,
      names.length
        ? `${number(run.progress.iteration)} iterations${Number.isFinite(told) ? `; choosing takes ${percent(told)} of the time` : ""}.`
        : run.live
          ? "The first figures are on their way."
          : "Nothing was told of operators.",
    );
  }

  /** Shares of uses between two reports, for operators that are used most where they are many. */
  lines(run, names) {
    const chosen = names.slice(0, MOST_LINES);
    const step = Math.max(1, Math.floor(run.shares.length / 150));
    const times = [];
    const lines = chosen.map(() => []);
    for (let place = step; place < run.shares.length; place += step) {
      const [time, now] = run.shares[place];
      const before = run.shares[place - step][1];
      const all = names.reduce((sum, name) => sum + (now[name] ?? 0) - (before[name] ?? 0), 0);
      if (all <= 0) continue;
      times.push(time);
      chosen.forEach((name, line) => lines[line].push(((now[name] ?? 0) - (before[name] ?? 0)) / all));
    }
    this.chart.set(chosen.map((label, slot) => ({ label, slot, dash: dashOf(slot) })), [times, ...lines]);
    this.chart.element.hidden = names.length > MOST_LINES;
  }

  row(name) {
    if (this.rows.has(name)) return this.rows.get(name);
    const [share, gain, swatch] = [make("i", { className: "bar" }), make("i", { className: "bar gain" }), make("i", { className: "swatch" })];
    const [shareText, gainText] = [make("span"), make("span")];
    const row = { share, gain, swatch, shareText, gainText, slot: this.rows.size };
    this.body.append(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("span", {}, swatch, make("span", {}, ...breakable(name)))),
        make("td", {}, make("div", { className: "bar-cell" }, share, shareText)),
        make("td", {}, make("div", { className: "bar-cell" }, gain, gainText)),
      ),
    );
    this.rows.set(name, row);
    this.paintRow(row);
    return row;
  }

  paintRow(row) {
    row.share.style.background = colourOf(row.slot);
    row.swatch.style.borderTopColor = colourOf(row.slot);
    row.swatch.style.borderTopStyle = dashOf(row.slot).length ? "dashed" : "solid";
  }
}

/** A name that may be broken after its colons. */
const breakable = (name) => name.split(/(?<=:)/).flatMap((part) => [part, make("wbr")]);

export class ControllerPanel {
  constructor() {
    this.told = make("p", { className: "note" });
    this.inputs = make("dl", { className: "facts" });
    this.outputs = make("dl", { className: "facts" });
    this.history = make("tbody");
    this.content = make(
      "div",
      { className: "controller" },
      (this.saw = make("section", {}, make("h4", {}, "It saw"), this.inputs)),
      make("section", {}, make("h4", {}, "It set"), this.outputs),
      make("section", { className: "wide" }, make("h4", {}, "Earlier decisions"), make("table", {}, this.history)),
    );
    this.element = make("div", { className: "panel" }, this.told, this.content);
  }

  update(run) {
    const last = run.controller.at(-1);
    this.content.hidden = !last;
    write(
      this.told,
      last
        ? `Decided at ${seconds(last.time)}; ${run.controller.length} decisions that changed something.`
        : `The selector ${run.selector} chooses operators in every iteration; no controller steers this run between segments.`,
    );
    if (!last || last === this.last) return;
    const before = run.controller.at(-2);
    this.saw.hidden = !Object.keys(last.inputs ?? {}).length;
    this.fill(this.inputs, last.inputs, before?.inputs);
    this.fill(this.outputs, last.outputs, before?.outputs);
    const rows = run.controller.slice(-9, -1).reverse();
    this.history.replaceChildren(
      ...rows.map((each) => make("tr", {}, make("th", { scope: "row" }, seconds(each.time)), make("td", {}, plainly(each.outputs)))),
    );
    this.last = last;
  }

  fill(list, values = {}, before = {}) {
    list.replaceChildren(
      ...Object.entries(values ?? {}).flatMap(([name, value]) => {
        const changed = before && name in before && plainly(before[name]) !== plainly(value);
        return [make("dt", {}, name), make("dd", { className: changed ? "changed" : "" }, plainly(value))];
      }),
    );
  }
}
