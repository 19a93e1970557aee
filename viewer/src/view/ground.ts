// What surrounds the bodies: a grid on the ground, obstacles, springs, and the hand's own.
import { BufferAttribute, BufferGeometry, Color, Group, Line, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, Points, Vector3 } from "three";
import type { Obstacles, Vec3 } from "../data/protocol.ts";
import { gridMaterial, markMaterial, obstacleMaterial } from "./materials.ts";

/** 1, 2 or 5 times a power of ten, at most `value`. */
export function roundLength(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const ratio = value / power;
  return power * (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1);
}

export class Grid {
  readonly object: LineSegments<BufferGeometry, ReturnType<typeof gridMaterial>>;
  /** The distance of two lines, m. */
  cell = 1;

  constructor() {
    this.object = new LineSegments(new BufferGeometry(), gridMaterial());
    this.object.frustumCulled = false;
  }

  /** A square of lines around `centre`, at right angles to `up`, large enough for a scene of that radius. */
  place(centre: Vector3, up: Vector3, radius: number): void {
    this.cell = roundLength(radius / 3);
    const count = 30;
    const side = new Vector3(1, 0, 0);
    if (Math.abs(up.dot(side)) > 0.9) side.set(0, 0, 1);
    side.addScaledVector(up, -side.dot(up)).normalize();
    const ahead = new Vector3().crossVectors(side, up);
    // Lines at whole multiples of the cell, so that the grid measures coordinates.
    const snapped = (axis: Vector3) => Math.round(centre.dot(axis) / this.cell);
    const s0 = snapped(side);
    const a0 = snapped(ahead);
    const height = centre.dot(up);
    const points: number[] = [];
    const weights: number[] = [];
    const at = (s: number, a: number) =>
      new Vector3().addScaledVector(side, s * this.cell).addScaledVector(ahead, a * this.cell).addScaledVector(up, height);
    for (let i = -count; i <= count; ++i) {
      for (const [from, to, index] of [
        [at(s0 + i, a0 - count), at(s0 + i, a0 + count), s0 + i],
        [at(s0 - count, a0 + i), at(s0 + count, a0 + i), a0 + i],
      ] as const) {
        points.push(...from.toArray(), ...to.toArray());
        const weight = index % 5 === 0 ? 1 : 0.45;
        weights.push(weight, weight);
      }
    }
    this.object.geometry.dispose();
    this.object.geometry = new BufferGeometry();
    this.object.geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
    this.object.geometry.setAttribute("weight", new BufferAttribute(Float32Array.from(weights), 1));
    (this.object.material.uniforms.centre!.value as Vector3).copy(centre);
    this.object.material.uniforms.reach!.value = count * this.cell * 0.55;
  }

  setColour(colour: string, opacity: number): void {
    (this.object.material.uniforms.colour!.value as Color).set(colour);
    this.object.material.uniforms.opacity!.value = opacity;
  }
}

export class ObstacleView {
  readonly group = new Group();
  private readonly meshes: Mesh<BufferGeometry, ReturnType<typeof obstacleMaterial>>[] = [];
  private colour = "#9aa3ad";

  set(obstacles: Obstacles, shapes: string[], centre: Vector3, radius: number): void {
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      this.group.remove(mesh);
    }
    this.meshes.length = 0;
    const positions = new BufferAttribute(obstacles.positions, 3);
    for (let o = 0; o + 1 < obstacles.firstTriangle.length; ++o) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", positions);
      const corners = obstacles.triangles.subarray(3 * obstacles.firstTriangle[o]!, 3 * obstacles.firstTriangle[o + 1]!);
      geometry.setIndex(new BufferAttribute(corners, 1));
      const drawn = geometry.toNonIndexed();
      geometry.dispose();
      const smooth = smoothNormals(drawn);
      drawn.setAttribute("normal", new BufferAttribute(smooth, 3));
      const mesh = new Mesh(drawn, obstacleMaterial());
      const plane = shapes[o] === "plane";
      mesh.renderOrder = -1;
      mesh.frustumCulled = false;
      mesh.matrixAutoUpdate = false;
      mesh.material.depthWrite = !plane;
      const { uniforms } = mesh.material;
      (uniforms.centre!.value as Vector3).copy(centre);
      uniforms.reach!.value = plane ? 5 * radius : 1e6;
      uniforms.opacity!.value = plane ? 0.35 : 1;
      (uniforms.colour!.value as Color).set(this.colour);
      this.meshes.push(mesh);
      this.group.add(mesh);
    }
  }

  hide(which: number): void {
    const mesh = this.meshes[which];
    if (mesh) mesh.visible = false;
  }

  move(matrices: number[][]): void {
    matrices.forEach((matrix, i) => {
      const mesh = this.meshes[i];
      if (!mesh || matrix.length !== 16) return;
      mesh.matrix.copy(new Matrix4().fromArray(matrix));
      mesh.matrixWorldNeedsUpdate = true;
    });
  }

  setColour(colour: string): void {
    this.colour = colour;
    for (const mesh of this.meshes) (mesh.material.uniforms.colour!.value as Color).set(colour);
  }
}

