// Routes on a canvas: paths are kept in the plane of the instance and drawn anew only when something changed.

import { announce, fitCanvas, make, perFrame, write } from "./dom.js";
import { factsOf } from "./facts.js";
import { plural } from "./format.js";
import { listen } from "./gestures.js";
import { colourOf, dashOf, onScheme, styled } from "./palette.js";
import { Projection } from "./projection.js";
import { Slots } from "./slots.js";

const MANY = 3000;
const MARGIN = 26;

export class RouteMap {
  constructor(label) {
    this.base = make("canvas", { className: "layer", aria: { hidden: "true" } });
    this.over = make("canvas", { className: "layer front", tabIndex: 0, role: "img", aria: { label } });
    this.tip = make("div", { className: "tip", hidden: true });
    this.note = make("p", { className: "map-note", hidden: true });
    this.credit = make("span", { className: "credit", hidden: true });
    const button = (text, title, act) => make("button", { type: "button", title, aria: { label: title }, onclick: act }, text);
    this.buttons = make(
      "div",
      { className: "zoom" },
      button("+", "Zoom in (+)", () => this.zoom(1.5)),
      button("−", "Zoom out (−)", () => this.zoom(1 / 1.5)),
      button("⤢", "Show all (0)", () => this.fit()),
    );
    this.legend = make("div", { className: "map-legend" });
    this.element = make("div", { className: "map" }, this.base, this.over, this.tip, this.note, this.buttons, this.legend, this.credit);
    this.slots = new Slots();
    this.paths = [];
    this.scene = null;
    this.chosen = null;
    this.images = new Map();
    this.draw = perFrame(() => this.paint());
    this.drawOver = perFrame(() => this.paintOver());
    listen(this);
    onScheme(() => (this.draw(), this.drawOver()));
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  /** Show another instance, from its whole extent. */
  setInstance(instance, { tiles = null, attribution = null } = {}) {
    this.instance = instance;
    this.tiles = instance.kind === "geo" ? tiles : null;
    this.projection = instance.nodes?.length ? new Projection(instance.nodes, instance.kind) : null;
    this.depots = new Set(instance.depots ?? [0]);
    this.pickups = new Set((instance.shipments ?? []).map(([pickup]) => pickup));
    this.note.hidden = this.projection !== null;
    write(this.note, "This instance tells distances but no places: there is no map of it.");
    write(this.credit, attribution ?? "");
    this.credit.hidden = !(this.tiles && attribution);
    this.paths = [];
    this.slots = new Slots();
    this.fit();
  }

  /** Draw these routes; paths of routes that stay are kept. */
  setScene(scene) {
    if (!this.projection || !scene) return;
    const before = new Map(this.paths.map((path) => [path.key, path]));
    if (!this.paths.length && this.kin) this.slots.ofNode = new Map(this.kin.slots.ofNode);
    const slots = this.slots.assign(scene.routes);
    this.scene = scene;
    this.routeOf = new Map();
    this.paths = scene.routes.map((route, place) => {
      const [start, end] = this.ends(scene.vehicles?.[place]);
      const key = `${start}>${route.join(",")}>${end}`;
      for (const node of route) this.routeOf.set(node, place);
      const kept = before.get(key);
      return { ...(kept ?? this.path(route, start, end, key)), slot: slots[place] };
    });
    if (this.chosen?.route !== undefined && this.chosen.route >= this.paths.length) this.chosen = null;
    const marks = [];
    if (scene.removed?.length) marks.push(["removed", `${plural(scene.removed.length, "customer")} just removed`]);
    if (scene.unserved?.length) marks.push(["unserved", `${plural(scene.unserved.length, "customer")} unserved`]);
    if (scene.skipped?.length) marks.push(["skipped", `${plural(scene.skipped.length, "optional customer")} left out`]);
    if (this.pickups.size) marks.push(["pickup", "pickup"]);
    this.legend.replaceChildren(...marks.map(([name, text]) => make("span", { className: `mark ${name}` }, text)));
    this.draw();
    this.drawOver();
  }

  ends(vehicle) {
    const type = this.instance.types?.[vehicle ?? 0];
    const depot = this.instance.depots?.[0] ?? 0;
    return type ? [type.start ?? null, type.end ?? null] : [depot, depot];
  }

  path(route, start, end, key) {
    const { x, y } = this.projection;
    const inner = new Path2D();
    route.forEach((node, place) => (place ? inner.lineTo(x[node], y[node]) : inner.moveTo(x[node], y[node])));
    const legs = new Path2D();
    for (const [from, to] of [[start, route[0]], [route.at(-1), end]]) {
      if (from === null || to === null || to === undefined) continue;
      legs.moveTo(x[from], y[from]);
      legs.lineTo(x[to], y[to]);
    }
    return { route, start, end, key, inner, legs, reach: this.reach(route, start, end) };
  }

  /** The box of a route, by which it is left out when it is out of sight. */
  reach(route, start, end) {
    const { x, y } = this.projection;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const take = (node) => {
      box[0] = Math.min(box[0], x[node]);
      box[1] = Math.min(box[1], y[node]);
      box[2] = Math.max(box[2], x[node]);
      box[3] = Math.max(box[3], y[node]);
    };
    route.forEach(take);
    if (start !== null) take(start);
    if (end !== null) take(end);
    return box;
  }

  resize() {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    const moved = this.width !== undefined && !this.touched;
    this.width = clientWidth;
    this.height = clientHeight;
    if (moved || !this.view) this.fit();
    this.draw();
    this.drawOver();
  }

  fit() {
    if (!this.projection || !this.width) return;
    const { width, height } = this.projection;
    const scale = Math.min((this.width - 2 * MARGIN) / (width || 1), (this.height - 2 * MARGIN) / (height || 1));
    this.least = Math.max(scale, 1e-6);
    this.view = { scale: this.least, x: (this.width - width * scale) / 2, y: (this.height - height * scale) / 2 };
    this.touched = false;
    this.draw();
    this.drawOver();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    if (!this.view) return;
    const scale = Math.max(this.least / 3, Math.min(this.least * 400, this.view.scale * factor));
    const ratio = scale / this.view.scale;
    this.move({ scale, x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio });
  }

  pan(x, y) {
    if (this.view) this.move({ ...this.view, x: this.view.x + x, y: this.view.y + y });
  }

  move(view) {
    this.view = view;
    this.touched = true;
    this.draw();
    this.drawOver();
    this.moved?.(this);
  }

  /** Take the view of another map of the same instance. */
  follow(other) {
    this.view = { ...other.view };
    this.touched = true;
    this.draw();
    this.drawOver();
  }

  get box() {
    const { scale, x, y } = this.view;
    return [-x / scale, -y / scale, (this.width - x) / scale, (this.height - y) / scale];
  }

  /** A place on the screen. */
  at(node) {
    return [this.projection.x[node] * this.view.scale + this.view.x, this.projection.y[node] * this.view.scale + this.view.y];
  }

  paint() {
    if (!this.width || !this.element.isConnected) return;
    const ratio = fitCanvas(this.base, this.width, this.height);
    const pen = this.base.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.base.width, this.base.height);
    if (!this.projection || !this.view) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.projection.geo) this.paintGround(pen);
    const { scale, x, y } = this.view;
    const many = this.instance.nodes.length > MANY;
    const wide = many ? 1.1 : 1.8;
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    pen.lineJoin = pen.lineCap = "round";
    pen.lineWidth = 0.8 / scale;
    pen.globalAlpha = many ? 0.18 : 0.4;
    const [left, top, right, bottom] = this.box;
    const seen = this.paths.filter(({ reach }) => reach[0] <= right && reach[1] <= bottom && reach[2] >= left && reach[3] >= top);
    for (const path of seen) {
      pen.strokeStyle = colourOf(path.slot);
      pen.stroke(path.legs);
    }
    pen.globalAlpha = 1;
    pen.lineWidth = wide / scale;
    for (const path of seen) {
      pen.strokeStyle = colourOf(path.slot);
      pen.setLineDash(many ? [] : dashOf(path.slot).map((length) => length / scale));
      pen.stroke(path.inner);
    }
    pen.setLineDash([]);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paintStops(pen);
  }

  paintGround(pen) {
    const box = this.box;
    const { scale, x, y } = this.view;
    if (this.tiles) {
      pen.globalAlpha = 0.75;
      for (const tile of this.projection.tiles(box, scale)) {
        const image = this.image(tile);
        if (image.complete && image.naturalWidth) {
          pen.drawImage(image, tile.left * scale + x, tile.top * scale + y, tile.size * scale + 0.5, tile.size * scale + 0.5);
        }
      }
      pen.globalAlpha = 1;
      return;
    }
    pen.strokeStyle = styled("--grid");
    pen.fillStyle = styled("--muted");
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    for (const line of this.projection.graticule(box, this.width)) {
      pen.beginPath();
      if (line.x !== undefined) {
        const place = Math.round(line.x * scale + x) + 0.5;
        pen.moveTo(place, 0);
        pen.lineTo(place, this.height);
        pen.fillText(line.label, place + 4, this.height - 6);
      } else {
        const place = Math.round(line.y * scale + y) + 0.5;
        pen.moveTo(0, place);
        pen.lineTo(this.width, place);
        pen.fillText(line.label, 6, place < 18 ? place + 13 : place - 4);
      }
      pen.stroke();
    }
  }

  image({ z, x, y }) {
    const source = this.tiles.replace("{z}", z).replace("{x}", x).replace("{y}", y).replace("{s}", "abc"[(x + y) % 3]);
    let image = this.images.get(source);
    if (!image) {
      image = new Image();
      image.addEventListener("load", () => this.draw());
      image.src = source;
      this.images.set(source, image);
    }
    return image;
  }

  get stopSize() {
    const count = this.instance.nodes.length;
    const room = Math.sqrt((this.width * this.height) / count) * Math.sqrt(this.view.scale / this.least);
    return Math.max(0.8, Math.min(5, room / 9));
  }

  paintStops(pen) {
    const size = this.stopSize;
    const count = this.instance.nodes.length;
    pen.fillStyle = styled("--stop");
    const round = size > 1.4 && count <= MANY;
    pen.beginPath();
    const { view, projection } = this;
    for (let node = 0; node < count; node++) {
      if (this.depots.has(node)) continue;
      const x = projection.x[node] * view.scale + view.x;
      const y = projection.y[node] * view.scale + view.y;
      if (x < -9 || y < -9 || x > this.width + 9 || y > this.height + 9) continue;
      if (this.pickups.has(node)) triangle(pen, x, y, size * 1.5);
      else if (round) {
        pen.moveTo(x + size, y);
        pen.arc(x, y, size, 0, 7);
      } else pen.rect(x - size, y - size, 2 * size, 2 * size);
    }
    pen.fill();
    const ring = Math.max(size + 2.5, 4.5);
    const rings = (nodes, colour, filled) => {
      pen.strokeStyle = colour;
      pen.fillStyle = filled ? colour : styled("--map");
      pen.lineWidth = 2;
      for (const node of nodes ?? []) {
        const [x, y] = this.at(node);
        pen.beginPath();
        pen.arc(x, y, ring, 0, 7);
        pen.fill();
        pen.stroke();
      }
    };
    rings(this.scene?.skipped, styled("--muted"), false);
    rings(this.scene?.unserved, styled("--late"), false);
    rings(this.scene?.removed, styled("--removed"), true);
    pen.lineWidth = 2;
    pen.strokeStyle = styled("--stop");
    pen.fillStyle = styled("--map");
    for (const depot of this.depots) {
      const [x, y] = this.at(depot);
      pen.beginPath();
      pen.rect(x - 6, y - 6, 12, 12);
      pen.fill();
      pen.stroke();
    }
  }

  paintOver() {
    if (!this.width || !this.element.isConnected) return;
    const ratio = fitCanvas(this.over, this.width, this.height);
    const pen = this.over.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.over.width, this.over.height);
    if (!this.chosen || !this.view) return;
    const { scale, x, y } = this.view;
    const path = this.paths[this.chosen.route];
    if (path) {
      pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
      pen.lineJoin = pen.lineCap = "round";
      for (const [colour, wide] of [[styled("--map"), 7], [colourOf(path.slot), 3.5]]) {
        pen.strokeStyle = colour;
        pen.lineWidth = wide / scale;
        pen.stroke(path.inner);
        pen.lineWidth = wide / 2 / scale;
        pen.stroke(path.legs);
      }
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.fillStyle = styled("--stop");
      for (const node of path.route) {
        const [left, top] = this.at(node);
        pen.beginPath();
        pen.arc(left, top, Math.max(2.5, this.stopSize), 0, 7);
        pen.fill();
      }
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.chosen.node !== undefined) {
      const [left, top] = this.at(this.chosen.node);
      pen.strokeStyle = styled("--accent");
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(left, top, Math.max(8, this.stopSize + 4), 0, 7);
      pen.stroke();
    }
  }

  choose(chosen, x, y) {
    const same = chosen?.node === this.chosen?.node && chosen?.route === this.chosen?.route;
    this.chosen = chosen;
    if (!same) this.drawOver();
    if (!chosen) {
      this.tip.hidden = true;
      return;
    }
    const lines = factsOf(this, chosen);
    if (!same || this.tip.hidden) this.tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
    this.tip.hidden = false;
    const [wide, high] = [this.tip.offsetWidth, this.tip.offsetHeight];
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, this.width - wide - 4))}px`;
    this.tip.style.top = `${Math.max(4, y + 14 + high > this.height ? y - high - 10 : y + 14)}px`;
  }

  /** Show a route by its number, as from a table or by keyboard. */
  chooseRoute(route) {
    const path = this.paths[route];
    if (!path || !this.view) return;
    const [x, y] = this.at(path.route[Math.floor(path.route.length / 2)]);
    this.choose({ route }, x, y);
    announce(factsOf(this, { route }).join(", "));
  }
}

function triangle(pen, x, y, size) {
  pen.moveTo(x, y - size);
  pen.lineTo(x + size, y + size * 0.8);
  pen.lineTo(x - size, y + size * 0.8);
  pen.closePath();
}
