// The side panel: solver, world, hand, view, and what can be kept.
import type { App } from "../app.ts";
import type { Hello, Play, Scene } from "../data/protocol.ts";
import type { ClipSetting } from "../view/world.ts";
import { h, icon, type IconName } from "./dom.ts";
import { select, slider, toggle, type Field } from "./fields.ts";
import { fieldTitle } from "./legend.ts";
import { linearScale, plain, ratioScale, withUnit } from "./numbers.ts";
import type { PageActions } from "./help.ts";
import { SolverPanel } from "./solver_panel.ts";

export class Panel {
  readonly element: HTMLElement;
  private readonly solvers: [SolverPanel, SolverPanel];
  private readonly compare: HTMLButtonElement;
  private readonly gravity: Field<number>;
  private readonly timeStep: Field<number>;
  private readonly strength: Field<number>;
  private readonly colour: ReturnType<typeof select>;
  private fields: string[] = [];
  private offered = "";
  private readonly wireframe: Field<boolean>;
  private readonly skin: Field<boolean>;
  private readonly section: Field<boolean>;
  private readonly sectionAxis: ReturnType<typeof select>;
  private readonly sectionAt: Field<number>;
  private readonly sectionFlip: Field<boolean>;
  private readonly sectionFields: HTMLElement;
  private readonly cutHere: HTMLButtonElement;
  private readonly bodies = h("div");
  private readonly facts = h("p", { class: "facts" });
  private readonly pins = h("span");
  private readonly releasePins: HTMLButtonElement;
  private readonly simulationOnly: HTMLElement[];
  private readonly states: HTMLElement[];
  /** Of bodies that have one. */
  private stiffness: (Field<number> | null)[] = [];

  constructor(
    private readonly app: App,
    page: PageActions,
  ) {
    this.solvers = [new SolverPanel(app, 0), new SolverPanel(app, 1)];
    this.compare = textButton("compare", "Compare with another solver", () => app.setCompare(!app.session.play?.compare));
    this.gravity = slider({ label: "Gravity", unit: "m/s^2", scale: linearScale(0, 30, 0.01), onpick: (value) => app.setGravity(value) });
    this.timeStep = slider({
      label: "Time step",
      unit: "s",
      hint: "Larger steps are cheaper, damp more, and are harder to solve",
      scale: ratioScale(1e-4, 0.2),
      onpick: (value) => app.setTimeStep(value),
      explain: (value) => `${plain(1 / value)} steps per second`,
    });
    this.strength = slider({
      label: "Pull",
      unit: "weights/m",
      hint: "A pull by one metre is this many times the body's weight",
      scale: ratioScale(1, 10000),
      onpick: (value) => app.setStrength(value),
    });
    this.colour = select({ label: "Colour by", hint: "v: the next one", choices: [], onpick: (name) => app.setColour(name || null) });
    this.wireframe = toggle("Wireframe", "w", (on) => app.setWireframe(on));
    this.skin = toggle("Visual meshes", "Show bodies as their fine surfaces, or as they are simulated", (on) => app.setSkin(on));
    this.setSkin(false);
    this.section = toggle("Section plane", "x: look inside", (on) => app.setClip(on ? { axis: 0, at: 0.5, flipped: false } : null));
    this.sectionAxis = select({
      label: "Across",
      choices: ["x", "y", "z"].map((axis, i) => ({ value: String(i), label: axis })),
      onpick: (axis) => this.changeClip({ axis: Number(axis) as 0 | 1 | 2 }),
    });
    this.sectionAt = slider({ label: "At", unit: "%", scale: linearScale(0, 100, 0.5), onpick: (at) => this.changeClip({ at: at / 100 }) });
    this.sectionFlip = toggle("Other side", "Show the other half", (flipped) => this.changeClip({ flipped }));
    this.cutHere = textButton("cut", "Cut the body here", () => app.cutAtClip());
    this.sectionFields = h("div", { class: "indent" }, this.sectionAxis.element, this.sectionAt.element, this.sectionFlip.element, this.cutHere);
    this.releasePins = h("button", { type: "button", class: "text-button", onclick: () => app.releasePins() }, "Release all");
    const solver = group("Solver", this.solvers[0].element, this.compare, this.solvers[1].element);
    const world = group("World", this.bodies, this.gravity.element, this.timeStep.element);
    const hand = group("Hand", this.strength.element, h("div", { class: "row" }, this.pins, this.releasePins));
    this.states = [
      textButton("save", "Save state", page.saveState, "Save the state to a file (d)"),
      textButton("open", "Load state", page.chooseState, "Load a state from a file (o)"),
    ];
    this.simulationOnly = [solver, world, hand, ...this.states];
    this.element = h(
      "aside",
      { class: "panel", "aria-label": "Settings" },
      solver,
      group("View", this.colour.element, this.wireframe.element, this.skin.element, this.section.element, this.sectionFields),
      world,
      hand,
      group(
        "Keep",
        h(
          "div",
          { class: "button-grid" },
          textButton("camera", "Picture", page.savePicture, "Save a picture (s)"),
          textButton("link", "Link", page.copyLink, "Copy a link to this view (l)"),
          ...this.states,
        ),
      ),
      this.facts,
    );
  }

