// The page: puts its parts together, and answers keys.

import { ask, connection, onTokenWanted } from "./api.js";
import { Comparison } from "./comparison.js";
import { find, make, toast, write } from "./dom.js";
import { Episode } from "./episode.js";
import { Form } from "./form.js";
import { number } from "./format.js";
import { Pane } from "./pane.js";
import { Run } from "./run.js";

const KEYS = [
  ["S", "start"], ["C", "compare two selectors"], ["Space", "pause, or go on"], ["X", "stop and keep the best so far"],
  ["W", "iteration by iteration, or at full speed"], ["M, T, R", "map, timetable, routes"], ["[ and ]", "improvement before and after"], ["L", "copy the link of the run"],
  ["E", "episode, or back"], ["+, −, 0", "on the map or timetable: zoom, show all"], ["arrow keys", "on the map or timetable: move"],
  [", and .", "on the map: from route to route"], ["?", "these keys"],
];

const runs = new Map();
const panes = new Map();
let shown = [];
let about;
let form;
let episode;
const comparison = new Comparison();

onTokenWanted(
  (wasWrong) =>
    new Promise((resolve) => {
      const dialog = find("#token");
      find("#token-problem").hidden = !wasWrong;
      find("#token-text").value = dialog.returnValue = "";
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "given" ? find("#token-text").value.trim() : null), { once: true });
      dialog.showModal();
    }),
);

/** Start runs, and show them beside each other. */
async function start(specs) {
  const started = [];
  try {
    for (const spec of specs) {
      const job = await ask("/jobs", { method: "POST", body: spec, timeout: 120000 });
      started.push(add(job.id, spec));
    }
  } finally {
    if (started.length) {
      show(started);
      if (window.matchMedia("(max-width: 820px)").matches) find("#stage").scrollIntoView({ behavior: "smooth" });
    }
  }
}

function add(id, spec = null) {
  if (runs.has(id)) return runs.get(id);
  const run = new Run(id, spec);
  runs.set(id, run);
  run.listen((kind) => ["state", "best", "instance"].includes(kind) && listRuns());
  remember();
  listRuns();
  return run;
}

/** Ids of this page's runs outlive a reload, with what is needed for their links. */
function remember() {
  const kept = [...runs.values()].map(({ id, spec }) => [id, JSON.stringify(spec ?? null).length < 100000 ? spec : null]);
  try {
    sessionStorage.setItem("runs", JSON.stringify(kept));
  } catch {
    sessionStorage.removeItem("runs");
  }
}

const acts = {
  async goOn(run, time) {
    if (!(time > 0)) return toast("Say for how many seconds.", true);
    try {
      const job = await run.order("continue", { time });
      return show([add(job.id)]);
    } catch (problem) {
      return toast(problem.message, true);
    }
  },
  async link(run) {
    run.spec ??= about.instances.some(({ name }) => name === run.name) ? { instance: { name: run.name }, options: run.options } : null;
    if (!run.link) return toast("This run's file is too long for a link.", true);
    const address = new URL(run.link, location.href).href;
    history.replaceState(null, "", run.link);
    try {
      await navigator.clipboard.writeText(address);
      return toast("The link is copied.");
    } catch {
      return toast("The link is in the address bar.");
    }
  },
  async close(run) {
    runs.delete(run.id);
    panes.get(run.id)?.dispose();
    panes.delete(run.id);
    show(shown.filter((each) => each !== run));
    remember();
    listRuns();
    await run.close();
  },
};

function show(wanted) {
  shown = wanted;
  const stage = find("#stage");
  for (const [id, pane] of panes) {
    if (!wanted.some((run) => run.id === id)) {
      pane.dispose();
      panes.delete(id);
    }
  }
  for (const run of wanted) if (!panes.has(run.id)) panes.set(run.id, new Pane(run, acts, about));
  const beside = wanted.length > 1;
  stage.classList.toggle("several", beside);
  const row = make("div", { className: "panes" }, ...wanted.map((run) => panes.get(run.id).element));
  row.dataset.count = wanted.length;
  stage.replaceChildren(...(wanted.length ? [] : [welcome]), ...(beside ? [comparison.element] : []), row);
  comparison.set(beside ? wanted : []);
  moveTogether();
  for (const run of wanted) panes.get(run.id).heard("best");
  listRuns();
}

/** Maps of the same instance show the same part of it. */
function moveTogether() {
  const maps = shown.map((run) => panes.get(run.id).map);
  for (const [place, map] of maps.entries()) {
    const same = maps.filter((_, other) => other !== place && shown[other].name === shown[place].name);
    map.kin = place > 0 ? same[0] : null;
    map.moved = () => same.forEach((other) => other.width === map.width && other.view && other.follow(map));
  }
}

