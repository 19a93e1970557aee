// The live plots, on plain canvases: time by stage against the frame's budget, iterations, the residual over the iterations of
// the last step, energies, and what the scene's probes record. Redrawn at most fifteen times a second.
import type { Telemetry, ViewTelemetry } from "../data/protocol.ts";
import { h } from "./dom.ts";
import { plain } from "./numbers.ts";

const LENGTH = 160;
const REDRAW_MS = 66;
const STAGES = ["assembly", "factorisation", "solve", "line_search", "contact"];
const ENERGIES = ["kinetic", "elastic", "gravity", "total"];

interface Sample {
  step: number;
  views: ViewTelemetry[];
}

interface Palette {
  text: string;
  faint: string;
  line: string;
  budget: string;
  ground: string;
  views: string[];
  stages: string[];
  energies: string[];
}

class Plot {
  readonly canvas = h("canvas", { role: "img" });
  readonly value = h("span", { class: "plot-value" });
  readonly legend = h("div", { class: "plot-legend" });
  readonly element: HTMLElement;

  constructor(title: string, hint: string) {
    this.element = h("figure", { class: "plot", title: hint }, h("figcaption", {}, h("span", {}, title), this.value), h("div", { class: "plot-area" }, this.canvas), this.legend);
  }

  /** A cleared context in CSS pixels, with the size of the canvas. */
  begin(): { g: CanvasRenderingContext2D; width: number; height: number } {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const g = this.canvas.getContext("2d")!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = "10px system-ui, sans-serif";
    return { g, width, height };
  }

  setLegend(entries: [string, string, boolean?][]): void {
    const key = JSON.stringify(entries);
    if (this.legend.dataset.key === key) return;
    this.legend.dataset.key = key;
    this.legend.replaceChildren(
      ...entries.map(([label, colour, dashed]) => {
        const swatch = h("i", { class: dashed ? "dashed" : "" });
        swatch.style.setProperty("--swatch", colour);
        return h("span", {}, swatch, label);
      }),
    );
  }
}

/** What one plot shows of the probes: a quantity of one of them, with its components. */
export interface ProbeGroup {
  title: string;
  unit: string;
  /** Names of its lines, and where their numbers are among the columns. */
  lines: { name: string; column: number }[];
}

/** "tip.displacement_x (m)" and its fellows y and z share a plot. */
export function groupColumns(columns: string[]): ProbeGroup[] {
  const groups: ProbeGroup[] = [];
  columns.forEach((text, column) => {
    const [, whole = text, unit = ""] = /^(.*?)(?: \((.*)\))?$/.exec(text) ?? [];
    const [, title = whole, name = ""] = /^(.*?)(?:_(x|y|z|xx|yy|zz|xy|yz|zx))?$/.exec(whole) ?? [];
    const last = groups[groups.length - 1];
    if (name && last && last.title === title && last.unit === unit) last.lines.push({ name, column });
    else groups.push({ title, unit, lines: [{ name: name || title, column }] });
  });
  return groups;
}

export class Plots {
  readonly element: HTMLElement;
  private readonly samples: Sample[] = [];
  private budget: number | null = null;
  private readonly time = new Plot("Time per step, ms", "Milliseconds of each step by stage; the dashed line is the budget of a frame");
  private readonly iterations = new Plot("Iterations", "Iterations of each step");
  private readonly residual = new Plot("Residual", "Residual over the iterations of the last step, on a logarithmic scale");
  private readonly energy = new Plot("Energy", "Energies over time, in joules");
  private probes: { group: ProbeGroup; plot: Plot }[] = [];
  private palette: Palette | null = null;
  private drawnAt = -Infinity;
  private waiting = false;

