// The picture: one canvas, one camera, and one or two viewports side by side, each showing its own bodies in the same surroundings.
import { Scene as ThreeScene, Vector2, Vector3, Vector4, WebGLRenderer, type DataTexture } from "three";
import type { ColourField, Frame, Obstacles, Scene, Skin, Telemetry, Topology, Vec3 } from "../data/protocol.ts";
import { BodyView } from "./body.ts";
import type { MapName } from "./colours.ts";
import { Coils, Grid, ObstacleView, SpringMark } from "./ground.ts";
import { aimLight, mapTexture, screen } from "./materials.ts";
import { OrbitCamera } from "./orbit.ts";
import { pick, type Clip, type Hit } from "./pick.ts";
import { coarsen, splitAtCreases, type DrawnSurface } from "./surface.ts";

export interface Look {
  bodies: [string, string];
  inside: string;
  wire: string;
  grid: string;
  gridOpacity: number;
  obstacle: string;
}

export interface ClipSetting {
  axis: 0 | 1 | 2;
  /** Where along the axis: 0 at the scene's lower end, 1 at its upper end. */
  at: number;
  flipped: boolean;
}

const MAPS: Record<string, MapName> = { stress: "sequential", stretch: "heat", speed: "sequential", error: "heat", refreshed: "mark" };
const GAP = 2;
/** What a machine without a graphics card draws while things move, and how long they stand still before it draws all of it. */
const SOFTWARE_TRIANGLES = 12000;
const STILL_MS = 250;

