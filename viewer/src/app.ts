// Everything a person can do, in one place: buttons, keys and links all come here.
import { decodeLink, encodeLink, settingsOf, type LinkSettings } from "./data/link.ts";
import type { ParameterValues, Vec3 } from "./data/protocol.ts";
import type { Session } from "./data/session.ts";
import type { ClipSetting, World } from "./view/world.ts";

export type Tool = "grab" | "pin" | "cut";
export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 0];

/** Solvers whose frames say where the matrix was renewed. */
const REFRESHING = new Set(["corotational", "corotational-cg", "stiffness-warping", "warp-canceling"]);

export class App {
  tool: Tool = "grab";
  wireframe = false;
  /** Whether bodies are drawn as their visual meshes, where they have one. */
  skin = true;
  clip: ClipSetting | null = null;
  plotsShown = true;
  /** Hears of changes that stay in the page. */
  onChange: () => void = () => {};
  /** Parameters a person has set in this page, of view A and of view B. */
  private readonly touched: Set<string>[] = [new Set(), new Set()];
  /** Parameters on their way to the server, of view A and of view B. */
  private pending: ParameterValues[] = [{}, {}];
  private pendingCamera: LinkSettings["camera"];
  /** Whether somebody, or a link, has placed the camera: then it stays when more of the scene becomes known. */
  private cameraChosen = false;

  constructor(
    readonly session: Session,
    readonly world: World,
  ) {
    const settle = () => (this.pending = [{}, {}]);
    session.on("play", settle);
    session.on("error", settle);
  }

  togglePlay(): void {
    this.session.send(this.session.play?.playing ? "pause" : "play");
  }

  step(): void {
    if (this.session.scene?.source === "result") this.seek((this.session.play?.frame ?? 0) + 1);
    else this.session.send("step", { count: 1 });
  }

  reset(): void {
    this.session.send("reset");
  }

  seek(frame: number): void {
    const last = (this.session.scene?.frames ?? 1) - 1;
    this.session.send("seek", { frame: Math.max(0, Math.min(last, Math.round(frame))) });
  }

  setSpeed(value: number): void {
    this.session.send("speed", { value });
  }

