// Lines over time, drawn by uPlot; legends are our own, so that names stay text.

import uPlot from "./vendor/uPlot.esm.js";
import { make, perFrame } from "./dom.js";
import { brief } from "./format.js";
import { colourOf, dashOf, onScheme, styled } from "./palette.js";

/** A chart of lines over seconds. `lines` are {label, colour or slot, dash, step}; `data` is [times, values, …]. */
export class Chart {
  constructor(title, { height = 150, log = false, share = false, settled = false, sync = null, legend = true } = {}) {
    this.options = { height, log, share, settled, sync };
    this.place = make("div", { className: "plot" });
    this.legend = make("div", { className: "legend" });
    this.element = make("figure", { className: "chart" }, make("figcaption", {}, make("span", {}, title), this.legend), this.place);
    this.legend.hidden = !legend;
    this.lines = [];
    this.data = [[]];
    this.draw = perFrame(() => this.paint());
    onScheme(() => this.rebuild());
    new ResizeObserver(() => this.draw()).observe(this.place);
  }

  set(lines, data) {
    const same = lines.length === this.lines.length && lines.every((line, place) => line.label === this.lines[place].label);
    this.data = data;
    if (!same) {
      this.lines = lines;
      this.rebuild();
    } else this.draw();
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    this.legend.replaceChildren(
      ...this.lines.map((line) => {
        const swatch = make("i", { className: "swatch" });
        swatch.style.borderTopColor = this.colour(line);
        swatch.style.borderTopStyle = this.dash(line).length ? (this.dash(line)[0] > 4 ? "dashed" : "dotted") : "solid";
        return make("span", {}, swatch, line.label);
      }),
    );
    this.draw();
  }

  colour(line) {
    return line.colour ? styled(line.colour) : colourOf(line.slot);
  }

  dash(line) {
    return line.dash ?? (line.slot === undefined ? [] : dashOf(line.slot));
  }

  paint() {
    const width = this.place.clientWidth;
    if (!width || !this.element.isConnected) return;
    if (!this.plot) this.build(width);
    else if (this.plot.width !== width) this.plot.setSize({ width, height: this.options.height });
    this.plot.setData(this.data.length === this.lines.length + 1 ? this.data : [[], ...this.lines.map(() => [])]);
  }

  build(width) {
    const axis = {
      stroke: styled("--muted"),
      font: "11px system-ui, sans-serif",
      grid: { stroke: styled("--grid"), width: 1 },
      ticks: { stroke: styled("--grid"), width: 1, size: 4 },
    };
    const { height, log, share, settled, sync } = this.options;
    this.plot = new uPlot(
      {
        width,
        height,
        padding: [8, 16, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, sync: sync ? { key: sync } : undefined, points: { size: 6 } },
        scales: { x: { time: false }, y: log ? { distr: 3 } : share ? { range: [0, 1] } : settled ? { range: (plot) => this.settledRange(plot) } : {} },
        axes: [
          { ...axis, size: 26, values: (_, ticks) => ticks.map((tick) => `${brief(tick)} s`) },
          {
            ...axis,
            size: (_, labels) => 16 + 6.6 * Math.max(4, ...(labels ?? []).map((label) => label?.length ?? 0)),
            ...(log ? { splits: (_, __, low, high) => powers(low, high) } : {}),
            values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : share ? `${Math.round(100 * tick)} %` : axisNumber(tick))),
          },
        ],
        series: [
          {},
          ...this.lines.map((line) => ({
            stroke: this.colour(line),
            width: line.width ?? 1.8,
            dash: this.dash(line),
            points: { show: false },
            spanGaps: true,
            paths: line.step ? uPlot.paths.stepped({ align: 1 }) : undefined,
          })),
        ],
        hooks: { setCursor: [(plot) => this.hover(plot)] },
      },
      this.data,
      this.place,
    );
    this.values = make("div", { className: "values", hidden: true });
    this.plot.over.append(this.values);
  }

  /** Leave out of sight how the first tenth came down, so that what follows is not a flat line. */
  settledRange() {
    const skipped = Math.floor(this.data[0].length / 10);
    const seen = this.data.slice(1).flatMap((values) => values.slice(skipped)).filter((value) => value !== null && value !== undefined);
    if (!seen.length) return [0, 1];
    const [low, high] = seen.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    const margin = 0.08 * (high - low) || 0.01 * Math.abs(high) || 1;
    return [low - margin, high + margin];
  }

  /** Tell the values under the pointer. */
  hover(plot) {
    const { idx, left } = plot.cursor;
    const inside = idx !== null && idx !== undefined && left >= 0;
    this.values.hidden = !inside;
    if (!inside) return;
    const told = this.lines.map((line, place) => `${line.label} ${this.options.share ? `${Math.round(100 * this.data[place + 1][idx])} %` : axisNumber(this.data[place + 1][idx])}`);
    this.values.textContent = `${brief(this.data[0][idx])} s: ${told.join(" · ")}`;
  }
}

const compact = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const axisNumber = (value) =>
  value === null || value === undefined ? "–" : Math.abs(value) >= 1000 ? compact.format(value) : brief(value);

function powers(low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high) + 1e-9; power++) found.push(10 ** power);
  return found;
}

/** Lines of several runs on the same seconds: each value stays until the next. */
export function together(courses) {
  const times = [...new Set(courses.flatMap(({ time }) => time))].sort((one, other) => one - other);
  const lines = courses.map(({ time, value }) => {
    let place = -1;
    const end = time.at(-1) ?? -1;
    return times.map((now) => {
      while (place + 1 < time.length && time[place + 1] <= now) place += 1;
      return place < 0 || now > end ? null : value[place];
    });
  });
  return [times, ...lines];
}
