// A table of routes; each opens to its stops.

import { make } from "./dom.js";
import { amount, moment, number, plural } from "./format.js";

const STOP_COLUMNS = ["", "stop", "arrival", "waiting", "service begins", "departure", "load", "window"];

export class RouteTable {
  constructor(point) {
    this.point = point;
    this.body = make("div", { className: "routes" });
    this.element = make("div", { className: "table-view" }, this.body);
  }

  /** Routes with times where they are told, else only who is on them. */
  set(routes, instance) {
    this.clock = instance?.clock ?? null;
    this.mixed = (instance?.types ?? instance?.vehicles ?? []).length > 1;
    this.body.replaceChildren(...routes.map((route, place) => this.route(route, place)));
  }

  route(route, place) {
    const stops = route.stops.filter((stop) => stop.kind !== "depot");
    const told = [plural(stops.length, "stop")];
    if (route.distance !== undefined) told.push(`distance ${number(route.distance)}`);
    if (route.duration !== undefined && route.duration !== null) told.push(`duration ${number(route.duration)}`);
    if (route.load !== undefined && route.load !== null) told.push(`load ${amount(route.load)}`);
    if (route.cost !== undefined && route.cost !== route.distance) told.push(`cost ${number(route.cost)}`);
    const vehicle = this.mixed && route.vehicle ? `, ${route.vehicle}` : "";
    const head = make("summary", {}, make("strong", {}, `Route ${place + 1}${vehicle}`), make("span", { className: "note" }, told.join(" · ")));
    const details = make("details", { className: "route" }, head);
    details.addEventListener("toggle", () => {
      if (!details.open) return;
      if (details.children.length === 1) details.append(this.stops(route));
      this.point(place);
    });
    return details;
  }

  stops({ stops }) {
    const time = (value) => (value === undefined || value === null ? "" : moment(value, this.clock));
    const row = (stop, place) => {
      const windows = !stop.window ? [] : Array.isArray(stop.window[0]) ? stop.window : [stop.window];
      const cells = [
        stop.kind === "depot" ? "depot" : stop.kind && stop.kind !== "customer" ? stop.kind : String(place),
        String(stop.label ?? stop.node),
        time(stop.arrival),
        stop.waiting ? number(stop.waiting) : "",
        stop.kind === "depot" ? "" : time(stop.start),
        time(stop.departure),
        stop.load === undefined || stop.load === null ? "" : amount(stop.load),
        windows.map(([a, b]) => `${time(a)} – ${time(b)}`).join(", "),
      ];
      return make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));
    };
    return make(
      "div",
      { className: "scroll-x", tabIndex: 0 },
      make(
        "table",
        { className: "stops" },
        make("thead", {}, make("tr", {}, ...STOP_COLUMNS.map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, ...stops.map(row)),
      ),
    );
  }
}
