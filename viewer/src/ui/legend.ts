// The colour bar: what the colours on the bodies mean, with units.
import type { ColourField } from "../data/protocol.ts";
import { colourTable, type MapName } from "../view/colours.ts";
import { h } from "./dom.ts";
import { withUnit } from "./numbers.ts";

const TITLES: Record<string, string> = { stress: "Stress", stretch: "Stretch", speed: "Speed", error: "Error", refreshed: "Refreshed in this step" };

export function fieldTitle(name: string): string {
  return TITLES[name] ?? name;
}

export class Legend {
  readonly element: HTMLElement;
  private readonly title = h("strong");
  private readonly summary = h("span", { class: "legend-summary" });
  private readonly bar = h("canvas", { class: "legend-bar", width: "256", height: "1", "aria-hidden": "true" });
  private readonly ticks = [h("span"), h("span"), h("span")];
  private readonly scale = h("div", { class: "legend-ticks" }, ...this.ticks);
  private readonly note = h("p", { class: "legend-note", hidden: true });
  private map: MapName | null = null;
  private field: ColourField | null = null;

  constructor() {
    this.element = h("div", { class: "legend", hidden: true }, h("div", { class: "legend-head" }, this.title, this.summary), this.bar, this.scale, this.note);
  }

  /** Of so many bodies, some have no values of the field. */
  setField(field: ColourField | null, map: MapName, without: number, bodies: number): void {
    this.field = field;
    this.element.hidden = field === null;
    if (!field) return;
    this.title.textContent = fieldTitle(field.name);
    this.summary.textContent = field.summary && field.summary !== fieldTitle(field.name).toLowerCase() ? field.summary : "";
    const none = without > 0 && without === bodies;
    this.bar.hidden = this.scale.hidden = none;
    this.note.hidden = without === 0;
    this.note.textContent = none ? `Nothing here has a ${field.name}: cloth, springs and rigid bodies have none.` : "Bodies drawn plain have none.";
    if (map === this.map) return;
    this.map = map;
    const g = this.bar.getContext("2d")!;
    const image = g.createImageData(256, 1);
    image.data.set(colourTable(map));
    g.putImageData(image, 0, 0);
  }

  setRange(low: number, high: number): void {
    if (!this.field) return;
    const { name, unit } = this.field;
    const texts = name === "refreshed" ? ["kept", "", "refreshed"] : [low, 0.5 * (low + high), high].map((value) => withUnit(value, unit));
    this.ticks.forEach((tick, i) => (tick.textContent = texts[i]!));
  }

  /** For pictures: the same bar, drawn on a canvas at its upper left. */
  drawOn(g: CanvasRenderingContext2D, x: number, y: number, colour: string): void {
    if (!this.field) return;
    g.fillStyle = colour;
    g.textAlign = "left";
    g.font = "600 13px system-ui, sans-serif";
    g.fillText(this.title.textContent ?? "", x, y + 12);
    g.drawImage(this.bar, x, y + 20, 220, 10);
    g.font = "12px system-ui, sans-serif";
    this.ticks.forEach((tick, i) => {
      g.textAlign = (["left", "center", "right"] as const)[i]!;
      g.fillText(tick.textContent ?? "", x + i * 110, y + 46);
    });
  }
}
