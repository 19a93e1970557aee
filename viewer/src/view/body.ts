// The bodies of one view: surface, wireframe and marks of held vertices, all on the same vertex positions.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, FrontSide, Group, LineSegments, Mesh, Points, Sphere, Vector2, Vector3, Vector4, type DataTexture } from "three";
import { Hold, type Frame, type Topology } from "../data/protocol.ts";
import { bodyMaterial, dynamicAttribute, markMaterial, shadowMaterial } from "./materials.ts";
import { gatherPositions, sumNormals, uniqueEdges, type DrawnSurface } from "./surface.ts";

/** More dots than this hide what they mark. */
const MOST_MARKS = 250;
/** Those of `body_colour` in src/pliant/io/animation/animation.cpp. */
const BODY_COLOURS = ["#4d8ccc", "#e68f47", "#61ad7a", "#cc7085", "#9482c7", "#bda84d", "#4da8ad", "#ad806b"];
const HELD = [Hold.scene, Hold.script, Hold.hand] as const;
const HELD_COLOURS = { [Hold.scene]: "#5d6673", [Hold.script]: "#8a63c9", [Hold.hand]: "#d6453d" };

export class BodyView {
  readonly group = new Group();
  /** Where the surface vertices are drawn now: between the last two frames, or at the last. */
  shown: Float32Array = new Float32Array();
  private surface: DrawnSurface = { triangles: new Uint32Array(), source: new Uint32Array() };
  private from: Float32Array = new Float32Array();
  private to: Float32Array = new Float32Array();
  private arrivedAt = 0;
  private interval = 0;
  private settled = true;
  private readonly mesh: Mesh<BufferGeometry, ReturnType<typeof bodyMaterial>>;
  private readonly shadow = new Mesh(new BufferGeometry(), shadowMaterial());
  private readonly wire: LineSegments<BufferGeometry, ReturnType<typeof markMaterial>>;
  private readonly marks: Points<BufferGeometry, ReturnType<typeof markMaterial>>[];
  private colour = "#000000";
  private bodyOf: Uint32Array = new Uint32Array();
  private withoutField: ReadonlySet<number> = new Set();
  private open = false;
  /** Positions between two frames, in an array of its own. */
  private between = new Float32Array();
  private fine: BufferAttribute | null = null;
  private coarse: BufferAttribute | null = null;

  constructor(layer: number) {
    this.mesh = new Mesh(new BufferGeometry(), bodyMaterial());
    this.wire = new LineSegments(new BufferGeometry(), markMaterial("#000000", 0.38, 0));
    this.wire.visible = false;
    this.marks = HELD.map((hold) => new Points(new BufferGeometry(), markMaterial(HELD_COLOURS[hold], 0.9, hold === Hold.hand ? 8 : 5)));
    this.shadow.renderOrder = -0.5; // after the ground and obstacles, before bodies
    for (const object of [this.shadow, this.mesh, this.wire, ...this.marks]) {
      object.frustumCulled = false;
      object.layers.set(layer);
      this.group.add(object);
    }
    this.group.layers.set(layer);
  }

  /** Draws these triangles of the surface, the fine ones or the coarse ones; hands reach all of it. */
  setTopology(topology: Topology, surface: DrawnSurface, triangles: Uint32Array, coarse: Uint32Array): void {
    this.surface = surface;
    this.from = this.to = this.shown = topology.rest;
    this.settled = true;
    this.arrivedAt = -Infinity;
    const { source } = this.surface;
    const position = dynamicAttribute(new Float32Array(3 * source.length), 3);
    const attributes: Record<string, BufferAttribute> = {
      position,
      normal: dynamicAttribute(new Float32Array(3 * source.length), 3),
      field: dynamicAttribute(new Uint8Array(source.length), 1, true),
      tint: new BufferAttribute(this.tints(topology), 3),
      without: dynamicAttribute(new Uint8Array(source.length), 1),
    };
    replaceGeometry(this.mesh, attributes, triangles);
    this.bodyOf = bodiesOf(topology);
    this.markWithout();
    this.shadow.geometry = this.mesh.geometry;
    this.fine = this.mesh.geometry.index;
    this.coarse = coarse === triangles ? this.fine : new BufferAttribute(coarse, 1);
    replaceGeometry(this.wire, { position }, uniqueEdges({ triangles, source }));
    HELD.forEach((hold, i) => {
      const held: number[] = [];
      const seen = new Set<number>();
      source.forEach((vertex, drawn) => {
        if (topology.holds[vertex] === hold && !seen.has(vertex)) held.push(drawn);
        seen.add(vertex);
      });
      const every = Math.ceil(held.length / MOST_MARKS);
      replaceGeometry(this.marks[i]!, { position }, Uint32Array.from(held.filter((_, m) => m % every === 0)));
    });
    this.draw(1);
  }

  /** Where a frame arrives after a while, the motion from the last one to it takes about as long as it took to come. */
  setFrame(frame: Frame, now: number): void {
    const interval = now - this.arrivedAt;
    this.arrivedAt = now;
    this.interval = interval > 24 && interval < 400 ? Math.min(interval, 150) : 0;
    this.from = this.shown === this.to ? this.to : this.shown.slice();
    this.to = frame.positions;
    this.settled = false;
    const field = this.mesh.geometry.getAttribute("field") as BufferAttribute;
    if (frame.colour) {
      const { source } = this.surface;
      const values = frame.colour.values;
      const out = field.array as Uint8Array;
      for (let i = 0; i < source.length; ++i) out[i] = values[source[i]!]!;
      field.needsUpdate = true;
    }
  }

