// The choices on the left: which instance, how long, with what.

import { find, make, toast, write } from "./dom.js";
import { number, plural } from "./format.js";

const BINARY = /\.(xlsx|xls|ods)$/i;
const SHEET = /\.(csv|tsv)$/i;
const field = (name) => find(`#${name}`);

export class Form {
  /** `start` is given a list of specifications to run beside each other. */
  constructor(about, start) {
    this.about = about;
    this.dropped = null;
    this.fill();
    field("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(start, [field("selector").value]);
    });
    field("compare").addEventListener("click", () => {
      if (field("form").reportValidity()) this.send(start, [field("selector").value, field("rival").value]);
    });
    field("file").addEventListener("change", () => {
      const [file] = field("file").files;
      if (file) this.open(file);
    });
    field("instance").addEventListener("change", () => this.forget());
    this.dropzones();
  }

  fill() {
    const { about } = this;
    const option = (value, text = value) => make("option", { value }, text);
    const groups = new Map();
    for (const each of about.instances) {
      const variant = (each.variant ?? "").replace(/^[\d,]+ customers?( with )?/, "") || "capacity";
      if (!groups.has(variant)) groups.set(variant, []);
      groups.get(variant).push(option(each.name, `${each.name} (${number(each.customers)})`));
    }
    field("instance").replaceChildren(
      ...[...groups].map(([label, options]) => make("optgroup", { label }, ...options)),
    );
    if (about.instances.some(({ name }) => name === "X-n110-k13")) field("instance").value = "X-n110-k13";
    field("selector").replaceChildren(...about.selectors.map((name) => option(name)));
    field("rival").replaceChildren(...about.selectors.map((name) => option(name)));
    field("rival").selectedIndex = Math.min(1, about.selectors.length - 1);
    field("objective").replaceChildren(...about.objectives.map((name) => option(name)));
    field("portfolio").replaceChildren(option("", "those for the instance"), ...(about.portfolios ?? []).map((name) => option(name)));
    const { limits = {} } = about;
    if (limits.seconds) field("time").max = limits.seconds;
    if (limits.workers) field("workers").max = limits.workers;
    field("workers").closest("label").hidden = limits.workers === 1;
  }

  dropzones() {
    const veil = field("veil");
    let depth = 0;
    const holdsFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const show = (shown) => {
      veil.hidden = !shown;
      if (!shown) depth = 0;
    };
    document.addEventListener("dragenter", (event) => {
      if (!holdsFile(event)) return;
      event.preventDefault();
      depth += 1;
      show(true);
    });
    document.addEventListener("dragleave", () => {
      depth -= 1;
      if (depth <= 0) show(false);
    });
    document.addEventListener("dragover", (event) => holdsFile(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      if (!holdsFile(event)) return;
      event.preventDefault();
      show(false);
      const [file] = event.dataTransfer.files;
      if (file) this.open(file);
    });
  }

  /** Read a file; what its text means is the server's to say. */
  async open(file) {
    const limit = this.about.limits?.bytes;
    if (limit && file.size > limit) {
      return this.problem(`${file.name} has ${number(file.size)} bytes; this server takes ${number(limit)}.`);
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    this.dropped = BINARY.test(file.name) ? { file: file.name, base64: base64(bytes) } : { file: file.name, text: decode(bytes) };
    return this.showDropped(`${plural(file.size, "byte")}, ready to start`);
  }

  showDropped(note) {
    write(field("drop-title"), this.dropped.file);
    write(field("drop-note"), note);
    field("drop").classList.add("full");
    field("sheet").hidden = !SHEET.test(this.dropped.file);
    this.problem(null);
    field("start").focus();
  }

  forget() {
    this.dropped = null;
    field("file").value = "";
    field("drop").classList.remove("full");
    field("sheet").hidden = true;
    write(field("drop-title"), "Drop a file here");
    write(field("drop-note"), "or choose one: VRPLIB, Solomon, Li and Lim, JSON, VROOM's JSON, CSV");
  }

  get instance() {
    if (!this.dropped) return { name: field("instance").value };
    const said = (name) => (SHEET.test(this.dropped.file) && field(name).value ? { [name]: Number(field(name).value) } : {});
    return { ...this.dropped, ...said("capacity"), ...said("vehicles") };
  }

  options(selector) {
    const options = { time: Number(field("time").value), seed: Number(field("seed").value), selector, objective: field("objective").value };
    options.workers = Number(field("workers").value);
    if (field("portfolio").value) options.portfolio = field("portfolio").value;
    if (field("slow").checked) options.slow = true;
    if (field("leave").checked) options.stop_with_client = true;
    return options;
  }

  async send(start, selectors) {
    this.problem(null);
    const buttons = [field("start"), field("compare")];
    buttons.forEach((button) => (button.disabled = true));
    try {
      await start(selectors.map((selector) => ({ instance: this.instance, options: this.options(selector) })));
    } catch (problem) {
      this.problem(problem.wait ? `${problem.message} Try again in ${problem.wait} s.` : problem.message);
    } finally {
      buttons.forEach((button) => (button.disabled = false));
    }
  }

  /** Fill in what a link says; starting stays a click. */
  take({ instance, options = {} }) {
    if (instance?.name) {
      this.forget();
      field("instance").value = instance.name;
      if (field("instance").value !== instance.name) this.problem(`There is no bundled instance ${instance.name}.`);
    } else if (instance?.file) {
      this.dropped = instance;
      this.showDropped("from the link, ready to start");
    }
    for (const name of ["time", "seed", "selector", "objective", "workers", "portfolio"]) {
      if (options[name] !== undefined) field(name).value = options[name];
    }
    field("slow").checked = Boolean(options.slow);
    toast("The choices are those of the link. Start runs it again.");
    field("start").focus();
  }

  problem(sentence) {
    field("form-problem").hidden = !sentence;
    write(field("form-problem"), sentence ?? "");
  }
}

function decode(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function base64(bytes) {
  let text = "";
  for (let place = 0; place < bytes.length; place += 32768) text += String.fromCharCode(...bytes.subarray(place, place + 32768));
  return btoa(text);
}