export class World {
  readonly orbit = new OrbitCamera();
  /** What the colours span, in the unit of their field: the same for both views. */
  readonly range = { low: 0, high: 1 };
  /** The topology that is drawn. */
  topology: Topology | null = null;
  views = 1;
  /** Pictures drawn so far. */
  drawn = 0;
  shownFrame = -1;
  clipSetting: ClipSetting | null = null;
  private readonly software = drawsInSoftware();
  private readonly renderer: WebGLRenderer;
  private readonly scene = new ThreeScene();
  private readonly bodies = [new BodyView(1), new BodyView(2)];
  /** Visual meshes, in place of the bodies that have them. */
  private readonly skins = [new BodyView(1), new BodyView(2)];
  private readonly coils = [new Coils(1), new Coils(2)];
  private readonly grid = new Grid();
  private readonly obstacles = new ObstacleView();
  private readonly springs = [new SpringMark("#e4572e", 1), new SpringMark("#e4572e", 2)];
  private readonly textures = new Map<MapName, DataTexture>();
  private pendingTopology: Topology | null = null;
  private skin: Skin | null = null;
  private skinShown = true;
  private surface: DrawnSurface | null = null;
  private lastFrames: Frame[] | null = null;
  private box: [Vec3, Vec3] = [
    [0, 0, 0],
    [1, 1, 1],
  ];
  /** Around bodies and obstacles, except for planes, which have no end. */
  private surroundings = this.box;
  /** What the camera was last made to show. */
  private seen: [Vec3, Vec3] | null = null;
  /** What lies in a bowl is seen from above. */
  private hasBowl = false;
  private readonly up = new Vector3(0, 1, 0);
  private colourField: string | null = null;
  private dirty = true;
  private movedAt = 0;
  private detail: "fine" | "coarse" = "coarse";
  private pixelRatio = Math.min(2, window.devicePixelRatio || 1);
  /** Twice as many pixels as shown smooth the edges where the renderer does not. */
  private readonly finePixelRatio = this.software ? Math.max(2, this.pixelRatio) : this.pixelRatio;
  private slowTurns = 0;
  private lastTurn = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, alpha: true, stencil: true, powerPreference: "high-performance" });
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.autoClear = false;
    this.renderer.setPixelRatio(this.pixelRatio);
    this.scene.add(this.grid.object, this.obstacles.group);
    for (const part of [...this.drawnBodies(), ...this.coils, ...this.springs]) this.scene.add(part.group);
    for (const skin of this.skins) skin.setOpen(true);
    this.orbit.onChange = () => this.touch();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
  }

  touch(): void {
    this.dirty = true;
  }

  setScene(scene: Scene): void {
    this.box = this.surroundings = scene.box;
    this.hasBowl = false;
    const g = scene.gravity;
    const size = Math.hypot(...g);
    const up: Vec3 = size > 0 ? [-g[0] / size, -g[1] / size, -g[2] / size] : [0, 1, 0];
    this.up.set(...up);
    this.orbit.setUp(up);
    for (const body of this.bodies) body.setOpen(scene.bodies.some((part) => part.kind === "springs"));
    this.placeGrid();
    this.topology = null;
    this.surface = null;
    this.lastFrames = null;
    this.drawnBodies().forEach((body) => (body.group.visible = false));
    this.coils.forEach((coils) => coils.set([]));
    this.springs.forEach((spring) => spring.hide());
    this.applyClip();
    this.touch();
  }

  frameCamera(): void {
    const [lower, upper] = this.surroundings;
    const radius = 0.5 * Math.hypot(...upper.map((u, k) => u - lower[k]!));
    // A little of the ground below, since things fall.
    const low = this.up.clone().multiplyScalar(-0.12 * radius);
    const min = lower.map((v, k) => v + Math.min(0, low.getComponent(k))) as Vec3;
    const max = upper.map((v, k) => v + Math.max(0, low.getComponent(k))) as Vec3;
    this.seen = [min, max];
    this.orbit.frame(min, max, this.hasBowl ? 0.85 : 0.32);
    if (this.lastFrames) this.follow(this.lastFrames);
  }

  /** The camera steps back before what it shows where bodies leave the picture, up to thrice the size of the scene, until somebody moves it. */
  private follow(frames: Frame[]): void {
    if (this.orbit.moved || !this.seen) return;
    const centre = this.centre();
    const most = 3 * this.radius();
    const [low, high] = this.seen;
    let grew = false;
    for (const { positions } of frames) {
      for (let i = 0; i < positions.length; ++i) {
        const k = i % 3;
        const c = centre.getComponent(k);
        const x = Math.min(c + most, Math.max(c - most, positions[i]!));
        if (x < low[k]!) low[k] = x;
        else if (x > high[k]!) high[k] = x;
        else continue;
        grew = true;
      }
    }
    if (grew) this.orbit.fit(low, high);
  }

  /** Drawn together with its first frame, so that nothing jumps to rest and back. */
  setTopology(topology: Topology): void {
    this.pendingTopology = topology;
    this.skin = null;
  }

  /** Comes after its topology, if there is one. */
  setSkin(skin: Skin): void {
    this.skin = skin;
  }

  /** Shows bodies as their visual meshes, or as they are simulated. */
  showSkin(on: boolean): void {
    if (on === this.skinShown) return;
    this.skinShown = on;
    const topology = this.pendingTopology ?? this.topology;
    if (topology && this.lastFrames) {
      this.applyTopology(topology);
      this.setFrames(this.lastFrames, performance.now());
    }
    this.touch();
  }

  setObstacles(obstacles: Obstacles, scene: Scene | null): void {
    const shapes = scene?.obstacles.map((obstacle) => obstacle.shape) ?? [];
    this.obstacles.set(obstacles, shapes, this.centre(), this.radius());
    this.hasBowl = shapes.includes("bowl");
    this.surroundings = surroundingsOf(this.box, obstacles, shapes);
    this.placeGrid();
    const floor = shapes.findIndex((shape, i) => shape === "plane" && levelHeight(obstacles, i, this.up) !== null);
    // The grid is the floor: a level plane needs no other picture.
    this.obstacles.hide(floor);
    if (floor >= 0) this.placeGrid(levelHeight(obstacles, floor, this.up)!);
    this.touch();
  }

  setFrames(frames: Frame[], now: number): void {
    if (this.pendingTopology) this.applyTopology(this.pendingTopology);
    this.views = frames.length;
    this.shownFrame = frames[0]!.frame;
    this.lastFrames = frames;
    const n = (this.topology?.rest.length ?? 0) / 3;
    const skinned = this.skin !== null && this.skinShown;
    frames.forEach((frame, i) => {
      this.bodies[i]?.setFrame(part(frame, 0, n), now);
      if (skinned) this.skins[i]?.setFrame(part(frame, n), now);
    });
    this.bodies.forEach((body, i) => (body.group.visible = i < frames.length));
    this.skins.forEach((skin, i) => (skin.group.visible = skinned && i < frames.length));
    this.coils.forEach((coils, i) => (coils.group.visible = i < frames.length));
    this.applyColours(frames);
    this.follow(frames);
    this.touch();
  }

  setTelemetry(telemetry: Telemetry): void {
    if (telemetry.obstacles) this.obstacles.move(telemetry.obstacles);
    telemetry.views.forEach((view, i) => this.coils[i]?.set(view.springs ?? []));
  }

  setWireframe(on: boolean): void {
    for (const body of this.drawnBodies()) body.setWireframe(on);
    this.touch();
  }

  setClip(setting: ClipSetting | null): void {
    this.clipSetting = setting;
    this.applyClip();
    this.touch();
  }

  setLook(look: Look): void {
    this.bodies.forEach((body, i) => body.setLook(look.bodies[i]!, look.inside, look.wire, this.topology));
    const skin = this.skinTopology();
    this.skins.forEach((body, i) => body.setLook(look.bodies[i]!, look.inside, look.wire, skin));
    this.grid.setColour(look.grid, look.gridOpacity);
    this.obstacles.setColour(look.obstacle);
    this.touch();
  }

  showSpring(view: number, point: Vec3, target: Vec3): void {
    if (this.springs[view]?.show(point, target)) this.touch();
  }

  hideSprings(): void {
    this.springs.forEach((spring) => spring.hide());
    this.touch();
  }

  /** Positions of the surface as drawn now. */
  shownPositions(view: number): Float32Array {
    return this.bodies[view]?.shown ?? new Float32Array();
  }

  /** Once per turn of the screen: draws when something changed. */
  turn(now: number): boolean {
    let moved = false;
    for (const body of this.drawnBodies()) if (body.group.visible) moved = body.advance(now) || moved;
    const draws = moved || this.dirty;
    this.adaptResolution(now, draws);
    if (draws) this.movedAt = now;
    const resized = this.setDetail(now - this.movedAt > STILL_MS ? "fine" : "coarse");
    if (draws && !resized) this.render();
    return draws;
  }

  /** The best picture this machine can make, for files; drawn at once. */
  renderFine(): void {
    if (!this.setDetail("fine")) this.render();
  }

  render(): void {
    this.dirty = false;
    ++this.drawn;
    const { width, height } = this.renderer.getSize(new Vector2());
    if (width === 0 || height === 0) return;
    aimLight(new Vector3(0, 0, 1).transformDirection(this.orbit.camera.matrixWorld), this.up);
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    for (let view = 0; view < this.views; ++view) {
      const { x, width: w, aspect } = this.viewport(view);
      this.orbit.setAspect(aspect);
      this.orbit.camera.layers.set(0);
      this.orbit.camera.layers.enable(view + 1);
      this.bodies[view]!.setDetail(this.detail);
      this.skins[view]!.setDetail(this.detail);
      this.renderer.setViewport(x, 0, w, height);
      this.renderer.setScissor(x, 0, w, height);
      this.renderer.render(this.scene, this.orbit.camera);
    }
  }

  /** The ray through a point of the canvas (CSS pixels), and the view it belongs to. */
  ray(px: number, py: number): { view: number; eye: Vec3; direction: Vec3 } {
    const { width, height } = this.renderer.getSize(new Vector2());
    const view = this.views === 2 && px > width / 2 ? 1 : 0;
    const port = this.viewport(view);
    this.orbit.setAspect(port.aspect);
    const ndc = new Vector3((2 * (px - port.x)) / port.width - 1, 1 - (2 * py) / height, 0.5);
    const eye = this.orbit.camera.position.clone();
    const direction = ndc.unproject(this.orbit.camera).sub(eye).normalize();
    return { view, eye: eye.toArray(), direction: direction.toArray() };
  }

  /** Where a point of space is on the canvas, in CSS pixels. */
  project(point: Vec3, view: number): [number, number] {
    const { height } = this.renderer.getSize(new Vector2());
    const port = this.viewport(view);
    this.orbit.setAspect(port.aspect);
    const ndc = new Vector3(...point).project(this.orbit.camera);
    return [port.x + ((ndc.x + 1) / 2) * port.width, ((1 - ndc.y) / 2) * height];
  }

  pick(px: number, py: number): (Hit & { view: number }) | null {
    if (!this.topology) return null;
    const { view, eye, direction } = this.ray(px, py);
    const hit = pick(eye, direction, this.shownPositions(view), this.topology.triangles, this.clip());
    return hit && { ...hit, view };
  }

  viewDirection(): Vec3 {
    return this.orbit.camera.getWorldDirection(new Vector3()).toArray();
  }

  clip(): Clip | null {
    if (!this.clipSetting) return null;
    const { axis, at, flipped } = this.clipSetting;
    const low = this.box[0][axis];
    const high = this.box[1][axis];
    const margin = 0.02 * (high - low);
    const where = low - margin + at * (high - low + 2 * margin);
    const normal: Vec3 = [0, 0, 0];
    normal[axis] = flipped ? -1 : 1;
    return { normal, offset: flipped ? -where : where };
  }

  /** The colour table of a field, for the legend. */
  mapOf(field: string): MapName {
    return MAPS[field] ?? "sequential";
  }

  /** The field shown, and the numbers of the bodies that have no values of it. */
  setColourField(field: ColourField | null, without: ReadonlySet<number>): void {
    for (const body of this.drawnBodies()) body.setWithout(without);
    if (this.colourField === (field?.name ?? null)) return;
    this.colourField = field?.name ?? null;
    if (!field) for (const body of this.drawnBodies()) body.setColours(null, new Vector2(0, 1));
    this.touch();
  }

  /** The distance of two grid lines, m. */
  gridCell(): number {
    return this.grid.cell;
  }

  radius(): number {
    const [min, max] = this.box;
    return 0.5 * Math.hypot(max[0] - min[0], max[1] - min[1], max[2] - min[2]) || 1;
  }

  private centre(): Vector3 {
    return new Vector3(...this.box[0]).add(new Vector3(...this.box[1])).multiplyScalar(0.5);
  }

  private applyTopology(topology: Topology): void {
    this.pendingTopology = null;
    const sameTriangles = this.surface && this.topology && equal(this.topology.triangles, topology.triangles);
    const surface = sameTriangles ? this.surface! : splitAtCreases(topology.rest, topology.triangles);
    this.surface = surface;
    this.topology = topology;
    const skin = this.skinShown ? this.skinTopology() : null;
    const shown = { triangles: skin ? this.trianglesWithoutSkin(surface, topology) : surface.triangles, source: surface.source };
    const coarse = this.coarsened(shown, topology.rest);
    for (const body of this.bodies) body.setTopology(topology, surface, shown.triangles, coarse);
    if (!skin) return;
    const skinSurface = splitAtCreases(skin.rest, skin.triangles);
    for (const body of this.skins) body.setTopology(skin, skinSurface, skinSurface.triangles, this.coarsened(skinSurface, skin.rest));
  }

  private coarsened(surface: DrawnSurface, rest: Float32Array): Uint32Array {
    return this.software ? coarsen(surface, rest, SOFTWARE_TRIANGLES) : surface.triangles;
  }

  private drawnBodies(): BodyView[] {
    return [...this.bodies, ...this.skins];
  }

  /** The skin as the surface of all bodies, of which those without one have nothing. */
  private skinTopology(): Topology | null {
    const { skin } = this;
    const bodies = (this.pendingTopology ?? this.topology)?.firstVertex.length ?? 0;
    if (!skin || bodies === 0) return null;
    const first = (of: Uint32Array) =>
      Uint32Array.from({ length: bodies }, (_, body) => {
        const mesh = skin.bodies.findIndex((number) => number >= body);
        return mesh < 0 ? of[of.length - 1]! : of[mesh]!;
      });
    return {
      kind: "topology",
      revision: skin.revision,
      firstVertex: first(skin.firstVertex),
      firstTriangle: first(skin.firstTriangle),
      triangles: skin.triangles,
      nodes: new Uint32Array(),
      rest: skin.rest,
      holds: new Uint8Array(skin.rest.length / 3),
    };
  }

  /** Those of bodies that are drawn as they are. */
  private trianglesWithoutSkin(surface: DrawnSurface, topology: Topology): Uint32Array {
    const hidden = new Set(this.skin!.bodies);
    const parts: number[] = [];
    for (let body = 0; body + 1 < topology.firstTriangle.length; ++body) {
      if (hidden.has(body)) continue;
      for (let i = 3 * topology.firstTriangle[body]!; i < 3 * topology.firstTriangle[body + 1]!; ++i) parts.push(surface.triangles[i]!);
    }
    return Uint32Array.from(parts);
  }

  private applyColours(frames: Frame[]): void {
    const colours = frames.map((frame) => frame.colour);
    const shown = colours.every((colour) => colour !== null && colour.field === this.colourField);
    if (!this.colourField || !shown) {
      if (!this.colourField) for (const body of this.drawnBodies()) body.setColours(null, new Vector2(0, 1));
      return;
    }
    this.range.low = Math.min(...colours.map((c) => c!.low));
    this.range.high = Math.max(...colours.map((c) => c!.high));
    const name = this.mapOf(this.colourField);
    let texture = this.textures.get(name);
    if (!texture) this.textures.set(name, (texture = mapTexture(name)));
    const span = this.range.high - this.range.low || 1;
    colours.forEach((colour, i) => {
      const scale = new Vector2((colour!.low - this.range.low) / span, (colour!.high - colour!.low) / span);
      for (const body of [this.bodies[i]!, this.skins[i]!]) body.setColours(texture, scale);
    });
  }

  private applyClip(): void {
    const clip = this.clip();
    for (const body of this.drawnBodies()) body.setClip(clip && new Vector4(...clip.normal, clip.offset));
  }

  private placeGrid(height?: number): void {
    const centre = this.centre();
    const radius = this.radius();
    let lowest = Infinity;
    for (let corner = 0; corner < 8; ++corner) {
      const point = new Vector3(...([0, 1, 2].map((k) => this.surroundings[(corner >> k) & 1]![k]!) as Vec3));
      lowest = Math.min(lowest, point.dot(this.up));
    }
    const ground = height ?? lowest - 0.25 * radius;
    this.grid.place(centre.addScaledVector(this.up, ground - centre.dot(this.up)), this.up, radius);
    const aside = new Vector3(Math.abs(this.up.x) < 0.9 ? 1 : 0, Math.abs(this.up.x) < 0.9 ? 0 : 1, 0).cross(this.up).multiplyScalar(-0.25);
    aside.addScaledVector(new Vector3().crossVectors(aside, this.up), 1);
    // A little above the ground, so that planes there do not hide them.
    for (const body of this.drawnBodies()) body.setGround(ground + 0.002 * radius, aside);
  }

  /** Where pictures are expensive, moving things are drawn coarser. True when that has drawn. */
  private setDetail(detail: "fine" | "coarse"): boolean {
    if (detail === this.detail) return false;
    this.detail = detail;
    if (!this.software && this.pixelRatio === this.finePixelRatio) return false;
    this.resize();
    return true;
  }

  private resize(): void {
    const parent = this.canvas.parentElement!;
    screen.ratio.value = this.detail === "fine" ? this.finePixelRatio : this.pixelRatio;
    this.renderer.setPixelRatio(screen.ratio.value);
    this.renderer.setSize(parent.clientWidth, parent.clientHeight, false);
    this.render();
  }

  viewportSize(): { width: number; height: number; aspect: number } {
    const { width, height } = this.renderer.getSize(new Vector2());
    const w = this.views === 2 ? width / 2 : width;
    return { width: w, height, aspect: w / Math.max(1, height) };
  }

  private viewport(view: number): { x: number; width: number; aspect: number } {
    const { width, height } = this.renderer.getSize(new Vector2());
    if (this.views === 1) return { x: 0, width, aspect: width / Math.max(1, height) };
    const half = (width - GAP) / 2;
    return { x: view * (half + GAP), width: half, aspect: half / Math.max(1, height) };
  }

  /** Draws fewer pixels where even a picture every 45 ms is too much for the machine. */
  private adaptResolution(now: number, draws: boolean): void {
    const took = now - this.lastTurn;
    this.lastTurn = now;
    if (!draws || took > 500) return;
    this.slowTurns = took > 45 ? this.slowTurns + 1 : Math.max(0, this.slowTurns - 1);
    if (this.slowTurns < 20 || this.pixelRatio <= 0.6) return;
    this.slowTurns = 0;
    this.pixelRatio = Math.max(0.6, 0.75 * this.pixelRatio);
    this.resize();
  }
}

