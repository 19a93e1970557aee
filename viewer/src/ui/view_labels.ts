// The name over each viewport: which solver, how the last step went, and, when comparing, how far B is from A.
import type { Hello, Play, Telemetry } from "../data/protocol.ts";
import { h } from "./dom.ts";
import { plain, withUnit } from "./numbers.ts";

export class ViewLabels {
  readonly element = h("div", { class: "view-labels" });
  private readonly parts = [0, 1].map((view) => {
    const name = h("strong");
    const detail = h("span", { class: "view-detail" });
    const trouble = h("p", { class: "view-trouble", role: "alert", hidden: true });
    const element = h("div", { class: "view-label" }, h("div", {}, h("i", { class: `dot view-${"ab"[view]}` }), name, detail), trouble);
    return { element, name, detail, trouble };
  });
  private views = 0;

  constructor() {
    this.element.append(...this.parts.map((part) => part.element));
  }

  setPlay(play: Play, hello: Hello | null): void {
    this.views = play.views.length;
    this.element.classList.toggle("two", this.views === 2);
    this.parts.forEach((part, i) => {
      const view = play.views[i];
      part.element.hidden = !view;
      if (!view) return;
      part.name.textContent = view.run === undefined ? view.solver : view.solver === "result" ? view.run : `${view.run} · ${view.solver}`;
      part.element.title = hello?.solvers.find((solver) => solver.name === view.solver)?.summary ?? "";
      part.trouble.hidden = view.trouble === null;
      part.trouble.textContent = view.trouble ? `${view.trouble.replace(/\.?$/, ".")} Reset (r), or choose another solver.` : "";
    });
  }

  setTelemetry(telemetry: Telemetry): void {
    telemetry.views.forEach((view, i) => {
      const part = this.parts[i];
      if (!part) return;
      const words = [`${plain(view.ms.total ?? NaN)} ms`, `${view.iterations} iteration${view.iterations === 1 ? "" : "s"}`];
      if (!view.ok) words.push(view.outcome.replace(/[-_]/g, " "));
      if (i > 0 && typeof view.error === "number") words.push(`${withUnit(view.error, "m")} from A`);
      part.detail.textContent = words.join(" · ");
      part.element.classList.toggle("not-ok", !view.ok);
    });
  }

  /** For pictures. */
  names(): string[] {
    return this.parts.slice(0, this.views).map((part) => part.name.textContent ?? "");
  }
}