/** Normals of separate triangles, averaged where corners meet at less than 40 degrees. */
function smoothNormals(geometry: BufferGeometry): Float32Array {
  geometry.computeVertexNormals();
  const position = geometry.getAttribute("position");
  const flat = geometry.getAttribute("normal");
  const at = new Map<string, number[]>();
  const key = (i: number) => [position.getX(i), position.getY(i), position.getZ(i)].map((v) => v.toPrecision(6)).join();
  for (let i = 0; i < position.count; ++i) {
    const k = key(i);
    const list = at.get(k);
    if (list) list.push(i);
    else at.set(k, [i]);
  }
  const out = new Float32Array(3 * position.count);
  const n = new Vector3();
  const m = new Vector3();
  const sum = new Vector3();
  for (let i = 0; i < position.count; ++i) {
    n.fromBufferAttribute(flat, i);
    sum.set(0, 0, 0);
    for (const j of at.get(key(i))!) if (m.fromBufferAttribute(flat, j).dot(n) > 0.76) sum.add(m);
    sum.normalize().toArray(out, 3 * i);
  }
  return out;
}

/** The spring between a held point and the hand, drawn over everything. */
export class SpringMark {
  readonly group = new Group();
  private readonly positions = new Float32Array(6);
  private readonly attribute = new BufferAttribute(this.positions, 3);

  constructor(colour: string, layer: number) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.attribute);
    const line = new Line(geometry, new MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.9 }));
    const dots = new Points(geometry, markMaterial(colour, 1, 11));
    dots.material.depthTest = false;
    for (const object of [line, dots]) {
      object.frustumCulled = false;
      object.renderOrder = 10;
      object.layers.set(layer);
      this.group.add(object);
    }
    this.group.visible = false;
  }

  /** False when it is shown like that already. */
  show(point: Vec3, target: Vec3): boolean {
    if (this.group.visible && [...point, ...target].every((x, i) => this.positions[i] === Math.fround(x))) return false;
    this.positions.set(point, 0);
    this.positions.set(target, 3);
    this.attribute.needsUpdate = true;
    this.group.visible = true;
    return true;
  }

  hide(): void {
    this.group.visible = false;
  }
}

/** The scene's springs, as wires that wind about the line between their ends. */
export class Coils {
  readonly group = new Group();
  private readonly lines: LineSegments;
  private shown: [Vec3, Vec3][] = [];

  constructor(layer: number) {
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: "#7a828e" }));
    this.lines.frustumCulled = false;
    this.lines.layers.set(layer);
    this.group.layers.set(layer);
    this.group.add(this.lines);
  }

  set(springs: [Vec3, Vec3][]): void {
    if (springs.length === 0 && this.shown.length === 0) return;
    if (springs.length !== this.shown.length) {
      this.lines.geometry.dispose();
      this.lines.geometry = new BufferGeometry();
      const positions = new Float32Array(springs.length * SEGMENTS * 6);
      this.lines.geometry.setAttribute("position", new BufferAttribute(positions, 3));
    }
    this.shown = springs;
    const attribute = this.lines.geometry.getAttribute("position") as BufferAttribute;
    const out = attribute.array as Float32Array;
    springs.forEach(([from, to], spring) => {
      let last = coilPoint(from, to, 0);
      for (let k = 0; k < SEGMENTS; ++k) {
        const next = coilPoint(from, to, (k + 1) / SEGMENTS);
        out.set(last, (spring * SEGMENTS + k) * 6);
        out.set(next, (spring * SEGMENTS + k) * 6 + 3);
        last = next;
      }
    });
    attribute.needsUpdate = true;
  }
}

const TURNS = 8;
const SEGMENTS = 16 * TURNS;
const axisOf = new Vector3();
const sideOf = new Vector3();
const otherOf = new Vector3();

/** A point of a coil; its ends are straight. */
export function coilPoint(from: Vec3, to: Vec3, at: number): Vec3 {
  axisOf.set(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
  const length = axisOf.length();
  axisOf.normalize();
  // Across the axis, from the coordinate that it has least of.
  const size = [Math.abs(axisOf.x), Math.abs(axisOf.y), Math.abs(axisOf.z)];
  const least = size.indexOf(Math.min(...size));
  sideOf.set(least === 0 ? 1 : 0, least === 1 ? 1 : 0, least === 2 ? 1 : 0).cross(axisOf).normalize();
  otherOf.crossVectors(axisOf, sideOf);
  const wound = Math.min(1, Math.max(0, (at - 0.12) / 0.76));
  const radius = 0.05 * length * Math.min(1, wound / 0.04, (1 - wound) / 0.04);
  const angle = 2 * Math.PI * TURNS * wound;
  const [u, v] = [radius * Math.cos(angle), radius * Math.sin(angle)];
  return [0, 1, 2].map((k) => from[k]! + at * (to[k]! - from[k]!) + u * sideOf.getComponent(k) + v * otherOf.getComponent(k)) as Vec3;
}
