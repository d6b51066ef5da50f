// When each route is where: one line a route, with windows, waiting, service and load. Only rows in sight are drawn.

import { announce, fitCanvas, make, perFrame } from "./dom.js";
import { amount, moment, number } from "./format.js";
import { onScheme, styled } from "./palette.js";

const ROW = 52;
const AXIS = 26;
const LEFT = 74;

export class Timetable {
  constructor() {
    this.canvas = make("canvas", { className: "gantt", tabIndex: 0, role: "img", aria: { label: "Timetable of the routes" } });
    this.space = make("div", { className: "gantt-space" });
    this.tip = make("div", { className: "tip", hidden: true });
    this.scroll = make("div", { className: "gantt-scroll" }, this.space, this.canvas);
    const button = (text, title, act) => make("button", { type: "button", title, aria: { label: title }, onclick: act }, text);
    this.buttons = make(
      "div",
      { className: "zoom" },
      button("+", "Zoom into time (+)", () => this.zoom(1.6)),
      button("−", "Zoom out of time (−)", () => this.zoom(1 / 1.6)),
      button("⤢", "Show all times (0)", () => this.fit()),
    );
    const key = (name, text) => make("span", { className: `key ${name}` }, make("i"), text);
    this.keys = make(
      "div",
      { className: "keys" },
      key("driving", "driving"), key("waiting", "waiting"), key("service", "service"), key("window", "window"), key("load", "load"), key("late", "late"),
    );
    this.keys.append(this.buttons);
    this.element = make("div", { className: "timetable" }, this.keys, this.scroll, this.tip);
    this.draw = perFrame(() => this.paint());
    onScheme(this.draw);
    new ResizeObserver(this.draw).observe(this.scroll);
    this.scroll.addEventListener("scroll", this.draw);
    this.listen();
  }

  set(timetable, instance) {
    this.routes = timetable.routes;
    this.clock = instance?.clock ?? null;
    this.capacity = first(instance?.capacity);
    this.capacities = new Map((instance?.types ?? []).map((type) => [type.name, first(type.capacity)]));
    let [begin, end] = [Infinity, -Infinity];
    for (const { stops } of this.routes) {
      if (!stops.length) continue;
      begin = Math.min(begin, stops[0].arrival ?? stops[0].departure);
      end = Math.max(end, stops.at(-1).departure ?? stops.at(-1).arrival);
    }
    this.range = end > begin ? [begin, end] : [0, 1];
    this.space.style.height = `${AXIS + ROW * this.routes.length}px`;
    this.fit();
  }

  fit() {
    if (!this.range) return;
    const margin = 0.015 * (this.range[1] - this.range[0]);
    this.seen = [this.range[0] - margin, this.range[1] + margin];
    this.draw();
  }

  zoom(factor, at = 0.5) {
    if (!this.seen) return;
    const [a, b] = this.seen;
    const wide = Math.min((b - a) / factor, 1.03 * (this.range[1] - this.range[0]));
    const middle = a + at * (b - a);
    this.shift(middle - at * wide - a, wide);
  }

  shift(by, wide = this.seen[1] - this.seen[0]) {
    const span = this.range[1] - this.range[0];
    const start = Math.max(this.range[0] - 0.015 * span, Math.min(this.range[1] + 0.015 * span - wide, this.seen[0] + by));
    this.seen = [start, start + wide];
    this.draw();
  }

  across(time) {
    return LEFT + ((time - this.seen[0]) / (this.seen[1] - this.seen[0])) * (this.width - LEFT - 8);
  }

