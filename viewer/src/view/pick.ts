// Which point of a surface a ray meets first. A plain walk over all triangles: 60 thousand of them take about a millisecond, and
// nothing has to be kept up to date while the body moves.

export interface Hit {
  triangle: number;
  /** Weights of the triangle's corners, of sum 1. */
  weights: [number, number, number];
  distance: number;
  point: [number, number, number];
}

export type Vec3 = readonly [number, number, number];
/** The half space that is drawn: dot(normal, x) <= offset. */
export interface Clip {
  normal: Vec3;
  offset: number;
}

export function pick(origin: Vec3, direction: Vec3, x: Float32Array, triangles: Uint32Array, clip: Clip | null): Hit | null {
  const [ox, oy, oz] = origin;
  const [dx, dy, dz] = direction;
  let best: Hit | null = null;
  let nearest = Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t]! * 3;
    const b = triangles[t + 1]! * 3;
    const c = triangles[t + 2]! * 3;
    const e1x = x[b]! - x[a]!;
    const e1y = x[b + 1]! - x[a + 1]!;
    const e1z = x[b + 2]! - x[a + 2]!;
    const e2x = x[c]! - x[a]!;
    const e2y = x[c + 1]! - x[a + 1]!;
    const e2z = x[c + 2]! - x[a + 2]!;
    const px = dy * e2z - dz * e2y;
    const py = dz * e2x - dx * e2z;
    const pz = dx * e2y - dy * e2x;
    const determinant = e1x * px + e1y * py + e1z * pz;
    if (determinant === 0) continue;
    const inverse = 1 / determinant;
    const sx = ox - x[a]!;
    const sy = oy - x[a + 1]!;
    const sz = oz - x[a + 2]!;
    const u = (sx * px + sy * py + sz * pz) * inverse;
    if (u < 0 || u > 1) continue;
    const qx = sy * e1z - sz * e1y;
    const qy = sz * e1x - sx * e1z;
    const qz = sx * e1y - sy * e1x;
    const v = (dx * qx + dy * qy + dz * qz) * inverse;
    if (v < 0 || u + v > 1) continue;
    const distance = (e2x * qx + e2y * qy + e2z * qz) * inverse;
    if (distance <= 0 || distance >= nearest) continue;
    const point: [number, number, number] = [ox + distance * dx, oy + distance * dy, oz + distance * dz];
    if (clip && dot(clip.normal, point) > clip.offset) continue;
    nearest = distance;
    best = { triangle: t / 3, weights: [1 - u - v, u, v], distance, point };
  }
  return best;
}

/** A point of the surface given by a triangle and weights of its corners. */
export function surfacePoint(x: Float32Array, triangles: Uint32Array, triangle: number, weights: Vec3): [number, number, number] {
  const point: [number, number, number] = [0, 0, 0];
  for (let corner = 0; corner < 3; ++corner) {
    const vertex = triangles[3 * triangle + corner]! * 3;
    for (let k = 0; k < 3; ++k) point[k] = point[k]! + weights[corner]! * (x[vertex + k] ?? 0);
  }
  return point;
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