  setHello(hello: Hello): void {
    for (const solver of this.solvers) solver.setHello(hello);
    this.fields = hello.colours.map((field) => field.name);
    this.offerColours();
  }

  /** Fields that nothing has as things are stay in the list, greyed out, with the reason. */
  private offerColours(): void {
    const refusals = this.fields.map((name) => this.app.refusalOfColour(name));
    const offered = JSON.stringify([this.fields, refusals]);
    if (offered === this.offered) return;
    this.offered = offered;
    this.colour.setChoices([
      { value: "", label: "nothing: plain" },
      ...this.fields.map((name, i) => ({ value: name, label: fieldTitle(name).toLowerCase(), refusal: refusals[i] })),
    ]);
  }

  setScene(scene: Scene): void {
    const { app } = this;
    const simulates = scene.source === "scene";
    for (const solver of this.solvers) solver.setScene(scene);
    for (const part of this.simulationOnly) part.hidden = !simulates;
    const soft = scene.bodies.filter((body) => body.kind !== "rigid" && body.kind !== "link");
    this.stiffness = scene.bodies.map((body, i) => {
      if (!soft.includes(body)) return null;
      return slider({
        label: soft.length > 1 ? `Stiffness of ${body.name || `body ${i + 1}`}` : "Stiffness",
        unit: "×",
        hint: "Relative to the scene's value",
        scale: ratioScale(0.01, 100),
        onpick: (value) => app.setStiffness(i, value),
        explain: (value) => (body.young ? `Young's modulus ${withUnit(body.young * value, "Pa")}` : body.material),
      });
    });
    // A scene of many bodies folds its sliders away.
    const sliders = this.stiffness.flatMap((field) => (field ? [field.element] : []));
    const folded = sliders.length > 3 ? [...sliders.slice(0, 2), h("details", { class: "more" }, h("summary", {}, `${sliders.length - 2} more bodies`), ...sliders.slice(2))] : sliders;
    this.bodies.replaceChildren(...folded);
    const nodes = scene.bodies.reduce((sum, body) => sum + (body.nodes ?? 0), 0);
    const elements = scene.bodies.reduce((sum, body) => sum + (body.elements ?? 0), 0);
    const mass = scene.bodies.reduce((sum, body) => sum + (body.mass ?? 0), 0);
    const laws = [...new Set(scene.bodies.map((body) => body.material).filter(Boolean))].join(", ");
    const facts = [
      scene.bodies.length > 1 && `${scene.bodies.length} bodies`,
      nodes > 0 && `${nodes.toLocaleString("en")} nodes`,
      elements > 0 && `${elements.toLocaleString("en")} elements`,
      mass > 0 && `${plain(mass)} kg`,
      laws,
    ];
    this.facts.textContent = facts.filter(Boolean).join(" · ");
  }

  /** Whether a body has a visual mesh. */
  setSkin(any: boolean): void {
    this.skin.element.hidden = !any;
  }

  setPlay(play: Play): void {
    const { session } = this.app;
    const enabled = session.can("solver");
    this.solvers[0].show(play.views[0], enabled);
    this.solvers[1].show(play.compare ? play.views[1] : undefined, enabled);
    this.compare.querySelector("span")!.textContent = play.compare ? "Stop comparing" : "Compare with another solver";
    this.compare.setAttribute("aria-pressed", String(play.compare));
    this.compare.disabled = !session.can("compare");
    this.gravity.show(signedGravity(play, session.scene));
    this.timeStep.show(play.time_step);
    this.strength.show(play.strength);
    this.strength.setDisabled(!session.can("grab"));
    play.stiffness.forEach((scale, i) => this.stiffness[i]?.show(scale));
    this.stiffness.forEach((field) => field?.setDisabled(!session.can("material")));
    this.offerColours();
    this.colour.show(play.colour ?? "");
    this.pins.textContent = play.pins === 0 ? "Nothing pinned by hand" : play.pins === 1 ? "1 pin by hand" : `${play.pins} pins by hand`;
    this.releasePins.disabled = play.pins === 0;
    this.cutHere.disabled = !session.can("cut");
  }

  /** What the page itself keeps: wireframe and section. */
  setLocal(): void {
    const { clip, wireframe } = this.app;
    this.wireframe.show(wireframe);
    this.skin.show(this.app.skin);
    this.section.show(clip !== null);
    this.sectionFields.hidden = clip === null;
    if (!clip) return;
    this.sectionAxis.show(String(clip.axis));
    this.sectionAt.show(100 * clip.at);
    this.sectionFlip.show(clip.flipped);
  }

  private changeClip(change: Partial<ClipSetting>): void {
    if (this.app.clip) this.app.setClip({ ...this.app.clip, ...change });
  }
}

function signedGravity(play: Play, scene: Scene | null): number {
  const size = Math.hypot(...play.gravity);
  const along = scene ? play.gravity.reduce((sum, g, k) => sum + g * scene.gravity[k]!, 0) : 0;
  return along < 0 ? -size : size;
}

function group(title: string, ...children: HTMLElement[]): HTMLElement {
  return h("section", { class: "group" }, h("h2", {}, title), ...children);
}

function textButton(name: IconName, label: string, onclick: () => void, title = ""): HTMLButtonElement {
  return h("button", { type: "button", class: "text-button", title, onclick }, icon(name), h("span", {}, label));
}
