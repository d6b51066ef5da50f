// Okabe and Ito's colours, told apart with all kinds of colour vision; dashes tell apart what shares a colour.

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#B85C93", "#2F9BD6", "#C98500", "#6B6B6B", "#8F8400"];
const DARK = ["#4DA8E0", "#F0803C", "#2CC79B", "#E29CC4", "#8FD0F5", "#F2B035", "#B4B4B4", "#DDD04A"];

export const DASHES = [[], [7, 3], [2, 3]];

const scheme = window.matchMedia("(prefers-color-scheme: dark)");

export const colours = () => (scheme.matches ? DARK : LIGHT);

export const colourOf = (slot) => colours()[slot % LIGHT.length];

export const dashOf = (slot) => DASHES[Math.floor(slot / LIGHT.length) % DASHES.length];

/** Call back when light becomes dark or dark light. */
export const onScheme = (call) => scheme.addEventListener("change", call);

/** A colour of the style sheet by the name of its variable. */
export const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
