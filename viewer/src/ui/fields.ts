// The controls of the side panel: slider with an exact value and unit, choice, switch. Each has a label, an `onpick` that hears of a
// person's choice, and a `show` for what the server says, which never tears the value from under a hand.
import { h, uniqueId } from "./dom.ts";
import { plain, unitText, type Scale } from "./numbers.ts";

const SETTLE_MS = 700;
const SEND_EVERY_MS = 70;

export interface Field<T> {
  element: HTMLElement;
  show(value: T): void;
  setDisabled(disabled: boolean): void;
}

export interface SliderOptions {
  label: string;
  unit: string;
  hint?: string;
  scale: Scale;
  onpick: (value: number) => void;
  /** A second way to say the value, under the slider. */
  explain?: (value: number) => string;
}

export interface Slider extends Field<number> {
  /** What the number counts, where that depends on another choice. */
  setUnit(unit: string): void;
}

export function slider(options: SliderOptions): Slider {
  const id = uniqueId("slider");
  const send = throttled(options.onpick);
  let touchedAt = -Infinity;
  const range = h("input", { type: "range", id, min: "0", max: "1000", step: "1", title: options.hint ?? "" });
  const exact = h("input", { type: "text", class: "exact", inputmode: "decimal", spellcheck: "false", "aria-label": `${options.label}, exact value` });
  const explain = h("small", { class: "explain" });
  const unitLabel = h("span", { class: "unit" }, unitText(options.unit));
  let unit = options.unit;
  const show = (value: number) => {
    range.value = String(Math.round(options.scale.toWay(value) * 1000));
    range.setAttribute("aria-valuetext", `${plain(value)} ${unit}`);
    range.style.setProperty("--way", `${options.scale.toWay(value) * 100}%`);
    if (document.activeElement !== exact) exact.value = plain(value, 4);
    if (options.explain) explain.textContent = options.explain(value);
  };
  range.addEventListener("input", () => {
    touchedAt = performance.now();
    const value = options.scale.toValue(Number(range.value) / 1000);
    show(value);
    send(value);
  });
  const accept = () => {
    const value = Number(exact.value.trim().replace(",", "."));
    if (exact.value.trim() === "" || !Number.isFinite(value)) {
      exact.setAttribute("aria-invalid", "true");
      return;
    }
    exact.removeAttribute("aria-invalid");
    touchedAt = performance.now();
    show(value);
    options.onpick(value);
  };
  exact.addEventListener("change", accept);
  exact.addEventListener("keydown", (event) => event.key === "Enter" && accept());
  const element = h(
    "div",
    { class: "field" },
    h("div", { class: "field-head" }, h("label", { for: id, title: options.hint ?? "" }, options.label), h("span", { class: "value" }, exact, unitLabel)),
    range,
    options.explain && explain,
  );
  return {
    element,
    show: (value) => {
      if (performance.now() - touchedAt > SETTLE_MS) show(value);
    },
    setDisabled: (disabled) => (range.disabled = exact.disabled = disabled),
    setUnit: (next) => {
      if (next === unit) return;
      unit = next;
      unitLabel.textContent = unitText(next);
    },
  };
}

export interface Choice {
  value: string;
  label: string;
  group?: string;
  /** Why it cannot be chosen; undefined when it can. */
  refusal?: string;
}

export interface SelectOptions {
  label: string;
  hint?: string;
  choices: Choice[];
  onpick: (value: string) => void;
  hideLabel?: boolean;
}

export function select(options: SelectOptions): Field<string> & { setChoices(choices: Choice[]): void; select: HTMLSelectElement } {
  const id = uniqueId("select");
  const list = h("select", { id, title: options.hint ?? "", onchange: () => options.onpick(list.value) });
  let shown = "";
  const setChoices = (choices: Choice[]) => {
    const groups = new Map<string, HTMLElement>();
    list.replaceChildren();
    for (const choice of choices) {
      const option = h("option", { value: choice.value, title: choice.refusal ?? "" }, choice.label);
      option.disabled = choice.refusal !== undefined;
      if (!choice.group) {
        list.append(option);
        continue;
      }
      let group = groups.get(choice.group);
      if (!group) {
        group = h("optgroup", { label: choice.group });
        groups.set(choice.group, group);
        list.append(group);
      }
      group.append(option);
    }
    list.value = shown;
  };
  setChoices(options.choices);
  const label = h("label", { for: id, class: options.hideLabel ? "sr-only" : "", title: options.hint ?? "" }, options.label);
  return {
    element: h("div", { class: "field field-select" }, label, list),
    select: list,
    setChoices,
    show: (value) => {
      shown = value;
      if (list.value !== value) list.value = value;
    },
    setDisabled: (disabled) => (list.disabled = disabled),
  };
}

export function toggle(label: string, hint: string, onpick: (on: boolean) => void): Field<boolean> {
  const id = uniqueId("toggle");
  const box = h("input", { type: "checkbox", role: "switch", id, title: hint, onchange: () => onpick(box.checked) });
  return {
    element: h("div", { class: "field field-toggle" }, h("label", { for: id, title: hint }, label), box),
    show: (on) => (box.checked = on),
    setDisabled: (disabled) => (box.disabled = disabled),
  };
}

export function textField(label: string, hint: string, onpick: (text: string) => void): Field<string> {
  const id = uniqueId("text");
  const input = h("input", { type: "text", id, title: hint, spellcheck: "false", onchange: () => onpick(input.value) });
  return {
    element: h("div", { class: "field field-select" }, h("label", { for: id, title: hint }, label), input),
    show: (value) => {
      if (document.activeElement !== input) input.value = value;
    },
    setDisabled: (disabled) => (input.disabled = disabled),
  };
}

/** At once, then at most every 70 ms; the last value always gets through. */
function throttled(send: (value: number) => void): (value: number) => void {
  let last = -Infinity;
  let timer = 0;
  return (value) => {
    clearTimeout(timer);
    const wait = last + SEND_EVERY_MS - performance.now();
    const go = () => {
      last = performance.now();
      send(value);
    };
    if (wait <= 0) go();
    else timer = window.setTimeout(go, wait);
  };
}