  paint() {
    if (!this.routes || !this.scroll.clientWidth || !this.element.isConnected) return;
    this.width = this.scroll.clientWidth;
    this.height = this.scroll.clientHeight;
    const ratio = fitCanvas(this.canvas, this.width, this.height);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = "12px system-ui, sans-serif";
    const top = this.scroll.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW));
    const last = Math.min(this.routes.length - 1, Math.ceil((top + this.height - AXIS) / ROW));
    this.boxes = [];
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS, this.width, this.height - AXIS);
    pen.clip();
    this.paintTimes(pen, false);
    for (let place = first; place <= last; place++) this.paintRoute(pen, place, AXIS + place * ROW - top);
    pen.restore();
    this.paintTimes(pen, true);
  }

  paintTimes(pen, labels) {
    const span = this.seen[1] - this.seen[0];
    const steps = this.clock ? [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880] : decimals(span);
    const step = steps.find((each) => (each / span) * (this.width - LEFT) > 64) ?? steps.at(-1);
    pen.strokeStyle = styled("--grid");
    pen.fillStyle = styled("--muted");
    pen.lineWidth = 1;
    for (let time = Math.ceil(this.seen[0] / step) * step; time <= this.seen[1]; time += step) {
      const x = Math.round(this.across(time)) + 0.5;
      if (x < LEFT - 1) continue;
      if (labels) {
        pen.textAlign = "center";
        pen.fillText(moment(time, this.clock), Math.min(x, this.width - 18), 17);
      } else {
        pen.beginPath();
        pen.moveTo(x, AXIS);
        pen.lineTo(x, this.height);
        pen.stroke();
      }
    }
    pen.textAlign = "left";
  }

  paintRoute(pen, place, y) {
    const { stops, vehicle } = this.routes[place];
    pen.fillStyle = styled("--text");
    pen.fillText(`Route ${place + 1}`, 8, y + 22);
    pen.fillStyle = styled("--muted");
    pen.font = "10.5px system-ui, sans-serif";
    pen.fillText(`${Math.max(0, stops.filter((stop) => stop.kind !== "depot").length)} stops`, 8, y + 37);
    pen.font = "12px system-ui, sans-serif";
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, Math.max(AXIS, y), this.width - LEFT, ROW);
    pen.clip();
    const middle = y + 24;
    const room = this.capacities.get(vehicle) || this.capacity || Math.max(1, ...stops.map((stop) => first(stop.load) ?? 0));
    stops.forEach((stop, number) => {
      const next = stops[number + 1];
      const leave = stop.departure ?? stop.arrival;
      if (next) {
        const [from, to] = [this.across(leave), this.across(next.arrival ?? leave)];
        pen.fillStyle = styled("--driving");
        pen.fillRect(from, middle - 1.5, Math.max(0.5, to - from), 3);
        const high = 11 * Math.min(1, (first(stop.load) ?? 0) / room);
        pen.fillStyle = styled("--load");
        pen.fillRect(from, y + ROW - 5 - high, Math.max(0.5, this.across(next.departure ?? next.arrival) - from), high);
      }
      if (stop.kind === "depot") this.paintDepot(pen, this.across(number ? (stop.arrival ?? leave) : leave), middle);
      else this.paintStop(pen, stop, middle);
      const [from, to] = [this.across(stop.arrival ?? leave), this.across(leave)];
      this.boxes.push([Math.min(from, to - 6), y, Math.max(to, from + 6), y + ROW, stop, place, number]);
    });
    pen.restore();
    pen.strokeStyle = styled("--grid");
    pen.beginPath();
    pen.moveTo(0, y + ROW - 0.5);
    pen.lineTo(this.width, y + ROW - 0.5);
    pen.stroke();
  }

  paintDepot(pen, x, middle) {
    pen.fillStyle = styled("--text");
    pen.fillRect(x - 2, middle - 7, 4, 14);
  }

  paintStop(pen, stop, middle) {
    const start = stop.start ?? stop.arrival;
    const windows = !stop.window ? [] : Array.isArray(stop.window[0]) ? stop.window : [stop.window];
    pen.fillStyle = styled("--window");
    for (const [a, b] of windows) {
      const [from, to] = [Math.max(LEFT, this.across(Math.max(a, this.seen[0]))), this.across(Math.min(b ?? Infinity, this.seen[1]))];
      if (to > from) pen.fillRect(from, middle - 18, to - from, 2);
    }
    const late = windows.length > 0 && windows.every(([, b]) => start > b + 1e-6);
    if (stop.waiting > 0) {
      const [from, to] = [this.across(stop.arrival), this.across(start)];
      pen.fillStyle = styled("--waiting");
      pen.fillRect(from, middle - 4, to - from, 8);
    }
    const [from, to] = [this.across(start), this.across(start + (stop.service ?? 0))];
    pen.fillStyle = late ? styled("--late") : styled("--service");
    pen.fillRect(from, middle - 9, Math.max(2.5, to - from), 18);
    if (to - from > 34) {
      pen.fillStyle = styled("--map");
      pen.save();
      pen.beginPath();
      pen.rect(from, middle - 9, to - from - 2, 18);
      pen.clip();
      pen.fillText(String(stop.label ?? stop.node), from + 4, middle + 4);
      pen.restore();
    }
  }

  facts({ label, node, arrival, waiting, start, service, departure, load, window, kind }, place, order) {
    const time = (value) => moment(value, this.clock);
    const lines = [`${kind === "depot" ? "Depot" : "Stop"} ${label ?? node}, route ${place + 1}`];
    if (kind === "pickup" || kind === "delivery") lines[0] += ` (${kind})`;
    if (kind === "depot") lines.push(order ? `back at ${time(arrival)}` : `leaves at ${time(departure ?? arrival)}`);
    else {
      lines.push(`arrives ${time(arrival)}${waiting > 0 ? `, waits ${number(waiting)}` : ""}`);
      lines.push(`service ${time(start)} to ${time(departure ?? start + (service ?? 0))}`);
      const windows = !window ? [] : Array.isArray(window[0]) ? window : [window];
      if (windows.length) lines.push(`window ${windows.map(([a, b]) => `${time(a)} to ${time(b)}`).join(", ")}`);
    }
    if (load !== undefined && load !== null) lines.push(`load after it ${amount(load)}`);
    return lines;
  }

  listen() {
    let held = null;
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      this.zoom(Math.exp(-(event.deltaY || event.deltaX) * 0.003), (event.clientX - box.left - LEFT) / (box.width - LEFT));
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      held = event.clientX;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointerup", () => (held = null));
    this.canvas.addEventListener("pointermove", (event) => {
      if (held !== null && this.seen) {
        this.shift(((held - event.clientX) / (this.width - LEFT)) * (this.seen[1] - this.seen[0]));
        held = event.clientX;
      }
      this.hover(event);
    });
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("keydown", (event) => {
      const acts = {
        "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.fit(),
        ArrowLeft: () => this.shift(-0.1 * (this.seen[1] - this.seen[0])),
        ArrowRight: () => this.shift(0.1 * (this.seen[1] - this.seen[0])),
        ArrowUp: () => this.scroll.scrollBy(0, -ROW), ArrowDown: () => this.scroll.scrollBy(0, ROW),
      };
      if (!acts[event.key] || !this.seen || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      acts[event.key]();
    });
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = y > AXIS && this.boxes?.find(([a, b, c, d]) => x >= a - 2 && x <= c + 2 && y >= b && y <= d);
    this.tip.hidden = !found;
    if (!found) return;
    const lines = this.facts(found[4], found[5], found[6]);
    this.tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
    const outer = this.element.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, Math.min(event.clientX - outer.left + 14, outer.width - this.tip.offsetWidth - 6))}px`;
    this.tip.style.top = `${Math.min(event.clientY - outer.top + 14, outer.height - this.tip.offsetHeight - 6)}px`;
    if (this.told !== lines[0]) announce((this.told = lines[0]));
  }
}

const first = (value) => (Array.isArray(value) ? value[0] : value);

function decimals(span) {
  const power = 10 ** Math.floor(Math.log10(span) - 2);
  return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((each) => each * power);
}