  /** One notch slower (-1) or faster (1). */
  changeSpeed(direction: number): void {
    const now = this.session.play?.speed ?? 1;
    const index = now === 0 ? SPEEDS.length - 1 : SPEEDS.findIndex((speed) => speed === 0 || speed >= now * 0.999);
    const next = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, index + direction))]!;
    this.setSpeed(next);
  }

  openScene(path: string): void {
    this.touched.forEach((keys) => keys.clear());
    this.session.send("open", { scene: path });
  }

  setSolver(view: number, name: string): void {
    if (!this.session.solver(name)) return;
    this.touched[view]?.clear();
    if (view === 1 && !this.session.play?.compare) this.session.send("compare", { on: true, name });
    else this.session.send("solver", { view, name });
  }

  setParameter(view: number, key: string, value: ParameterValues[string]): void {
    const settings = this.session.play?.views[view];
    if (!settings) return;
    this.touched[view]?.add(key);
    this.pending[view]![key] = value;
    this.session.send("solver", { view, name: settings.solver, parameters: { ...settings.parameters, ...this.pending[view] } });
  }

  setCompare(on: boolean): void {
    this.session.send("compare", { on });
  }

  setGravity(size: number): void {
    const scene = this.session.scene;
    if (!scene) return;
    const length = Math.hypot(...scene.gravity);
    const down: Vec3 = length > 0 ? (scene.gravity.map((g) => g / length) as Vec3) : [0, -1, 0];
    this.session.send("gravity", { value: down.map((d) => d * size) });
  }

  setTimeStep(seconds: number): void {
    this.session.send("time_step", { seconds });
  }

  setStiffness(body: number, scale: number): void {
    this.session.send("stiffness", { body, scale });
  }

  setStrength(value: number): void {
    this.session.send("strength", { value });
  }

  setColour(by: string | null): void {
    this.session.send("colour", { by });
  }

  /** Why nothing can be coloured by a field as things are; undefined where it can. */
  refusalOfColour(name: string): string | undefined {
    const play = this.session.play;
    if (!play) return undefined;
    if (name === "error" && !play.compare) return "Compare two solvers, or two runs, to see how far they are apart";
    const keepsAMatrix = play.views.some((view) => REFRESHING.has(view.solver));
    if (name === "refreshed" && !keepsAMatrix) return "The corotational solvers have it: they renew their matrix in parts";
    return undefined;
  }

  /** The next field in turn; after the last, none. */
  nextColour(): void {
    const names = this.session.hello?.colours.map((field) => field.name).filter((name) => !this.refusalOfColour(name)) ?? [];
    const now = names.indexOf(this.session.play?.colour ?? "");
    this.setColour(names[now + 1] ?? null);
  }

  setSkin(on: boolean): void {
    this.skin = on;
    this.world.showSkin(on);
    this.onChange();
  }

  setWireframe(on: boolean): void {
    this.wireframe = on;
    this.world.setWireframe(on);
    this.onChange();
  }

  setClip(clip: ClipSetting | null): void {
    this.clip = clip;
    this.world.setClip(clip);
    this.onChange();
  }

  /** Cuts the bodies for good, where the section plane is. */
  cutAtClip(): void {
    const clip = this.world.clip();
    if (!clip) return;
    const point = clip.normal.map((n) => n * clip.offset) as Vec3;
    const centre = this.session.scene?.box ? ([0, 1, 2].map((k) => 0.5 * (this.session.scene!.box[0][k]! + this.session.scene!.box[1][k]!)) as Vec3) : point;
    const axis = this.clip!.axis;
    const on = centre.map((c, k) => (k === axis ? point[k]! : c));
    this.session.send("cut", { point: on, normal: clip.normal, space: "rest" });
  }

  setTool(tool: Tool): void {
    this.tool = tool;
    this.onChange();
  }

  togglePlots(): void {
    this.plotsShown = !this.plotsShown;
    this.onChange();
  }

  releasePins(): void {
    this.session.send("unpin_all");
  }

  frameCamera(): void {
    this.world.frameCamera();
  }

  /** The camera a link asked for belongs to the scene it opens; without one, the whole scene is shown. */
  placeCamera(): void {
    this.cameraChosen = this.pendingCamera !== undefined;
    if (this.pendingCamera) this.world.orbit.set(this.pendingCamera);
    else this.world.frameCamera();
    this.pendingCamera = undefined;
  }

  /** Once the obstacles are known: they belong into the picture too. */
  placeCameraAgain(): void {
    if (!this.cameraChosen) this.world.frameCamera();
    this.cameraChosen = true;
  }

  link(): string {
    const { play, scene, hello } = this.session;
    if (!play || !scene || !hello) return "";
    const settings = settingsOf(play, scene, hello, this.touched);
    settings.wireframe = this.wireframe;
    if (this.clip) settings.clip = this.clip;
    settings.camera = this.world.orbit.pose;
    return encodeLink(settings);
  }

  applyLink(hash: string): void {
    const { play, scene, hello } = this.session;
    if (!play || !scene || !hello || hash.length < 2) return;
    const link = decodeLink(hash, hello);
    const opens = link.scene !== undefined && link.scene !== scene.path;
    if (opens) this.session.send("open", { scene: link.scene });
    const [a, b] = link.solvers;
    if (a && (opens || a.name !== play.views[0]?.solver || Object.keys(a.parameters).length > 0)) this.session.send("solver", { view: 0, ...a });
    if (b) this.session.send("compare", { on: true, ...b });
    else if (play.compare && a) this.session.send("compare", { on: false });
    link.solvers.forEach((solver, i) => Object.keys(solver.parameters).forEach((key) => this.touched[i]!.add(key)));
    if (link.speed !== undefined) this.setSpeed(link.speed);
    if (link.timeStep !== undefined) this.setTimeStep(link.timeStep);
    if (link.gravity) this.session.send("gravity", { value: link.gravity });
    link.stiffness?.forEach((scale, body) => this.setStiffness(body, scale));
    if (link.strength !== undefined) this.setStrength(link.strength);
    if (link.colour || play.colour) this.setColour(link.colour ?? null);
    this.setWireframe(link.wireframe ?? false);
    this.setClip(link.clip ?? null);
    if (link.camera) {
      if (opens) this.pendingCamera = link.camera;
      else {
        this.world.orbit.set(link.camera);
        this.cameraChosen = true;
      }
    }
  }
}