/** Without a graphics card, smoothing edges costs as much as the whole picture. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

/** The vertices of a frame from one number to another, with their colours. */
function part(frame: Frame, from: number, to?: number): Frame {
  if (from === 0 && 3 * (to ?? 0) === frame.positions.length) return frame;
  const colour = frame.colour && { ...frame.colour, values: frame.colour.values.subarray(from, to) };
  return { ...frame, positions: frame.positions.subarray(3 * from, to === undefined ? undefined : 3 * to), colour };
}

function equal(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** A box around the bodies and around obstacles that are not much larger than they. */
function surroundingsOf(box: [Vec3, Vec3], obstacles: Obstacles, shapes: string[]): [Vec3, Vec3] {
  const low: Vec3 = [...box[0]];
  const high: Vec3 = [...box[1]];
  const { firstTriangle, triangles, positions } = obstacles;
  const size = Math.hypot(...high.map((h, k) => h - low[k]!));
  shapes.forEach((shape, i) => {
    if (shape === "plane") return;
    const corners = triangles.subarray(3 * firstTriangle[i]!, 3 * firstTriangle[i + 1]!);
    for (let k = 0; k < 3; ++k) {
      for (const corner of corners) {
        const x = positions[3 * corner + k]!;
        if (x > box[0][k]! - size && x < low[k]!) low[k] = x;
        if (x < box[1][k]! + size && x > high[k]!) high[k] = x;
      }
    }
  });
  return [low, high];
}

/** The height of an obstacle that is level, or null for walls, slopes and everything round. */
function levelHeight(obstacles: Obstacles, which: number, up: Vector3): number | null {
  let lowest = Infinity;
  let highest = -Infinity;
  const { firstTriangle, triangles, positions } = obstacles;
  for (let i = 3 * firstTriangle[which]!; i < 3 * firstTriangle[which + 1]!; ++i) {
    const height = new Vector3().fromArray(positions, 3 * triangles[i]!).dot(up);
    lowest = Math.min(lowest, height);
    highest = Math.max(highest, height);
  }
  return highest - lowest < 1e-3 * (1 + Math.abs(lowest)) ? lowest : null;
}
