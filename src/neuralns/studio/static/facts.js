// What lies under a place of a map, and what there is to say of it.

import { amount, moment, number, plural } from "./format.js";

const NEAR = 12;

/** The stop or else the route under a place of the screen. */
export function under(map, x, y) {
  if (!map.view || !map.projection) return null;
  let [node, least] = [undefined, NEAR];
  for (let each = 0; each < map.instance.nodes.length; each++) {
    const [left, top] = map.at(each);
    const far = Math.hypot(left - x, top - y);
    if (far < least) [node, least] = [each, far];
  }
  if (node !== undefined) return { node, route: map.routeOf?.get(node) };
  let [route, nearest] = [undefined, 7];
  map.paths.forEach((path, place) => {
    const nodes = [path.start, ...path.route, path.end].filter((each) => each !== null);
    for (let leg = 1; leg < nodes.length; leg++) {
      const far = toSegment(x, y, map.at(nodes[leg - 1]), map.at(nodes[leg]));
      if (far < nearest) [route, nearest] = [place, far];
    }
  });
  return route === undefined ? null : { route };
}

/** What the instance says of a stop or a route, line by line. */
export function factsOf(map, chosen) {
  const { instance } = map;
  const lines = [];
  if (chosen.node !== undefined) {
    const { node } = chosen;
    const kind = map.depots.has(node) ? "Depot" : "Stop";
    lines.push(`${kind} ${instance.labels?.[node] ?? node}`);
    const demand = instance.demands?.[node];
    if (!map.depots.has(node) && demand !== undefined && demand !== null) lines.push(`demand ${amount(demand)}`);
    const windows = instance.windows?.[node];
    if (windows?.length) {
      const each = Array.isArray(windows[0]) ? windows : [windows];
      lines.push(`window ${each.map(([a, b]) => `${moment(a, instance.clock)} to ${moment(b, instance.clock)}`).join(", ")}`);
    }
    if (instance.services?.[node]) lines.push(`service ${number(instance.services[node])}`);
    if (map.scene?.unserved?.includes(node)) lines.push("on no route");
  }
  const path = map.paths[chosen.route];
  if (path) {
    const place = chosen.node === undefined ? -1 : path.route.indexOf(chosen.node);
    lines.push(`Route ${chosen.route + 1}${place >= 0 ? `, stop ${place + 1} of ${path.route.length}` : `: ${plural(path.route.length, "stop")}`}`);
    const type = instance.types?.[map.scene.vehicles?.[chosen.route] ?? 0];
    const load = total(path.route.map((node) => instance.demands?.[node] ?? 0));
    const room = type?.capacity ?? instance.capacity;
    if (place < 0 && instance.demands && !map.pickups.size) {
      lines.push(`load ${amount(load)}${room !== undefined && room !== null ? ` of ${amount(room)}` : ""}`);
    }
    if (type?.name && instance.types.length > 1) lines.push(`vehicle ${type.name}`);
  }
  return lines;
}

function toSegment(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}

/** The sum of amounts, each a number or a list. */
function total(amounts) {
  if (!Array.isArray(amounts[0])) return amounts.reduce((sum, each) => sum + each, 0);
  return amounts[0].map((_, place) => amounts.reduce((sum, each) => sum + each[place], 0));
}
