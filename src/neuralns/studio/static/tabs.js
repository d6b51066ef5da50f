// A row of tabs and their panels; arrow keys go from tab to tab.

import { make, write } from "./dom.js";

let count = 0;

export class Tabs {
  /** `parts` are [name, label, panel]; `changed` is told the name of the tab that is opened. */
  constructor(label, parts, changed = () => {}) {
    this.changed = changed;
    this.parts = new Map();
    this.row = make("div", { className: "tabs", role: "tablist", aria: { label }, onkeydown: (event) => this.key(event) });
    this.panels = make("div", { className: "tab-panels" });
    for (const [name, text, panel] of parts) {
      const id = `tab-${(count += 1)}`;
      const tab = make("button", { type: "button", id, role: "tab", aria: { controls: `${id}-panel` }, data: { tab: name }, onclick: () => this.open(name) }, text);
      panel.id = `${id}-panel`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", id);
      this.row.append(tab);
      this.panels.append(panel);
      this.parts.set(name, { tab, panel });
    }
    this.open(parts[0][0]);
  }

  open(name) {
    if (!this.parts.has(name)) return;
    this.current = name;
    for (const [each, { tab, panel }] of this.parts) {
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      panel.hidden = each !== name;
    }
    this.changed(name);
  }

  label(name, text) {
    write(this.parts.get(name).tab, text);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const names = [...this.parts.keys()];
    const next = names[(names.indexOf(this.current) + step + names.length) % names.length];
    this.open(next);
    this.parts.get(next).tab.focus();
  }
}
