// An episode of operator selection, step by step: the solution, what was removed, and the Q-values beside the choice.

import { ask } from "./api.js";
import { announce, find, make, write } from "./dom.js";
import { number, plural } from "./format.js";
import { RouteMap } from "./map.js";

const FRAME = 1400;

export class Episode {
  constructor(about) {
    this.about = about;
    this.frames = [];
    this.place = 0;
    this.build();
  }

  build() {
    const { about } = this;
    const option = (value) => make("option", { value }, value);
    const names = about.episodes ?? about.instances.map(({ name }) => name);
    this.policy = make("select", { id: "policy" }, ...(about.policies ?? []).map(option));
    this.instance = make("select", { id: "episode-instance" }, ...names.map(option));
    const suit = () => {
      const own = this.policy.value.split("-")[0];
      if (names.includes(own)) this.instance.value = own;
      else if (names.includes("R101")) this.instance.value = "R101";
    };
    this.policy.addEventListener("change", suit);
    suit();
    this.seed = make("input", { type: "number", id: "episode-seed", min: 0, step: 1, value: 0 });
    this.problem = make("p", { className: "problem", role: "alert", hidden: true });
    const label = (text, input) => make("label", { className: "field" }, text, input);
    this.go = make("button", { type: "submit", className: "primary" }, "Play the episode");
    const form = make(
      "form",
      { className: "episode-form", onsubmit: (event) => (event.preventDefault(), this.load()) },
      label("Policy", this.policy), label("Instance", this.instance), label("Seed", this.seed), this.go,
    );
    this.map = new RouteMap("The solution of this state");
    const button = (text, title, by) => make("button", { type: "button", title, aria: { label: title }, onclick: () => (this.halt(), this.show(this.place + by)) }, text);
    this.slider = make("input", { type: "range", min: 0, max: 0, value: 0, aria: { label: "State of the episode" }, oninput: () => (this.halt(), this.show(Number(this.slider.value))) });
    this.playing = make("button", { type: "button", title: "Play", aria: { label: "Play" }, onclick: () => this.toggle() }, "▶");
    this.title = make("h3", {});
    this.told = make("p", { className: "note" });
    this.destroy = new Values("Destroy operators");
    this.repair = new Values("Repair operators");
    this.trail = make("ol", { className: "trail" });
    this.content = make(
      "div",
      { className: "episode-body", hidden: true },
      make(
        "section",
        { className: "view" },
        make("div", { className: "view-map" }, this.map.element),
        make("div", { className: "scrubber" }, this.playing, button("‹", "Previous state", -1), this.slider, button("›", "Next state", 1)),
        this.trail,
      ),
      make("section", { className: "side" }, this.title, this.told, this.destroy.element, this.repair.element),
    );
    const intro = make(
      "p",
      { className: "note intro" },
      "Choosing operators as a decision process: in every step a policy looks at the solution, values each destroy operator by its Q-value and takes one; then it looks at the destroyed solution and does the same for repair. The reward, at the end, is by how much the routes became shorter. Policies were trained on 20 customers, so the first 20 of an instance are taken.",
    );
    find("#episode").append(make("h2", {}, "An episode, step by step"), intro, form, this.problem, this.content);
  }

  async load() {
    this.problem.hidden = true;
    this.go.disabled = true;
    write(this.go, "Playing …");
    try {
      const query = new URLSearchParams({ policy: this.policy.value, instance: this.instance.value, seed: this.seed.value });
      this.set(await ask(`/episodes?${query}`, { timeout: 180000 }));
    } catch (problem) {
      this.problem.hidden = false;
      write(this.problem, problem.message);
    } finally {
      this.go.disabled = false;
      write(this.go, "Play the episode");
    }
  }

  set(episode) {
    this.episode = episode;
    this.frames = [];
    episode.steps.forEach((step, number) => {
      const removed = new Set(step.removed);
      const left = step.before.map((route) => route.filter((node) => !removed.has(node))).filter((route) => route.length);
      this.frames.push({ phase: "destroy", step, number, routes: step.before, removed: [], cost: step.cost_before });
      this.frames.push({ phase: "repair", step, number, routes: step.destroyed ?? left, removed: step.removed, cost: null });
    });
    const last = episode.steps.at(-1);
    if (last) this.frames.push({ phase: "end", step: last, number: episode.steps.length, routes: last.after, removed: [], cost: last.cost_after });
    this.content.hidden = false;
    this.slider.max = this.frames.length - 1;
    const told = typeof episode.instance === "object" ? episode.instance : { name: episode.instance, nodes: episode.nodes, depots: [0] };
    this.map.setInstance(told);
    this.map.resize();
    this.trail.replaceChildren(...this.frames.map((frame, place) => this.stone(frame, place)));
    this.show(0);
  }