function listRuns() {
  const list = find("#runs");
  find("#no-runs").hidden = runs.size > 0;
  const rows = [...runs.values()].reverse().map((run) => {
    const row = (run.row ??= runRow(run));
    row.dot.dataset.state = run.state;
    row.dot.title = run.state;
    write(row.name, run.name || "…");
    write(row.told, `${run.selector}, seed ${run.options.seed ?? 0}`);
    write(row.cost, run.best ? number(run.best.cost) : "");
    row.beside.checked = shown.includes(run);
    row.element.classList.toggle("shown", shown.includes(run));
    return row.element;
  });
  if (rows.length !== list.children.length || rows.some((row, place) => list.children[place] !== row)) list.replaceChildren(...rows);
}

function runRow(run) {
  const row = { dot: make("i", { className: "dot" }), name: make("b"), told: make("span", { className: "note" }), cost: make("span", { className: "cost" }) };
  row.beside = make("input", {
    type: "checkbox",
    title: "Show beside the others",
    aria: { label: "Show beside the others" },
    onchange: () => show(row.beside.checked ? [...shown, run] : shown.filter((each) => each !== run)),
  });
  const open = make("button", { type: "button", className: "run", onclick: () => show([run]) }, row.dot, make("span", { className: "run-text" }, row.name, row.told), row.cost);
  row.element = make("li", {}, row.beside, open);
  return row;
}

function openPart(name) {
  for (const part of ["solve", "episode"]) find(`#${part}`).hidden = part !== name;
  for (const button of document.querySelectorAll("[data-part]")) {
    if (button.dataset.part === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  if (name === "episode") episode ??= new Episode(about);
}

function watchConnection() {
  const banner = find("#banner");
  let wasLost = false;
  setInterval(() => connection.lost && wasLost && tell(), 500);
  const tell = () => {
    const wait = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
    write(find("#banner-text"), `The connection to the server is lost. Trying again${wait ? ` in ${wait} s` : " now"}.`);
  };
  connection.listeners.add(({ lost }) => {
    if (lost) tell();
    else if (wasLost) toast("Connected again.");
    banner.hidden = !lost;
    wasLost = lost;
  });
  find("#banner-retry").addEventListener("click", () => connection.try());
}

function answerKeys() {
  find("#keys-list").append(...KEYS.map(([key, what]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, what))));
  find("#help").addEventListener("click", () => find("#keys").showModal());
  const first = () => (shown.length ? panes.get(shown[0].id) : null);
  const every = (act) => shown.forEach((run) => act(panes.get(run.id)));
  const keys = {
    s: () => find("#form").requestSubmit(find("#start")),
    c: () => find("#compare").click(),
    " ": () => every((pane) => pane.pause.hidden || pane.togglePause()),
    x: () => every((pane) => pane.stop.hidden || pane.order("stop")),
    w: () => every((pane) => pane.pace.hidden || pane.togglePace()),
    m: () => every((pane) => pane.views.open("map")),
    t: () => every((pane) => pane.views.open("timetable")),
    r: () => every((pane) => pane.views.open("routes")),
    "[": () => first()?.scrubber.step(-1),
    "]": () => first()?.scrubber.step(1),
    l: () => shown.length && acts.link(shown[0]),
    e: () => openPart(find("#episode").hidden ? "episode" : "solve"),
    "?": () => find("#keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    const typing = event.target.closest("input, select, textarea, dialog[open]");
    const pressing = event.key === " " && event.target.closest("button, summary, a");
    if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
}

function readLink() {
  if (!location.hash.startsWith("#run=")) return;
  try {
    form.take(JSON.parse(decodeURIComponent(location.hash.slice(5))));
  } catch {
    toast("The link is damaged.", true);
  }
}

const welcome = find("#welcome");

async function begin() {
  watchConnection();
  answerKeys();
  try {
    about = await ask("/api/about");
  } catch (problem) {
    toast(problem.message, true);
    connection.wake.add(begin.again);
    return;
  }
  connection.wake.delete(begin.again);
  write(find("#version"), `version ${about.version}`);
  form = new Form(about, start);
  for (const button of document.querySelectorAll("[data-part]")) button.addEventListener("click", () => openPart(button.dataset.part));
  window.addEventListener("hashchange", readLink);
  const kept = JSON.parse(sessionStorage.getItem("runs") ?? "[]").map(([id, spec]) => add(id, spec));
  if (kept.length) show([kept.at(-1)]);
  readLink();
  document.documentElement.dataset.ready = "yes";
}
begin.again = () => location.reload();

begin();
