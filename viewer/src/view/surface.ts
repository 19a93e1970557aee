// The drawn surface. Normals are averaged over the triangles around a vertex, so that round things look round, but not across
// the sharp edges of the undeformed shape: there a vertex is drawn several times, once for each smooth patch it belongs to.
// The split is made once per mesh; every frame then only gathers positions and sums normals.

export interface DrawnSurface {
  /** Corners of triangles, as drawn vertices. */
  triangles: Uint32Array;
  /** The surface vertex each drawn vertex shows. */
  source: Uint32Array;
}

const CREASE_COSINE = Math.cos((40 * Math.PI) / 180);

export function splitAtCreases(positions: Float32Array, triangles: Uint32Array): DrawnSurface {
  const vertexCount = positions.length / 3;
  const normals = unitNormals(positions, triangles);
  const { start, incident } = incidentCorners(vertexCount, triangles);
  const drawn = new Uint32Array(triangles.length);
  const source: number[] = [];
  const group: number[] = [];
  for (let vertex = 0; vertex < vertexCount; ++vertex) {
    const first = start[vertex]!;
    const count = start[vertex + 1]! - first;
    group.length = 0;
    for (let i = 0; i < count; ++i) group.push(i);
    for (let i = 0; i < count; ++i) {
      for (let j = i + 1; j < count; ++j) {
        const a = incident[first + i]!;
        const b = incident[first + j]!;
        if (cosine(normals, (a / 3) | 0, (b / 3) | 0) < CREASE_COSINE || !shareEdge(triangles, a, b)) continue;
        const from = group[j]!;
        const to = group[i]!;
        for (let k = 0; k < count; ++k) if (group[k] === from) group[k] = to;
      }
    }
    const base = new Map<number, number>();
    for (let i = 0; i < count; ++i) {
      let id = base.get(group[i]!);
      if (id === undefined) {
        id = source.length;
        source.push(vertex);
        base.set(group[i]!, id);
      }
      drawn[incident[first + i]!] = id;
    }
  }
  return { triangles: drawn, source: Uint32Array.from(source) };
}

/** Positions of drawn vertices, blended between two frames; `blend` 1 is `to`. */
export function gatherPositions(surface: DrawnSurface, from: Float32Array, to: Float32Array, blend: number, out: Float32Array): void {
  const { source } = surface;
  const whole = blend >= 1;
  for (let i = 0, o = 0; i < source.length; ++i, o += 3) {
    const s = source[i]! * 3;
    for (let k = 0; k < 3; ++k) {
      const b = to[s + k]!;
      out[o + k] = whole ? b : from[s + k]! + (b - from[s + k]!) * blend;
    }
  }
}

/** Normals weighted by area; the shader brings them to unit length. */
export function sumNormals(positions: Float32Array, triangles: Uint32Array, out: Float32Array): void {
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t]! * 3;
    const b = triangles[t + 1]! * 3;
    const c = triangles[t + 2]! * 3;
    const ax = positions[a]!;
    const ay = positions[a + 1]!;
    const az = positions[a + 2]!;
    const ux = positions[b]! - ax;
    const uy = positions[b + 1]! - ay;
    const uz = positions[b + 2]! - az;
    const vx = positions[c]! - ax;
    const vy = positions[c + 1]! - ay;
    const vz = positions[c + 2]! - az;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    out[a] = out[a]! + nx;
    out[a + 1] = out[a + 1]! + ny;
    out[a + 2] = out[a + 2]! + nz;
    out[b] = out[b]! + nx;
    out[b + 1] = out[b + 1]! + ny;
    out[b + 2] = out[b + 2]! + nz;
    out[c] = out[c]! + nx;
    out[c + 1] = out[c + 1]! + ny;
    out[c + 2] = out[c + 2]! + nz;
  }
}

/** Every edge of the surface once, as pairs of drawn vertices: what the wireframe draws. */
export function uniqueEdges(surface: DrawnSurface): Uint32Array {
  const { triangles, source } = surface;
  const seen = new Set<number>();
  const edges: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; ++k) {
      const a = triangles[t + k]!;
      const b = triangles[t + ((k + 1) % 3)]!;
      const key = Math.min(source[a]!, source[b]!) * source.length + Math.max(source[a]!, source[b]!);
      if (seen.has(key)) continue;
      seen.add(key);
      edges.push(a, b);
    }
  }
  return Uint32Array.from(edges);
}

/**
 * A coarser set of triangles over the same drawn vertices, for machines that draw without a graphics card, where every triangle
 * costs a microsecond or two: vertices in one cell of a grid over the rest shape, on one smooth patch, are drawn as one of them.
 * Positions and normals stay those of the fine surface.
 */
