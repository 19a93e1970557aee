// One solver with its parameters: a list of solvers by paper, a sentence on the chosen one, and a control per parameter.
import type { App } from "../app.ts";
import type { Hello, Parameter, ParameterValue, Scene, Solver, ViewSettings } from "../data/protocol.ts";
import { h } from "./dom.ts";
import { select, slider, textField, toggle, type Choice, type Field, type Slider } from "./fields.ts";
import { parameterScale } from "./numbers.ts";

/** What people turn first; the rest is folded away. */
const MAIN = new Set(["iterations", "max_iterations", "tolerance", "window", "tau", "schedule", "budget_share", "beta", "gamma", "dynamic_nodes", "substeps", "zeta", "spacing", "line_search"]);

/** What a tolerance is compared with says what it counts. */
const UNITS: Record<string, string> = { acceleration: "m/s^2", residual: "N", "reference-force": "", characteristic: "", "step-length": "m/s" };

const PAPERS: Record<string, string> = {
  pitfalls: "Newton",
  "quasi-newton": "Quasi-Newton",
  "warp-canceling": "Corotational, warp-canceling",
  conjac: "Condensation",
  pxpbd: "Position-based",
};

export class SolverPanel {
  readonly element: HTMLElement;
  private readonly list: ReturnType<typeof select>;
  private readonly summary = h("p", { class: "summary" });
  private readonly parameters = h("div", { class: "parameters" });
  private readonly refused = h("details", { class: "more refused" });
  private shownSolver = "";
  private fields = new Map<string, { field: Field<never>; parameter: Parameter }>();
  private hello: Hello | null = null;
  private moreOpen = false;

  constructor(
    private readonly app: App,
    private readonly view: number,
  ) {
    this.list = select({
      label: `Solver ${"AB"[view]}`,
      hint: view === 0 ? "Keys 1 to 9" : "Shift and 1 to 9",
      choices: [],
      onpick: (name) => app.setSolver(view, name),
    });
    this.list.element.querySelector("label")!.prepend(h("i", { class: `dot view-${"ab"[view]}` }));
    this.element = h("div", { class: "solver" }, this.list.element, this.refused, this.summary, this.parameters);
    this.refused.hidden = true;
  }

  setHello(hello: Hello): void {
    this.hello = hello;
    this.setScene(undefined);
    this.shownSolver = "";
  }

  /** Solvers that cannot run the scene are listed with the reason, and cannot be chosen. */
  setScene(scene: Scene | undefined): void {
    const refusals = new Map<string, string>();
    for (const fit of scene?.solvers ?? []) if (fit.refusal !== null) refusals.set(fit.name, fit.refusal);
    const choices: Choice[] = (this.hello?.solvers ?? []).map((solver) => ({
      value: solver.name,
      label: solver.name,
      group: PAPERS[solver.paper] ?? (solver.paper || "Others"),
      refusal: refusals.get(solver.name),
    }));
    this.list.setChoices(choices);
    this.refused.hidden = refusals.size === 0;
    const count = refusals.size === 1 ? "1 solver cannot" : `${refusals.size} solvers cannot`;
    const reasons = [...refusals].map(([name, why]) => h("p", { class: "summary" }, h("b", {}, name), `: ${why}.`));
    this.refused.replaceChildren(h("summary", {}, `${count} run this scene`), ...reasons);
  }

  show(settings: ViewSettings | undefined, enabled: boolean): void {
    this.element.hidden = settings === undefined;
    if (!settings) return;
    const solver = this.hello?.solvers.find((s) => s.name === settings.solver);
    this.list.show(settings.solver);
    this.list.setDisabled(!enabled);
    if (!solver) return;
    if (this.shownSolver !== solver.name) this.build(solver);
    for (const [key, { field, parameter }] of this.fields) {
      field.show((settings.parameters[key] ?? parameter.default) as never);
      field.setDisabled(!enabled);
    }
    const criterion = settings.parameters.criterion ?? this.fields.get("criterion")?.parameter.default;
    const tolerance = this.fields.get("tolerance");
    // "auto" is an acceleration, with or without contact: where bodies touch, a hundredth of it is taken as a speed.
    if (criterion !== undefined && tolerance) (tolerance.field as unknown as Slider).setUnit(UNITS[String(criterion)] ?? "m/s^2");
  }

  private build(solver: Solver): void {
    this.shownSolver = solver.name;
    this.summary.textContent = `${solver.summary.charAt(0).toUpperCase()}${solver.summary.slice(1)}.`;
    this.fields = new Map();
    const main: HTMLElement[] = [];
    const more: HTMLElement[] = [];
    for (const parameter of solver.parameters) {
      const field = this.control(parameter);
      this.fields.set(parameter.key, { field: field as Field<never>, parameter });
      (MAIN.has(parameter.key) ? main : more).push(field.element);
    }
    if (main.length === 0) main.push(...more.splice(0, 3));
    const rest = h("details", { class: "more" }, h("summary", {}, `${more.length} more`), ...more);
    rest.open = this.moreOpen;
    rest.addEventListener("toggle", () => (this.moreOpen = rest.open));
    this.parameters.replaceChildren(...main, ...(more.length > 0 ? [rest] : []));
  }

  private control(parameter: Parameter): Field<never> | Field<number> | Field<string> | Field<boolean> {
    const label = words(parameter.key);
    const hint = `${parameter.summary} (default ${String(parameter.default) || "empty"})`;
    const set = (value: ParameterValue) => this.app.setParameter(this.view, parameter.key, value);
    switch (parameter.kind) {
      case "boolean":
        return toggle(label, hint, set);
      case "choice":
        return select({ label, hint, choices: (parameter.choices ?? []).map((value) => ({ value, label: value })), onpick: set });
      case "text":
        return textField(label, hint, set);
      default:
        return slider({ label, hint, unit: parameter.unit, scale: parameterScale(parameter), onpick: set });
    }
  }
}

function words(key: string): string {
  const text = key.replace(/_/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
