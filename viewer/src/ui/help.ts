// The help panel, and the shortcuts themselves: one table makes both.
import type { App, Tool } from "../app.ts";
import type { Hand } from "../hand.ts";
import { h, icon } from "./dom.ts";

export interface Shortcut {
  keys: string[];
  /** As written in the help; by default the keys. */
  shown?: string;
  what: string;
  run: (event: KeyboardEvent) => void;
}

export interface PageActions {
  toggleTheme(): void;
  toggleHelp(): void;
  savePicture(): void;
  saveState(): void;
  chooseState(): void;
  copyLink(): void;
}

const TURN = 0.08;
const NUDGE = 0.05;

export function shortcuts(app: App, hand: Hand, page: PageActions, choose: (tool: Tool) => void): Shortcut[] {
  const arrow = (right: number, up: number) => (event: KeyboardEvent) => {
    if (hand.held) hand.nudge(NUDGE * right, NUDGE * up, 0);
    else if (event.shiftKey) app.world.orbit.pan(-0.05 * right, -0.05 * up);
    else app.world.orbit.orbit(TURN * right, TURN * up);
  };
  const solverKeys = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  return [
    { keys: [" "], shown: "Space", what: "play or pause", run: () => app.togglePlay() },
    { keys: ["."], what: "one step", run: () => app.step() },
    { keys: ["r"], what: "reset to the start", run: () => app.reset() },
    { keys: ["["], what: "slower", run: () => app.changeSpeed(-1) },
    { keys: ["]"], what: "faster; beyond the last notch, as fast as possible", run: () => app.changeSpeed(1) },
    {
      keys: [...solverKeys, ...solverKeys.map((key) => `Shift+${key}`)],
      shown: "1 … 9",
      what: "a solver, in the order of the list; with Shift for view B",
      run: (event) => {
        const digit = /^Digit([1-9])$/.exec(event.code)?.[1] ?? event.key;
        const solver = app.session.hello?.solvers[Number(digit) - 1];
        if (solver && app.session.can("solver")) app.setSolver(event.shiftKey ? 1 : 0, solver.name);
      },
    },
    { keys: ["c"], what: "compare two solvers", run: () => app.session.can("compare") && app.setCompare(!app.session.play?.compare) },
    { keys: ["v"], what: "colour by the next field", run: () => app.nextColour() },
    { keys: ["w"], what: "wireframe", run: () => app.setWireframe(!app.wireframe) },
    { keys: ["x"], what: "section plane", run: () => app.setClip(app.clip ? null : { axis: 0, at: 0.5, flipped: false }) },
    { keys: ["g"], what: "grab with the keyboard: arrows and Page Up/Down pull, g lets go", run: () => hand.grabByKeyboard() },
    { keys: ["h"], what: "tool: grab", run: () => choose("grab") },
    { keys: ["n"], what: "tool: pin", run: () => choose("pin") },
    { keys: ["k"], what: "tool: cut", run: () => choose("cut") },
    { keys: ["ArrowLeft"], shown: "← → ↑ ↓", what: "turn the view; with Shift move it", run: arrow(-1, 0) },
    { keys: ["ArrowRight"], shown: "", what: "", run: arrow(1, 0) },
    { keys: ["ArrowUp"], shown: "", what: "", run: arrow(0, 1) },
    { keys: ["ArrowDown"], shown: "", what: "", run: arrow(0, -1) },
    { keys: ["PageUp"], shown: "", what: "", run: () => hand.nudge(0, 0, NUDGE) },
    { keys: ["PageDown"], shown: "", what: "", run: () => hand.nudge(0, 0, -NUDGE) },
    { keys: ["+", "="], shown: "+ −", what: "zoom", run: () => app.world.orbit.zoom(0.9) },
    { keys: ["-"], shown: "", what: "", run: () => app.world.orbit.zoom(1 / 0.9) },
    { keys: ["f"], what: "show the whole scene", run: () => app.frameCamera() },
    { keys: ["p"], what: "plots", run: () => app.togglePlots() },
    { keys: ["s"], what: "save a picture", run: () => page.savePicture() },
    { keys: ["d"], what: "save the state", run: () => page.saveState() },
    { keys: ["o"], what: "load a state", run: () => page.chooseState() },
    { keys: ["l"], what: "copy a link to this view", run: () => page.copyLink() },
    { keys: ["t"], what: "light or dark", run: () => page.toggleTheme() },
    { keys: ["?"], what: "this help", run: () => page.toggleHelp() },
    { keys: ["Escape"], shown: "", what: "", run: () => hand.release() },
  ];
}

const MOUSE: [string, string][] = [
  ["drag a body", "grab it and pull"],
  ["drag beside it", "turn the view"],
  ["right or middle drag", "move the view"],
  ["wheel", "zoom"],
  ["Shift-click", "pin a spot, or release a pinned one"],
  ["Alt-drag", "cut along the line"],
];

export class HelpPanel {
  readonly element: HTMLDialogElement;

  constructor(list: Shortcut[]) {
    const row = (keys: string, what: string) => h("div", { class: "help-row" }, h("dt", {}, ...keys.split("  ").map((key) => h("kbd", {}, key))), h("dd", {}, what));
    const close = h("button", { type: "button", class: "icon-button", "aria-label": "Close", onclick: () => this.element.close() }, icon("close"));
    const shown = list.filter((shortcut) => shortcut.what !== "");
    this.element = h(
      "dialog",
      { class: "help", "aria-labelledby": "help-title" },
      h("header", {}, h("h2", { id: "help-title" }, "Mouse and keys"), close),
      h("dl", {}, ...MOUSE.map(([keys, what]) => row(keys, what))),
      h("dl", { class: "columns" }, ...shown.map((shortcut) => row(shortcut.shown ?? shortcut.keys.join("  "), shortcut.what))),
    );
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}

/** Keys go to a shortcut unless the control that has the focus wants them itself. */
export function listenForKeys(list: Shortcut[]): void {
  const byKey = new Map(list.flatMap((shortcut) => shortcut.keys.map((key) => [key, shortcut] as const)));
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const digit = event.shiftKey ? /^Digit([1-9])$/.exec(event.code)?.[1] : undefined;
    const shortcut = byKey.get(digit ? `Shift+${digit}` : event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!shortcut || wantsKey(document.activeElement, event.key)) return;
    event.preventDefault();
    shortcut.run(event);
  });
}

function wantsKey(element: Element | null, key: string): boolean {
  if (element instanceof HTMLInputElement) {
    if (element.type === "range") return key.startsWith("Arrow") || key.startsWith("Page") || key === "Home" || key === "End";
    if (element.type === "checkbox") return key === " ";
    return key !== "Escape";
  }
  if (element instanceof HTMLSelectElement) return key !== "Escape" && key !== "?";
  if (element instanceof HTMLButtonElement || element?.tagName === "SUMMARY" || element instanceof HTMLAnchorElement) return key === " " || key === "Enter";
  return false;
}
