// Places of an instance on the plane of the map, about 1000 wide, so that 32-bit paths stay exact when enlarged.

const SPAN = 1000;
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45];

const mercatorX = (longitude) => (longitude + 180) / 360;
const mercatorY = (latitude) => {
  const bounded = (Math.max(-85, Math.min(85, latitude)) * Math.PI) / 180;
  return (1 - Math.log(Math.tan(bounded) + 1 / Math.cos(bounded)) / Math.PI) / 2;
};
const latitudeOf = (y) => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;

export class Projection {
  constructor(nodes, kind) {
    this.geo = kind === "geo";
    const raw = this.geo ? nodes.map(([x, y]) => [mercatorX(x), mercatorY(y)]) : nodes.map(([x, y]) => [x, -y]);
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const [x, y] of raw) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    this.unit = SPAN / (Math.max(right - left, bottom - top) || 1);
    this.left = left;
    this.top = top;
    this.x = Float64Array.from(raw, ([x]) => (x - left) * this.unit);
    this.y = Float64Array.from(raw, ([, y]) => (y - top) * this.unit);
    this.width = (right - left) * this.unit;
    this.height = (bottom - top) * this.unit;
  }

  /** Lines of latitude and longitude that cross a box of the map, and their labels. */
  graticule([x0, y0, x1, y1], pixels) {
    const west = (x0 / this.unit + this.left) * 360 - 180;
    const east = (x1 / this.unit + this.left) * 360 - 180;
    const north = latitudeOf(y0 / this.unit + this.top);
    const south = latitudeOf(y1 / this.unit + this.top);
    const wanted = ((east - west) * 110) / pixels;
    const step = STEPS.find((each) => each >= wanted) ?? 45;
    const places = Math.max(0, Math.ceil(-Math.log10(step)));
    const lines = [];
    for (let each = Math.ceil(west / step); each * step <= east && lines.length < 80; each++) {
      const label = `${Math.abs(each * step).toFixed(places)}° ${each < 0 ? "W" : "E"}`;
      lines.push({ x: (mercatorX(each * step) - this.left) * this.unit, label });
    }
    for (let each = Math.ceil(south / step); each * step <= north && lines.length < 160; each++) {
      const label = `${Math.abs(each * step).toFixed(places)}° ${each < 0 ? "S" : "N"}`;
      lines.push({ y: (mercatorY(each * step) - this.top) * this.unit, label });
    }
    return lines;
  }

  /** Tiles that cover a box of the map where a unit is `scale` pixels: their address and place. */
  tiles([x0, y0, x1, y1], scale) {
    const zoom = Math.max(0, Math.min(19, Math.round(Math.log2((scale * this.unit) / 256))));
    const count = 2 ** zoom;
    const size = this.unit / count;
    const first = (edge, origin) => Math.max(0, Math.floor((edge / this.unit + origin) * count));
    const last = (edge, origin) => Math.min(count - 1, Math.floor((edge / this.unit + origin) * count));
    const found = [];
    for (let x = first(x0, this.left); x <= last(x1, this.left); x++) {
      for (let y = first(y0, this.top); y <= last(y1, this.top) && found.length < 120; y++) {
        found.push({ z: zoom, x, y, left: x * size - this.left * this.unit, top: y * size - this.top * this.unit, size });
      }
    }
    return found;
  }
}
