// Elements in one line each. Text is always text: nothing the server says is ever read as markup.

type Props = Record<string, unknown>;
export type Child = Node | string | null | undefined | false;

let nextId = 0;
export function uniqueId(prefix: string): string {
  return `${prefix}-${++nextId}`;
}

/** An element with properties (`class`, `onclick`, ...) and attributes (`aria-*`, `for`, `role`), and what is inside. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") (element as unknown as Props)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...(children.filter(Boolean) as (Node | string)[]));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
  step: "M5 4.5v15l9.5-7.5zM16 5h3v14h-3z",
  reset: "M12 5V1.8L6.8 6 12 10.2V7a5.5 5.5 0 1 1-5.5 5.5h-2A7.5 7.5 0 1 0 12 5z",
  hand: "M9 11V5.2a1.3 1.3 0 0 1 2.6 0V10h.6V3.8a1.3 1.3 0 0 1 2.6 0V10h.6V5.4a1.3 1.3 0 0 1 2.6 0v9.1c0 3.6-2.5 6.3-6 6.3-3 0-4.4-1.4-5.8-4L3.9 12.6c-.7-1.3 1-2.6 2.1-1.5L9 14z",
  pin: "M14.8 2.6l6.6 6.6-1.8.6-3.4 3.4.3 4.4-1.6 1.6-4-4-5.6 6-1.5.7.7-1.5 6-5.6-4-4 1.6-1.6 4.4.3 3.4-3.4z",
  cut: "M20.5 3.8L10.9 12l9.6 8.2-1.3 1.3-9.6-7.4-1.2 1a3.4 3.4 0 1 1-1.5-1.6L8.3 12l-1.4-1.5A3.4 3.4 0 1 1 8.4 9l1.2 1 9.6-7.4zM5.4 5.6a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zm0 9.6a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z",
  frame: "M4 4h5v2H6v3H4zM15 4h5v5h-2V6h-3zM4 15h2v3h3v2H4zM18 15h2v5h-5v-2h3z",
  camera: "M8.5 5.5L10 3.5h4l1.5 2H20v14H4v-14zM12 8.2a4.3 4.3 0 1 0 0 8.6 4.3 4.3 0 0 0 0-8.6zm0 1.9a2.4 2.4 0 1 1 0 4.8 2.4 2.4 0 0 1 0-4.8z",
  link: "M10.6 13.4a1 1 0 0 0 1.4 0l4.6-4.6a2.3 2.3 0 0 0-3.3-3.3l-1.6 1.6-1.4-1.4L12 4.1a4.3 4.3 0 0 1 6 6l-4.6 4.7a3 3 0 0 1-4.2 0zm2.8-2.8a1 1 0 0 0-1.4 0l-4.6 4.6a2.3 2.3 0 0 0 3.3 3.3l1.6-1.6 1.4 1.4-1.6 1.6a4.3 4.3 0 0 1-6-6l4.5-4.7a3 3 0 0 1 4.2 0z",
  save: "M11 3h2v9.2l3.3-3.3 1.4 1.4L12 16l-5.7-5.7 1.4-1.4L11 12.2zM4 18h16v2H4z",
  open: "M11 16h2V6.8l3.3 3.3 1.4-1.4L12 3 6.3 8.7l1.4 1.4L11 6.8zM4 18h16v2H4z",
  theme: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z",
  help: "M11 16.5h2v2h-2zM12 5.5c-2.3 0-4 1.5-4 3.7h2c0-1.1.8-1.8 2-1.8s2 .7 2 1.7c0 .9-.5 1.4-1.5 2.1-1.1.8-1.6 1.6-1.6 3v.6h2v-.4c0-.8.4-1.2 1.4-1.9 1.1-.8 1.8-1.8 1.8-3.3 0-2.2-1.8-3.7-4.1-3.7z",
  compare: "M3.5 4.5h7.5v15H3.5zM13 4.5h7.5v15H13zM15 6.5v11h3.5v-11z",
  close: "M6.4 5L12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4L12 13.4 6.4 19 5 17.6l5.6-5.6L5 6.4z",
} as const;
export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

export function setIcon(button: HTMLElement, name: IconName): void {
  button.querySelector("svg")?.replaceWith(icon(name));
}

export function iconButton(name: IconName, label: string, shortcut: string, onclick: () => void): HTMLButtonElement {
  const title = shortcut ? `${label} (${shortcut})` : label;
  return h("button", { class: "icon-button", type: "button", "aria-label": label, title, onclick }, icon(name));
}