  constructor() {
    this.element = h("section", { class: "plots", "aria-label": "Plots" }, ...[this.time, this.iterations, this.residual, this.energy].map((plot) => plot.element));
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  /** The columns of the scene's probes: a plot for each quantity, to the right of the others. */
  setProbes(columns: string[]): void {
    const groups = groupColumns(columns);
    if (JSON.stringify(groups) === JSON.stringify(this.probes.map(({ group }) => group))) return;
    for (const { plot } of this.probes) plot.element.remove();
    this.probes = groups.map((group) => ({ group, plot: new Plot(group.unit ? `${group.title}, ${group.unit}` : group.title, "What a probe of the scene records") }));
    this.element.append(...this.probes.map(({ plot }) => plot.element));
    this.redraw();
  }

  clear(): void {
    this.samples.length = 0;
    this.redraw();
  }

  push(telemetry: Telemetry): void {
    const last = this.samples[this.samples.length - 1];
    if (last && telemetry.step < last.step) this.samples.length = 0;
    this.budget = telemetry.budget_ms;
    const sample = { step: telemetry.step, views: telemetry.views };
    if (last && last.step === telemetry.step && this.samples.length > 0) this.samples[this.samples.length - 1] = sample;
    else this.samples.push(sample);
    if (this.samples.length > LENGTH) this.samples.shift();
    this.redrawSoon();
  }

  themeChanged(): void {
    this.palette = null;
    this.redraw();
  }

  private redrawSoon(): void {
    if (this.waiting) return;
    this.waiting = true;
    const wait = Math.max(0, this.drawnAt + REDRAW_MS - performance.now());
    setTimeout(() => requestAnimationFrame(() => this.redraw()), wait);
  }

  private redraw(): void {
    this.waiting = false;
    this.drawnAt = performance.now();
    if (this.element.offsetParent === null) return;
    this.palette ??= readPalette();
    const last = this.samples[this.samples.length - 1];
    this.drawTime(last);
    this.drawIterations(last);
    this.drawResidual(last);
    this.drawEnergy(last);
    for (const { group, plot } of this.probes) this.drawProbe(group, plot, last);
  }

  private drawTime(last: Sample | undefined): void {
    const p = this.palette!;
    const { g, width, height } = this.time.begin();
    const views = last?.views.length ?? 1;
    const totals = this.samples.flatMap((s) => s.views.map((v) => v.ms.total ?? 0));
    const top = niceCeiling(Math.max(1.15 * (this.budget ?? 0), quantile(totals, 0.97) * 1.1, 0.1));
    const y = (ms: number) => height - 3 - (Math.min(ms, top) / top) * (height - 14);
    gridLines(g, width, height, 0, top, p);
    const present = new Set<number>();
    for (let view = 0; view < views; ++view) {
      const left = (view * width) / views + (view > 0 ? 3 : 0);
      const w = width / views - (views > 1 ? 3 : 0);
      const bar = w / LENGTH;
      this.samples.forEach((sample, i) => {
        const ms = sample.views[view]?.ms;
        if (!ms) return;
        const x = left + w - (this.samples.length - i) * bar;
        let below = 0;
        const parts = [...STAGES.map((stage) => ms[stage] ?? 0), 0];
        parts[STAGES.length] = Math.max(0, (ms.total ?? 0) - parts.reduce((a, b) => a + b, 0));
        parts.forEach((part, stage) => {
          if (part <= 0) return;
          if (part > 0.01 * top) present.add(stage);
          g.fillStyle = p.stages[stage]!;
          g.fillRect(x, y(below + part), Math.max(1, bar - 0.4), y(below) - y(below + part));
          below += part;
        });
      });
      if (views > 1) viewTag(g, left + w / 2, 10, view, p);
    }
    if (this.budget !== null && this.budget < top) {
      g.strokeStyle = p.budget;
      g.setLineDash([4, 3]);
      horizontal(g, y(this.budget), width);
      g.setLineDash([]);
      g.fillStyle = p.budget;
      g.strokeStyle = p.ground;
      g.lineWidth = 3;
      g.lineJoin = "round";
      g.textAlign = "right";
      // Bars must not make it illegible.
      g.strokeText(`budget ${plain(this.budget)} ms`, width - 2, y(this.budget) - 3);
      g.fillText(`budget ${plain(this.budget)} ms`, width - 2, y(this.budget) - 3);
    }
    this.time.value.textContent = last ? `${last.views.map((v) => plain(v.ms.total ?? 0)).join(" · ")} ms` : "";
    this.time.canvas.setAttribute("aria-label", `Time per step: ${this.time.value.textContent}, budget ${plain(this.budget ?? NaN)} ms`);
    const names = [...STAGES.map((s) => s.replace("_", " ")), "other"];
    this.time.setLegend([...present].sort().map((stage) => [names[stage]!, p.stages[stage]!]));
  }

  private drawIterations(last: Sample | undefined): void {
    const p = this.palette!;
    const { g, width, height } = this.iterations.begin();
    const all = this.samples.flatMap((s) => s.views.map((v) => v.iterations));
    const top = niceCeiling(Math.max(1, ...all) * 1.1);
    gridLines(g, width, height, 0, top, p);
    (last?.views ?? []).forEach((_, view) => {
      g.strokeStyle = p.views[view]!;
      g.lineWidth = 1.5;
      g.beginPath();
      this.samples.forEach((sample, i) => {
        const value = sample.views[view]?.iterations;
        if (value === undefined) return;
        const x = width - ((this.samples.length - 1 - i) * width) / LENGTH - 1;
        const yy = height - 3 - (value / top) * (height - 14);
        if (i === 0) g.moveTo(x, yy);
        else g.lineTo(x, yy);
      });
      g.stroke();
    });
    this.iterations.value.textContent = last ? last.views.map((v) => String(v.iterations)).join(" · ") : "";
    this.iterations.canvas.setAttribute("aria-label", `Iterations of the last step: ${this.iterations.value.textContent}`);
    const alone = last?.views.length === 1;
    this.iterations.setLegend((last?.views ?? []).map((v, i) => [alone ? v.solver : "AB"[i]!, p.views[i]!]));
  }

  private drawResidual(last: Sample | undefined): void {
    const p = this.palette!;
    const { g, width, height } = this.residual.begin();
    const curves = (last?.views ?? []).map((view) => [...view.history.map((i) => i.acceleration), view.residuals.acceleration].map((v) => (v !== null && v > 0 ? v : NaN)));
    const values = curves.flat().filter((v) => Number.isFinite(v));
    if (values.length > 0) {
      const low = Math.floor(Math.log10(Math.min(...values)) - 0.1);
      const high = Math.max(low + 2, Math.ceil(Math.log10(Math.max(...values)) + 0.1));
      const y = (value: number) => height - 4 - ((Math.log10(value) - low) / (high - low)) * (height - 10);
      const every = Math.max(1, Math.ceil((high - low) / 4));
      for (let power = low; power <= high; power += every) {
        g.strokeStyle = p.faint;
        horizontal(g, y(10 ** power), width);
        g.fillStyle = p.text;
        g.textAlign = "left";
        g.fillText(`1e${power}`, 2, Math.max(9, y(10 ** power) - 2));
      }
      const longest = Math.max(2, ...curves.map((curve) => curve.length));
      curves.forEach((curve, view) => {
        g.strokeStyle = g.fillStyle = p.views[view]!;
        g.lineWidth = 1.5;
        const x = (i: number) => 30 + (i * (width - 38)) / (longest - 1);
        g.beginPath();
        curve.forEach((value, i) => Number.isFinite(value) && g.lineTo(x(i), y(value)));
        g.stroke();
        if (longest > 60) return;
        curve.forEach((value, i) => {
          if (!Number.isFinite(value)) return;
          g.beginPath();
          g.arc(x(i), y(value), 2, 0, 7);
          g.fill();
        });
      });
    }
    this.residual.value.textContent = last ? `${last.views.map((v) => plain(v.residuals.acceleration ?? NaN)).join(" · ")} m/s²` : "";
    this.residual.canvas.setAttribute("aria-label", `Residual after the last step: ${this.residual.value.textContent}`);
    this.residual.setLegend((last?.views ?? []).map((v, i) => [`${last?.views.length === 1 ? "" : `${"AB"[i]} `}${v.history.length > 0 ? "per iteration" : "at the end"}`, p.views[i]!]));
  }

  private drawEnergy(last: Sample | undefined): void {
    const p = this.palette!;
    const names = ENERGIES.filter((name) => this.samples.some((s) => s.views.some((v) => Number.isFinite(v.energy?.[name] ?? NaN))));
    const lines = names.map((name) => ({
      name,
      colour: p.energies[ENERGIES.indexOf(name)]!,
      width: name === "total" ? 2 : 1.4,
      value: (view: ViewTelemetry) => view.energy?.[name] ?? NaN,
    }));
    this.energy.element.hidden = last !== undefined && names.length === 0; // frames on the disk have none
    this.drawLines(this.energy, lines, last);
    const total = last?.views.map((v) => v.energy?.total).filter((v): v is number => typeof v === "number") ?? [];
    this.energy.value.textContent = total.length > 0 ? `${total.map((v) => plain(v)).join(" · ")} J` : "";
    this.energy.canvas.setAttribute("aria-label", `Total energy: ${this.energy.value.textContent}`);
  }

  private drawProbe(group: ProbeGroup, plot: Plot, last: Sample | undefined): void {
    const p = this.palette!;
    const lines = group.lines.map(({ name, column }, i) => ({
      name,
      colour: p.stages[i % p.stages.length]!,
      width: 1.5,
      value: (view: ViewTelemetry) => view.probes?.[column] ?? NaN,
    }));
    this.drawLines(plot, lines, last);
    const now = last?.views[0] ? lines.map((line) => line.value(last.views[0]!)) : [];
    // As many decimals as the largest of them needs: what rounding leaves of nothing is not worth its digits.
    const finite = now.filter((v) => Number.isFinite(v));
    const unit = 10 ** (Math.floor(Math.log10(Math.max(...finite.map(Math.abs)))) - 2);
    plot.value.textContent = finite.map((v) => plain(unit > 0 && Math.abs(v) < unit / 2 ? 0 : v)).join(" · ");
    plot.canvas.setAttribute("aria-label", `${group.title}: ${plot.value.textContent} ${group.unit}`);
  }

  /** Values over the last steps; those of the second view are dashed. */
  private drawLines(plot: Plot, lines: { name: string; colour: string; width: number; value: (view: ViewTelemetry) => number }[], last: Sample | undefined): void {
    const { g, width, height } = plot.begin();
    let low = Infinity;
    let high = -Infinity;
    for (const sample of this.samples) {
      for (const view of sample.views) {
        for (const line of lines) {
          const v = line.value(view);
          if (v < low) low = v;
          if (v > high) high = v;
        }
      }
    }
    // Zero belongs to the picture unless what changes is far from it.
    if (!(low <= high)) [low, high] = [0, 1e-9];
    if (low > 0 && low < 2 * (high - low)) low = 0;
    if (high < 0 && -high < 2 * (high - low)) high = 0;
    const pad = 0.06 * (high - low) || 1e-3 * Math.abs(high) || 1e-9;
    gridLines(g, width, height, low - pad, high + pad, this.palette!);
    const y = (v: number) => height - 3 - ((v - low + pad) / (high - low + 2 * pad)) * (height - 14);
    (last?.views ?? []).forEach((_, view) => {
      for (const line of lines) {
        g.strokeStyle = line.colour;
        g.lineWidth = line.width;
        g.setLineDash(view === 1 ? [3, 3] : []);
        g.beginPath();
        this.samples.forEach((sample, i) => {
          const v = sample.views[view] ? line.value(sample.views[view]!) : NaN;
          if (!Number.isFinite(v)) return;
          g.lineTo(width - ((this.samples.length - 1 - i) * width) / LENGTH - 1, y(v));
        });
        g.stroke();
      }
    });
    g.setLineDash([]);
    plot.setLegend(lines.map((line) => [line.name, line.colour]));
  }
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: read("--muted"),
    faint: read("--line"),
    line: read("--line-strong"),
    budget: read("--danger"),
    ground: read("--panel"),
    views: [read("--view-a"), read("--view-b")],
    stages: [1, 2, 3, 4, 5, 6].map((i) => read(`--stage-${i}`)),
    energies: [read("--stage-3"), read("--stage-2"), read("--stage-4"), read("--text")],
  };
}

function horizontal(g: CanvasRenderingContext2D, y: number, width: number): void {
  const at = Math.round(y) + 0.5;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(0, at);
  g.lineTo(width, at);
  g.stroke();
}

function gridLines(g: CanvasRenderingContext2D, width: number, height: number, low: number, high: number, p: Palette): void {
  const step = niceCeiling((high - low) / 3.5);
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    const y = height - 3 - ((value - low) / (high - low)) * (height - 14);
    g.strokeStyle = Math.abs(value) < 1e-9 * step ? p.line : p.faint;
    horizontal(g, y, width);
    g.fillStyle = p.text;
    g.textAlign = "left";
    g.fillText(plain(Math.abs(value) < 1e-9 * step ? 0 : value), 2, y - 2);
  }
}

function viewTag(g: CanvasRenderingContext2D, x: number, y: number, view: number, p: Palette): void {
  g.fillStyle = p.views[view]!;
  g.textAlign = "left";
  g.fillText("AB"[view]!, x, y);
}

function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const factor of [1, 2, 2.5, 5, 10]) if (factor * power >= value * 0.9999) return factor * power;
  return 10 * power;
}

function quantile(values: number[], q: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(q * (sorted.length - 1))]!;
}
