// The pointer on the canvas. On a body it grabs, pins or cuts; beside it, it turns the view. A grabbed point follows the pointer in
// the plane through it that faces the camera. The keyboard has the same hand: `g`, then the arrow keys.
import type { App } from "./app.ts";
import { Hold, type Vec3 } from "./data/protocol.ts";
import { surfacePoint } from "./view/pick.ts";

interface Held {
  triangle: number;
  weights: Vec3;
  target: Vec3;
  /** The plane the target moves in. */
  normal: Vec3;
  offset: number;
  byKeyboard: boolean;
}

const HAND = 0;
const ORBIT_SPEED = 0.0065;

export class Hand {
  held: Held | null = null;
  private readonly canvas: HTMLCanvasElement;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private mode: "none" | "orbit" | "pan" | "grab" | "cut" = "none";
  private cutFrom: [number, number] = [0, 0];
  private last: [number, number] | null = null;
  private moved = false;
  private hoverDue = false;

  constructor(
    private readonly app: App,
    private readonly cutLine: SVGLineElement,
  ) {
    this.canvas = app.world.canvas;
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.up(event));
    this.canvas.addEventListener("pointercancel", (event) => this.up(event));
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener("dblclick", () => !this.held && this.app.tool === "grab" && !this.pickAt(this.last) && this.app.frameCamera());
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.app.world.orbit.zoom(Math.exp(0.0012 * event.deltaY * (event.deltaMode === 1 ? 16 : 1)));
      },
      { passive: false },
    );
    app.session.on("released", (hand) => hand === HAND && this.forget());
    app.session.on("scene", () => this.forget());
  }

  /** Once per turn of the screen: the newest target goes to the server, the spring is drawn where the body is. */
  turn(): void {
    const { world, session } = this.app;
    if (this.hoverDue) {
      this.hoverDue = false;
      this.showCursor();
    }
    if (!this.held || !world.topology) return;
    if (this.moved) {
      this.moved = false;
      session.send("move", { hand: HAND, target: this.held.target });
    }
    for (let view = 0; view < world.views; ++view) {
      const point = surfacePoint(world.shownPositions(view), world.topology.triangles, this.held.triangle, this.held.weights);
      world.showSpring(view, point, this.held.target);
    }
  }

  grabAt(x: number, y: number, byKeyboard = false): boolean {
    const hit = this.app.world.pick(x, y);
    if (!hit || !this.app.session.can("grab")) return false;
    const normal = this.app.world.viewDirection();
    this.app.world.orbit.moved = true; // the view stands still under the hand, and after it
    this.held = {
      triangle: hit.triangle,
      weights: hit.weights,
      target: hit.point,
      normal,
      offset: dot(normal, hit.point),
      byKeyboard,
    };
    this.app.session.send("grab", { hand: HAND, view: hit.view, triangle: hit.triangle, weights: hit.weights, target: hit.point });
    return true;
  }

  /** Grabs with the keyboard: under the pointer, else at the middle of the view, else at the body's nearest point. */
  grabByKeyboard(): void {
    if (this.held) {
      this.release();
      return;
    }
    const { width, height } = this.app.world.viewportSize();
    const places: [number, number][] = [[width / 2, height / 2]];
    if (this.last) places.unshift(this.last);
    places.push(...this.nearestToCentre(width / 2, height / 2));
    places.some(([x, y]) => this.grabAt(x, y, true));
  }

  /** Moves the held point by a fraction of the scene's size, to the right, up, and away from the camera. */
  nudge(right: number, up: number, away: number): void {
    if (!this.held) return;
    const { world } = this.app;
    const e = world.orbit.camera.matrixWorld.elements;
    const size = world.radius();
    this.held.target = this.held.target.map((t, k) => t + size * (right * e[k]! + up * e[4 + k]! - away * e[8 + k]!)) as Vec3;
    this.held.offset = dot(this.held.normal, this.held.target);
    this.moved = true;
  }

  release(): void {
    if (!this.held) return;
    this.app.session.send("release", { hand: HAND });
    this.forget();
  }

  pinAt(x: number, y: number): void {
    const { world, session } = this.app;
    const hit = world.pick(x, y);
    if (!hit || !world.topology || !session.can("pin")) return;
    const heaviest = hit.weights.indexOf(Math.max(...hit.weights));
    const vertex = world.topology.triangles[3 * hit.triangle + heaviest]!;
    const pinned = world.topology.holds[vertex] === Hold.hand;
    session.send(pinned ? "unpin" : "pin", { view: hit.view, triangle: hit.triangle, weights: hit.weights });
  }

  private forget(): void {
    this.held = null;
    if (this.mode === "grab") this.mode = "none";
    this.app.world.hideSprings();
  }

  private down(event: PointerEvent): void {
    this.canvas.focus({ preventScroll: true });
    const at = this.at(event);
    this.pointers.set(event.pointerId, { x: at[0], y: at[1] });
    this.canvas.setPointerCapture(event.pointerId);
    this.last = at;
    if (this.pointers.size === 2) {
      this.release();
      this.mode = "pan";
      return;
    }
    if (event.button === 1 || event.button === 2) {
      this.mode = "pan";
      return;
    }
    const tool = event.shiftKey ? "pin" : event.altKey ? "cut" : this.app.tool;
    if (tool === "pin" && this.pickAt(at)) {
      this.pinAt(...at);
      return;
    }
    if (tool === "cut" && this.app.session.can("cut")) {
      this.mode = "cut";
      this.cutFrom = at;
      this.drawCut(at);
      return;
    }
    this.mode = tool === "grab" && this.grabAt(...at) ? "grab" : "orbit";
    this.canvas.classList.add(this.mode === "grab" ? "grabbing" : "orbiting");
  }

  private move(event: PointerEvent): void {
    const at = this.at(event);
    const before = this.pointers.get(event.pointerId);
    this.last = at;
    if (!before) {
      this.hoverDue = true;
      return;
    }
    const dx = at[0] - before.x;
    const dy = at[1] - before.y;
    if (this.pointers.size === 2) this.pinch(event.pointerId, at);
    this.pointers.set(event.pointerId, { x: at[0], y: at[1] });
    const { orbit } = this.app.world;
    if (this.mode === "orbit") orbit.orbit(-ORBIT_SPEED * dx, ORBIT_SPEED * dy);
    else if (this.mode === "pan") {
      const height = this.app.world.viewportSize().height;
      const share = 1 / this.pointers.size;
      orbit.pan((share * dx) / height, (-share * dy) / height);
    } else if (this.mode === "grab") this.drag(...at);
    else if (this.mode === "cut") this.drawCut(at);
  }

  private up(event: PointerEvent): void {
    const at = this.at(event);
    this.pointers.delete(event.pointerId);
    if (this.mode === "grab") this.release();
    if (this.mode === "cut") this.cut(this.cutFrom, at);
    this.mode = "none";
    this.cutLine.removeAttribute("data-on");
    this.canvas.classList.remove("grabbing", "orbiting");
  }

  private drag(x: number, y: number): void {
    if (!this.held) return;
    const { eye, direction } = this.app.world.ray(x, y);
    const along = dot(this.held.normal, direction);
    if (Math.abs(along) < 1e-6) return;
    const distance = (this.held.offset - dot(this.held.normal, eye)) / along;
    this.held.target = eye.map((e, k) => e + distance * direction[k]!) as Vec3;
    this.moved = true;
  }

  private pinch(id: number, at: [number, number]): void {
    const other = [...this.pointers].find(([key]) => key !== id)?.[1];
    const before = this.pointers.get(id);
    if (!other || !before) return;
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    const is = Math.hypot(at[0] - other.x, at[1] - other.y);
    if (is > 1) this.app.world.orbit.zoom(was / is);
  }

  /** The plane through the eye and a line on the screen, where the line crosses a body. */
  private cut(from: [number, number], to: [number, number]): void {
    const { world, session } = this.app;
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 8) return;
    const a = world.ray(...from);
    const b = world.ray(...to);
    const hits: { point: Vec3; view: number }[] = [];
    for (let i = 0; i <= 40; ++i) {
      const s = i / 40;
      const hit = world.pick(from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1]));
      if (hit && hit.view === a.view) hits.push(hit);
    }
    const middle = hits[Math.floor(hits.length / 2)];
    if (!middle) return;
    const normal = cross(a.direction, b.direction);
    session.send("cut", { point: middle.point, normal, space: "now", view: middle.view });
  }

  private drawCut(to: [number, number]): void {
    const values = { x1: this.cutFrom[0], y1: this.cutFrom[1], x2: to[0], y2: to[1] };
    for (const [name, value] of Object.entries(values)) this.cutLine.setAttribute(name, String(value));
    this.cutLine.setAttribute("data-on", "");
  }

  private showCursor(): void {
    const over = this.mode === "none" && this.pickAt(this.last) !== null;
    this.canvas.classList.toggle("over-body", over);
    this.canvas.dataset.tool = this.app.tool;
  }

  private pickAt(at: [number, number] | null) {
    return at ? this.app.world.pick(...at) : null;
  }

  private nearestToCentre(x: number, y: number): [number, number][] {
    const { world } = this.app;
    const positions = world.shownPositions(0);
    let best: [number, number] | null = null;
    let nearest = Infinity;
    const every = Math.max(1, Math.floor(positions.length / 3 / 4000));
    for (let i = 0; i < positions.length; i += 3 * every) {
      const at = world.project([positions[i]!, positions[i + 1]!, positions[i + 2]!], 0);
      const distance = Math.hypot(at[0] - x, at[1] - y);
      if (distance < nearest) [nearest, best] = [distance, at];
    }
    // Slightly outwards of the vertex there may be nothing: a few places around it.
    return best ? [0, 2, 4, 8].flatMap((r) => [0, 1, 2, 3].map((q) => [best[0] + r * Math.cos((q * Math.PI) / 2), best[1] + r * Math.sin((q * Math.PI) / 2)] as [number, number])) : [];
  }

  private at(event: PointerEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
