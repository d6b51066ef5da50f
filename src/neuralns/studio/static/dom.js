// Elements are made here, and texts only ever become text: nothing from a file is parsed as markup.

/** Make an element: properties, `on…` listeners, `data`, `aria` and children (nodes or texts). */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "aria") for (const key of Object.keys(value)) element.setAttribute(`aria-${key}`, value[key]);
    else if (name in element && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const find = (selector, root = document) => root.querySelector(selector);

/** Write a text only where it differs, so that nothing is laid out again for nothing. */
export function write(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** A pair of term and description for lists of facts. */
export const fact = (term, text) => [make("dt", {}, term), make("dd", {}, String(text))];

let speaker;

/** Tell screen readers what has happened. */
export function announce(text) {
  speaker ??= find("#announcer");
  write(speaker, text);
}

let toastTimer;

/** Show a short notice at the foot of the page. */
export function toast(text, bad = false) {
  const place = find("#toast");
  write(place, text);
  place.classList.toggle("bad", bad);
  place.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (place.hidden = true), bad ? 8000 : 3500);
}

/** Call a function at most once for each frame that the browser draws. */
export function perFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Fit a canvas to its box in the pixels of the screen; tell its size in CSS pixels. */
export function fitCanvas(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  return ratio;
}
