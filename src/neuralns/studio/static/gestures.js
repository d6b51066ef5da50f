// How a map is moved: wheel, one pointer, two pointers, keys.

import { under } from "./facts.js";

/** Let pointers, wheel and keys move a map. */
export function listen(map) {
  const held = new Map();
  let gap = 0;
  const place = (event) => {
    const box = map.over.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  map.over.addEventListener("wheel", (event) => {
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), ...place(event));
  }, { passive: false });
  map.over.addEventListener("pointerdown", (event) => {
    map.over.setPointerCapture(event.pointerId);
    held.set(event.pointerId, place(event));
    gap = 0;
  });
  map.over.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const before = held.get(event.pointerId);
    if (!before) {
      map.choose(under(map, x, y), x, y);
      return;
    }
    held.set(event.pointerId, [x, y]);
    if (held.size === 1) {
      map.pan(x - before[0], y - before[1]);
      map.over.classList.add("held");
    } else if (held.size === 2) {
      const [[ax, ay], [bx, by]] = [...held.values()];
      const now = Math.hypot(ax - bx, ay - by);
      if (gap) map.zoom(now / gap, (ax + bx) / 2, (ay + by) / 2);
      gap = now;
    }
  });
  const release = (event) => {
    const [x, y] = place(event);
    held.delete(event.pointerId);
    gap = 0;
    map.over.classList.remove("held");
    if (event.type === "pointerup") map.choose(under(map, x, y), x, y);
  };
  map.over.addEventListener("pointerup", release);
  map.over.addEventListener("pointercancel", release);
  map.over.addEventListener("pointerleave", () => map.choose(null));
  map.over.addEventListener("dblclick", (event) => map.zoom(2, ...place(event)));
  map.over.addEventListener("keydown", (event) => key(map, event));
}

function key(map, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const acts = {
    "+": () => map.zoom(1.4),
    "=": () => map.zoom(1.4),
    "-": () => map.zoom(1 / 1.4),
    0: () => map.fit(),
    ArrowLeft: () => map.pan(50, 0),
    ArrowRight: () => map.pan(-50, 0),
    ArrowUp: () => map.pan(0, 50),
    ArrowDown: () => map.pan(0, -50),
    ".": () => map.chooseRoute(((map.chosen?.route ?? -1) + 1) % Math.max(1, map.paths.length)),
    ",": () => map.chooseRoute(((map.chosen?.route ?? 0) - 1 + map.paths.length) % Math.max(1, map.paths.length)),
    Escape: () => map.choose(null),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  acts[event.key]();
}
