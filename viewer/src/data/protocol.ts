// The messages of docs/viewer-protocol.md, version 1: their types, and the decoders of the binary ones.

export type Vec3 = [number, number, number];

export interface Parameter {
  key: string;
  kind: "boolean" | "integer" | "number" | "choice" | "text";
  default: ParameterValue;
  unit: string;
  summary: string;
  least?: number;
  greatest?: number;
  choices?: string[];
}
export type ParameterValue = number | string | boolean;
export type ParameterValues = Record<string, ParameterValue>;

export interface Solver {
  name: string;
  paper: string;
  summary: string;
  /** What it can do, as the table of docs/solvers.md has it. */
  supports?: Record<string, boolean | number | string | string[]>;
  parameters: Parameter[];
}

/** Whether a solver can run the open scene, and why not. */
export interface SolverFit {
  name: string;
  refusal: string | null;
}

export interface ColourField {
  name: string;
  unit: string;
  summary?: string;
}

export interface Hello {
  type: "hello";
  protocol: number;
  version: string;
  commit: string;
  solvers: Solver[];
  colours: ColourField[];
}

export interface SceneEntry {
  path: string;
  title: string;
}

export interface Body {
  name: string;
  kind: "solid" | "springs" | "rod" | "rigid" | "link";
  material: string;
  young: number | null;
  poisson: number | null;
  density: number | null;
  mass: number | null;
  nodes: number | null;
  elements: number;
  order: number;
  vertices: number;
  triangles: number;
  /** Colours it has no values of: it is drawn plain under them. */
  uncoloured?: string[];
}

export type Ability = "play" | "grab" | "pin" | "cut" | "solver" | "compare" | "material" | "save";

export interface Scene {
  type: "scene";
  source: "scene" | "result" | "none";
  path: string | null;
  name: string;
  title: string;
  time_step: number;
  steps: number;
  gravity: Vec3;
  box: [Vec3, Vec3];
  notices: string[];
  bodies: Body[];
  obstacles: { name: string; shape: string }[];
  has_contact: boolean;
  /** What probes record, with units: "tip.displacement_x (m)". */
  probes?: string[];
  solvers?: SolverFit[];
  can: Partial<Record<Ability, boolean>>;
  frames?: number;
  times?: number[];
}

export interface ViewSettings {
  solver: string;
  /** Of a finished run: its folder. */
  run?: string;
  parameters: ParameterValues;
  trouble: string | null;
}

export interface Play {
  type: "play";
  playing: boolean;
  speed: number;
  time_step: number;
  gravity: Vec3;
  stiffness: number[];
  strength: number;
  compare: boolean;
  colour: string | null;
  pins: number;
  cuts: number;
  frame: number;
  views: ViewSettings[];
  trouble: string | null;
}

export interface Iteration {
  force: number | null;
  acceleration: number | null;
  energy: number | null;
  alpha: number | null;
}

export interface ViewTelemetry {
  solver: string;
  outcome: string;
  ok: boolean;
  detail: string;
  iterations: number;
  factorisations: number;
  linear_iterations: number;
  line_search_evaluations: number;
  ms: Record<string, number | null>;
  residuals: { force: number | null; acceleration: number | null; step_length: number | null };
  history: Iteration[];
  energy: Record<string, number | null> | null;
  gap: number | null;
  contacts: number;
  figures: Record<string, number | null>;
  /** The numbers of the scene's probes, in the order of its columns. */
  probes?: (number | null)[];
  /** Where both ends of each spring are, m. */
  springs?: [Vec3, Vec3][];
  /** Only when comparing. */
  error?: number | null;
}

export interface Telemetry {
  type: "telemetry";
  frame: number;
  time: number;
  step: number;
  stamp: number;
  budget_ms: number | null;
  simulated_per_second: number | null;
  step_ms: number | null;
  grabs: { hand: number; view: number; point: Vec3; target: Vec3 }[];
  obstacles?: number[][];
  views: ViewTelemetry[];
}

export type ServerMessage =
  | Hello
  | { type: "scenes"; scenes: SceneEntry[] }
  | Scene
  | Play
  | Telemetry
  | { type: "grabbed"; hand: number; view: number; body: string; point: Vec3; triangle: number; weights: Vec3 }
  | { type: "missed"; hand: number }
  | { type: "released"; hand: number }
  | { type: "error"; message: string; of: string | null }
  | { type: "notice"; message: string }
  | { type: "pong"; stamp: number };

export const enum Hold {
  free = 0,
  scene = 1,
  script = 2,
  hand = 3,
}

export interface Topology {
  kind: "topology";
  revision: number;
  firstVertex: Uint32Array;
  firstTriangle: Uint32Array;
  /** Three surface vertices each. */
  triangles: Uint32Array;
  nodes: Uint32Array;
  /** Three coordinates each, m. */
  rest: Float32Array;
  /** How each vertex is held: a `Hold`. */
  holds: Uint8Array;
}

/** Visual meshes, drawn in place of the surfaces of the bodies that carry them. */
export interface Skin {
  kind: "skin";
  revision: number;
  /** The body that each mesh belongs to, ascending. */
  bodies: Uint32Array;
  firstVertex: Uint32Array;
  firstTriangle: Uint32Array;
  triangles: Uint32Array;
  rest: Float32Array;
}

export interface Obstacles {
  kind: "obstacles";
  firstTriangle: Uint32Array;
  triangles: Uint32Array;
  positions: Float32Array;
}