  /** Moves what is drawn towards the last frame; false when nothing moved. */
  advance(now: number): boolean {
    if (this.settled) return false;
    const blend = this.interval > 0 ? Math.min(1, (now - this.arrivedAt) / this.interval) : 1;
    this.settled = blend >= 1;
    this.draw(blend);
    return true;
  }

  setColours(texture: DataTexture | null, scale: Vector2): void {
    const { uniforms } = this.mesh.material;
    uniforms.mapped!.value = texture ? 1 : 0;
    if (texture) uniforms.map!.value = texture;
    (uniforms.scale!.value as Vector2).copy(scale);
  }

  /** Bodies that the field shown has no values for: they stay plain. */
  setWithout(bodies: ReadonlySet<number>): void {
    this.withoutField = bodies;
    this.markWithout();
  }

  private markWithout(): void {
    const without = this.mesh.geometry.getAttribute("without") as BufferAttribute | undefined;
    if (!without) return;
    const { source } = this.surface;
    for (let i = 0; i < source.length; ++i) (without.array as Uint8Array)[i] = this.withoutField.has(this.bodyOf[source[i]!]!) ? 1 : 0;
    without.needsUpdate = true;
  }

  setLook(colour: string, inside: string, wire: string, topology: Topology | null): void {
    this.colour = colour;
    (this.mesh.material.uniforms.inside!.value as Color).set(inside);
    (this.wire.material.uniforms.colour!.value as Color).set(wire);
    if (topology && this.mesh.geometry.getAttribute("tint")) this.mesh.geometry.setAttribute("tint", new BufferAttribute(this.tints(topology), 3));
  }

  /** Where shadows fall: the height of the ground along `up`, and how far they are thrown aside. */
  setGround(height: number, aside: Vector3): void {
    const { uniforms } = this.shadow.material;
    uniforms.ground!.value = height;
    (uniforms.aside!.value as Vector3).copy(aside);
  }

  /** Whether surfaces may be seen from both sides, as those of cloth. */
  setOpen(open: boolean): void {
    this.open = open;
    this.chooseSides();
  }

  /** Fine for a picture to look at, coarse for one that is gone in a moment. */
  setDetail(detail: "fine" | "coarse"): void {
    const index = detail === "fine" ? this.fine : this.coarse;
    if (index && this.mesh.geometry.index !== index) this.mesh.geometry.setIndex(index);
  }

  setWireframe(on: boolean): void {
    this.wire.visible = on;
  }

  setClip(plane: Vector4 | null): void {
    const value = plane ?? new Vector4(0, 0, 0, 1e30);
    this.mesh.material.defines = plane ? { CLIPPED: 1 } : {};
    this.chooseSides();
    for (const object of [this.mesh, this.wire, ...this.marks]) (object.material.uniforms.clip!.value as Vector4).copy(value);
  }

  private chooseSides(): void {
    const { material } = this.mesh;
    material.side = this.open || material.defines?.CLIPPED ? DoubleSide : FrontSide;
    material.needsUpdate = true;
  }

  private draw(blend: number): void {
    const position = this.mesh.geometry.getAttribute("position") as BufferAttribute;
    const normal = this.mesh.geometry.getAttribute("normal") as BufferAttribute;
    const drawn = position.array as Float32Array;
    gatherPositions(this.surface, this.from, this.to, blend, drawn);
    sumNormals(drawn, this.surface.triangles, normal.array as Float32Array);
    position.needsUpdate = normal.needsUpdate = true;
    if (blend >= 1) {
      this.shown = this.to;
    } else {
      // Never into what is shown already: that may be the topology's rest, or a frame that others hold.
      if (this.shown !== this.between) this.shown = this.between = new Float32Array(this.to.length);
      const { source } = this.surface;
      for (let i = 0; i < source.length; ++i) {
        for (let k = 0; k < 3; ++k) this.shown[3 * source[i]! + k] = drawn[3 * i + k]!;
      }
    }
  }

  /** Linear colours of the drawn vertices: one body has the colour of its view, several have one each, as in pictures. */
  private tints(topology: Topology): Float32Array {
    const { source } = this.surface;
    const out = new Float32Array(3 * source.length);
    const bodies = topology.firstVertex.length - 1;
    const bodyOf = bodiesOf(topology);
    const colours = Array.from({ length: Math.max(1, bodies) }, (_, body) => {
      return new Color(bodies > 1 ? BODY_COLOURS[body % BODY_COLOURS.length]! : this.colour);
    });
    source.forEach((vertex, i) => colours[bodyOf[vertex]!]!.toArray(out, 3 * i));
    return out;
  }
}

/** The body of each vertex. */
function bodiesOf(topology: Topology): Uint32Array {
  const bodyOf = new Uint32Array(topology.rest.length / 3);
  for (let body = 0; body + 1 < topology.firstVertex.length; ++body) bodyOf.fill(body, topology.firstVertex[body], topology.firstVertex[body + 1]);
  return bodyOf;
}

function replaceGeometry(object: { geometry: BufferGeometry }, attributes: Record<string, BufferAttribute>, index: Uint32Array): void {
  object.geometry.dispose();
  const geometry = new BufferGeometry();
  for (const [name, attribute] of Object.entries(attributes)) geometry.setAttribute(name, attribute);
  geometry.setIndex(new BufferAttribute(index, 1));
  geometry.boundingSphere = new Sphere(new Vector3(), Infinity);
  object.geometry = geometry;
}
