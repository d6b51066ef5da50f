// Go through the improvements of a run, by hand or as a film.

import { make, toast, write } from "./dom.js";
import { number, plural, seconds } from "./format.js";

const FRAME = 180;

export class Scrubber {
  constructor(run) {
    this.run = run;
    this.slider = make("input", { type: "range", min: 0, max: 0, value: 0, aria: { label: "Improvement" }, oninput: () => this.go(Number(this.slider.value)) });
    this.play = make("button", { type: "button", className: "quiet play", title: "Play the improvements", aria: { label: "Play the improvements" }, onclick: () => this.toggle() }, "▶");
    this.told = make("output", { className: "note" });
    this.element = make("div", { className: "scrubber" }, this.play, this.slider, this.told);
    this.update();
  }

  get last() {
    return this.run.improvements.length - 1;
  }

  update() {
    const { run, last } = this;
    this.element.hidden = last < 0;
    this.slider.max = Math.max(0, last);
    if (!run.shown) this.slider.value = Math.max(0, last);
    const seen = run.shown ?? run.improvements[last];
    if (!seen) return;
    const place = run.shown ? run.shown.place : last;
    write(this.told, `${place + 1} of ${plural(last + 1, "improvement")}: ${number(seen.cost)} after ${seconds(seen.time)}`);
    this.slider.setAttribute("aria-valuetext", this.told.textContent);
  }

  async go(place) {
    const wanted = Math.max(0, Math.min(this.last, place));
    this.slider.value = wanted;
    try {
      await this.run.look(wanted >= this.last ? null : wanted);
    } catch (problem) {
      toast(problem.message, true);
      this.halt();
    }
  }

  step(by) {
    return this.go(Number(this.slider.value) + by);
  }

  toggle() {
    if (this.timer) return this.halt();
    write(this.play, "❚❚");
    let place = Number(this.slider.value) >= this.last ? -1 : Number(this.slider.value);
    this.timer = setInterval(() => {
      place += 1;
      if (place > this.last) this.halt();
      else this.go(place);
    }, FRAME);
    return undefined;
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
    write(this.play, "▶");
  }
}