export function coarsen(surface: DrawnSurface, rest: Float32Array, atMost: number): Uint32Array {
  const { triangles, source } = surface;
  if (triangles.length / 3 <= atMost) return triangles;
  const normals = new Float32Array(3 * source.length);
  const positions = new Float32Array(3 * source.length);
  gatherPositions(surface, rest, rest, 1, positions);
  sumNormals(positions, triangles, normals);
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) area += triangleArea(positions, triangles, t);
  // A grid of cells with two triangles each over all of the area.
  const cell = Math.sqrt((2 * area) / atMost);
  const first = new Map<string, number>();
  const standsFor = new Uint32Array(source.length);
  // Vertices where patches meet come first, corners before edges, so that the patches stay together there.
  const patches = new Uint8Array(rest.length / 3);
  for (const vertex of source) patches[vertex] = patches[vertex]! + 1;
  for (const least of [3, 2, 1]) {
    for (let i = 0; i < source.length; ++i) {
      const here = patches[source[i]!]!;
      if (least < 3 ? here !== least : here < 3) continue;
      const key = [0, 1, 2].map((k) => Math.round(positions[3 * i + k]! / cell)).join() + mainAxis(normals, i);
      const known = first.get(key);
      if (known === undefined) first.set(key, i);
      standsFor[i] = known ?? i;
    }
  }
  const coarse: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const a = standsFor[triangles[t]!]!;
    const b = standsFor[triangles[t + 1]!]!;
    const c = standsFor[triangles[t + 2]!]!;
    if (a !== b && b !== c && c !== a) coarse.push(a, b, c);
  }
  return Uint32Array.from(coarse);
}

/** Which way a normal mostly points: two sides of a thin sheet are not to be merged. */
function mainAxis(normals: Float32Array, i: number): string {
  const n = [normals[3 * i]!, normals[3 * i + 1]!, normals[3 * i + 2]!];
  const size = n.map(Math.abs);
  const axis = size.indexOf(Math.max(...size));
  return `${n[axis]! < 0 ? "-" : "+"}${axis}`;
}

function triangleArea(x: Float32Array, triangles: Uint32Array, t: number): number {
  const [a, b, c] = [triangles[t]! * 3, triangles[t + 1]! * 3, triangles[t + 2]! * 3];
  const u = [0, 1, 2].map((k) => x[b + k]! - x[a + k]!);
  const v = [0, 1, 2].map((k) => x[c + k]! - x[a + k]!);
  return 0.5 * Math.hypot(u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!);
}

function unitNormals(x: Float32Array, triangles: Uint32Array): Float32Array {
  const out = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t]! * 3;
    const b = triangles[t + 1]! * 3;
    const c = triangles[t + 2]! * 3;
    const ux = x[b]! - x[a]!;
    const uy = x[b + 1]! - x[a + 1]!;
    const uz = x[b + 2]! - x[a + 2]!;
    const vx = x[c]! - x[a]!;
    const vy = x[c + 1]! - x[a + 1]!;
    const vz = x[c + 2]! - x[a + 2]!;
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    const scale = 1 / (Math.hypot(nx, ny, nz) || 1);
    out[t] = nx * scale;
    out[t + 1] = ny * scale;
    out[t + 2] = nz * scale;
  }
  return out;
}

/** The corners (indices into `triangles`) at every vertex, one vertex after the other. */
function incidentCorners(vertexCount: number, triangles: Uint32Array): { start: Uint32Array; incident: Uint32Array } {
  const start = new Uint32Array(vertexCount + 1);
  for (const vertex of triangles) start[vertex + 1] = start[vertex + 1]! + 1;
  for (let i = 0; i < vertexCount; ++i) start[i + 1] = start[i + 1]! + start[i]!;
  const next = start.slice();
  const incident = new Uint32Array(triangles.length);
  for (let corner = 0; corner < triangles.length; ++corner) {
    const vertex = triangles[corner]!;
    incident[next[vertex]!] = corner;
    next[vertex] = next[vertex]! + 1;
  }
  return { start, incident };
}

function cosine(normals: Float32Array, a: number, b: number): number {
  return (
    normals[3 * a]! * normals[3 * b]! + normals[3 * a + 1]! * normals[3 * b + 1]! + normals[3 * a + 2]! * normals[3 * b + 2]!
  );
}

/** Whether the triangles at two corners of one vertex share an edge at it. */
function shareEdge(triangles: Uint32Array, cornerA: number, cornerB: number): boolean {
  const a = cornerA - (cornerA % 3);
  const b = cornerB - (cornerB % 3);
  let common = 0;
  for (let i = 0; i < 3; ++i) for (let j = 0; j < 3; ++j) if (triangles[a + i] === triangles[b + j]) ++common;
  return common >= 2;
}