export interface Frame {
  kind: "frame";
  view: number;
  views: number;
  frame: number;
  revision: number;
  time: number;
  step: number;
  stamp: number;
  /** Three coordinates each, m: of the surface's vertices, and behind them of the skin's. */
  positions: Float32Array;
  /** Null when no colour was asked for. */
  colour: FrameColour | null;
}

export interface FrameColour {
  field: string;
  /** What 0 and 255 stand for, in the field's unit. */
  low: number;
  high: number;
  values: Uint8Array;
}

export interface SavedState {
  kind: "state";
  bytes: Uint8Array;
}

const COLOUR_FIELDS = ["", "stress", "stretch", "speed", "error", "refreshed"];
const FRAME_HEADER = 64;

export function decodeText(text: string): ServerMessage {
  const message: unknown = JSON.parse(text);
  if (typeof message !== "object" || message === null || typeof (message as { type?: unknown }).type !== "string") {
    throw new Error("a message without a type");
  }
  return message as ServerMessage;
}

export function decodeBinary(buffer: ArrayBuffer): Topology | Skin | Obstacles | Frame | SavedState {
  if (buffer.byteLength < 4) throw new Error("a binary message of less than four bytes");
  const kind = new Uint8Array(buffer)[0];
  switch (kind) {
    case 1:
      return decodeTopology(buffer);
    case 2:
      return decodeObstacles(buffer);
    case 3:
      return decodeFrame(buffer);
    case 4:
      return { kind: "state", bytes: new Uint8Array(buffer) };
    case 5:
      return decodeSkin(buffer);
    default:
      throw new Error(`a binary message of the unknown kind ${kind}`);
  }
}

function decodeTopology(buffer: ArrayBuffer): Topology {
  const reader = new Reader(buffer, "topology");
  const [, revision, n, m, b] = reader.uint32(6) as unknown as number[];
  const topology: Topology = {
    kind: "topology",
    revision: revision!,
    firstVertex: reader.uint32(b! + 1),
    firstTriangle: reader.uint32(b! + 1),
    triangles: reader.uint32(3 * m!),
    nodes: reader.uint32(n!),
    rest: reader.float32(3 * n!),
    holds: reader.uint8(n!),
  };
  checkIndices(topology.triangles, n!, "topology");
  return topology;
}

function decodeSkin(buffer: ArrayBuffer): Skin {
  const reader = new Reader(buffer, "skin");
  const [, revision, n, m, b] = reader.uint32(6) as unknown as number[];
  const skin: Skin = {
    kind: "skin",
    revision: revision!,
    bodies: reader.uint32(b!),
    firstVertex: reader.uint32(b! + 1),
    firstTriangle: reader.uint32(b! + 1),
    triangles: reader.uint32(3 * m!),
    rest: reader.float32(3 * n!),
  };
  checkIndices(skin.triangles, n!, "skin");
  return skin;
}

function decodeObstacles(buffer: ArrayBuffer): Obstacles {
  const reader = new Reader(buffer, "obstacles");
  const [, o, n, m] = reader.uint32(4) as unknown as number[];
  const obstacles: Obstacles = {
    kind: "obstacles",
    firstTriangle: reader.uint32(o! + 1),
    triangles: reader.uint32(3 * m!),
    positions: reader.float32(3 * n!),
  };
  checkIndices(obstacles.triangles, n!, "obstacles");
  return obstacles;
}

function decodeFrame(buffer: ArrayBuffer): Frame {
  if (buffer.byteLength < FRAME_HEADER) throw new Error("a frame shorter than its header");
  const view = new DataView(buffer);
  const n = view.getUint32(12, true);
  const reader = new Reader(buffer, "frame", FRAME_HEADER);
  const q = reader.uint16(3 * n);
  const positions = new Float32Array(3 * n);
  for (let axis = 0; axis < 3; ++axis) {
    const corner = view.getFloat32(24 + 4 * axis, true);
    const scale = view.getFloat32(36 + 4 * axis, true) / 65535;
    for (let i = axis; i < positions.length; i += 3) positions[i] = corner + scale * q[i]!;
  }
  const field = view.getUint8(3);
  return {
    kind: "frame",
    view: view.getUint8(1),
    views: view.getUint8(2),
    frame: view.getUint32(4, true),
    revision: view.getUint32(8, true),
    time: view.getFloat64(16, true),
    step: view.getUint32(56, true),
    stamp: view.getUint32(60, true),
    positions,
    colour:
      field === 0
        ? null
        : {
            field: COLOUR_FIELDS[field] ?? "",
            low: view.getFloat32(48, true),
            high: view.getFloat32(52, true),
            values: reader.uint8(n),
          },
  };
}

/** Takes arrays one after the other out of a message, and says so when it is too short. All machines we know are little-endian. */
class Reader {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly what: string,
    private offset = 0,
  ) {}

  uint8(count: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(count), count);
  }
  uint16(count: number): Uint16Array {
    return new Uint16Array(this.buffer, this.take(2 * count), count);
  }
  uint32(count: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(4 * count), count);
  }
  float32(count: number): Float32Array {
    return new Float32Array(this.buffer, this.take(4 * count), count);
  }

  private take(bytes: number): number {
    const start = this.offset;
    this.offset += bytes;
    if (this.offset > this.buffer.byteLength) {
      throw new Error(`${this.what}: ${this.buffer.byteLength} bytes, but at least ${this.offset} were announced`);
    }
    return start;
  }
}

function checkIndices(indices: Uint32Array, count: number, what: string): void {
  for (const index of indices) if (index >= count) throw new Error(`${what}: a triangle at vertex ${index} of ${count}`);
}
