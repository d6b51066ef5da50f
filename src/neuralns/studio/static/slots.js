// Colours that stay: a route keeps the slot of the earlier route with which it shares most customers.

export class Slots {
  constructor() {
    this.ofNode = new Map();
  }

  /** The slot of each route; slots are used from 0 on, each once. */
  assign(routes) {
    const claims = [];
    routes.forEach((route, place) => {
      const votes = new Map();
      for (const node of route) {
        const slot = this.ofNode.get(node);
        if (slot !== undefined) votes.set(slot, (votes.get(slot) ?? 0) + 1);
      }
      for (const [slot, count] of votes) claims.push([count, place, slot]);
    });
    claims.sort((one, other) => other[0] - one[0] || one[1] - other[1]);
    const slots = new Array(routes.length).fill(-1);
    const taken = new Set();
    for (const [, place, slot] of claims) {
      if (slots[place] < 0 && !taken.has(slot)) {
        slots[place] = slot;
        taken.add(slot);
      }
    }
    let free = 0;
    slots.forEach((slot, place) => {
      if (slot >= 0) return;
      while (taken.has(free)) free += 1;
      taken.add(free);
      slots[place] = free;
    });
    this.ofNode.clear();
    routes.forEach((route, place) => route.forEach((node) => this.ofNode.set(node, slots[place])));
    return slots;
  }
}