  /** A state in the trail below the map. */
  stone(frame, place) {
    const text = frame.phase === "destroy" ? frame.step.destroy : frame.phase === "repair" ? frame.step.repair : "end";
    return make("li", {}, make("button", { type: "button", onclick: () => (this.halt(), this.show(place)) }, make("b", {}, `S${place}`), text));
  }

  show(wanted) {
    const place = Math.max(0, Math.min(this.frames.length - 1, wanted));
    const frame = this.frames[place];
    if (!frame) return;
    this.place = place;
    this.slider.value = place;
    this.map.setScene({ routes: frame.routes, vehicles: [], removed: frame.removed, unserved: [] });
    const { step, phase } = frame;
    const titles = {
      destroy: `State S${place}, step ${frame.number + 1}: choose how to destroy`,
      repair: `State S${place}, step ${frame.number + 1}: choose how to repair`,
      end: `State S${place}: the end`,
    };
    const reward = this.episode.reward ?? this.episode.steps.reduce((sum, each) => sum + (each.reward ?? 0), 0);
    const sentences = {
      destroy: `${plural(frame.routes.length, "route")}, cost ${brief5(frame.cost)}. The policy takes ${step.destroy}.`,
      repair: `${step.destroy} removed ${plural(step.removed.length, "customer")}. The policy takes ${step.repair}, which makes the cost ${brief5(step.cost_after)} after ${brief5(step.cost_before)}.`,
      end: `${plural(frame.routes.length, "route")}, cost ${brief5(frame.cost)}. Reward of the episode: ${brief5(reward)}.`,
    };
    write(this.title, titles[phase]);
    write(this.told, sentences[phase]);
    announce(`${titles[phase]}. ${sentences[phase]}`);
    this.destroy.set(step.q?.destroy ?? {}, step.destroy, phase === "destroy");
    this.repair.set(step.q?.repair ?? {}, step.repair, phase === "repair");
    [...this.trail.children].forEach((stone, each) => stone.classList.toggle("now", each === place));
    const stone = this.trail.children[place];
    this.trail.scrollLeft = stone.offsetLeft - this.trail.offsetLeft - (this.trail.clientWidth - stone.offsetWidth) / 2;
  }

  toggle() {
    if (this.timer) return this.halt();
    write(this.playing, "❚❚");
    if (this.place >= this.frames.length - 1) this.show(0);
    this.timer = setInterval(() => {
      this.show(this.place + 1);
      if (this.place >= this.frames.length - 1) this.halt();
    }, FRAME);
    return undefined;
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
    write(this.playing, "▶");
  }
}

/** Q-values of the operators of a phase, bars from the least to the greatest; the choice is marked by word and colour. */
class Values {
  constructor(title) {
    this.body = make("tbody");
    this.element = make("table", { className: "q-values" }, make("caption", {}, title, make("span", { className: "note" }, " Q-value, bars from the least to the greatest")), this.body);
  }

  set(values, chosen, active) {
    this.element.classList.toggle("passive", !active);
    const entries = Object.entries(values);
    const known = entries.map(([, value]) => value).filter((value) => Number.isFinite(value));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const span = high - low || 1;
    this.body.replaceChildren(
      ...entries.map(([name, value]) => {
        const bar = make("i", { className: "bar" });
        if (Number.isFinite(value)) bar.style.width = `${6 + (94 * (value - low)) / span}%`;
        const isChosen = name === chosen;
        return make(
          "tr",
          { className: isChosen ? "chosen" : "" },
          make("th", { scope: "row" }, name, isChosen ? make("span", { className: "chosen-mark" }, " taken") : ""),
          make("td", {}, make("div", { className: "q-bar" }, bar)),
          make("td", { className: "value" }, Number.isFinite(value) ? value.toPrecision(4) : "not known"),
        );
      }),
    );
  }
}

const brief5 = (value) => number(Math.round(value * 100) / 100);
