import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support/modules.mjs";

const { splitAtCreases, sumNormals, gatherPositions, uniqueEdges } = await load("view/surface.ts");
const { BodyView } = await load("view/body.ts");
const { pick, surfacePoint } = await load("view/pick.ts");
const { coilPoint } = await load("view/ground.ts");
const { groupColumns } = await load("ui/plots.ts");

test("motion between two frames is drawn without writing into the topology or a frame", () => {
  const rest = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  const triangles = Uint32Array.of(0, 1, 2);
  const topology = { rest, triangles, holds: new Uint8Array(3), firstVertex: Uint32Array.of(0, 3), firstTriangle: Uint32Array.of(0, 1) };
  const view = new BodyView(0);
  const surface = splitAtCreases(rest, triangles);
  view.setTopology(topology, surface, surface.triangles, surface.triangles);
  // Frames that come slowly are drawn bit by bit; two may come before anything is drawn.
  const frames = [1, 2, 3].map((shift) => ({ positions: rest.map((x) => x + shift), colour: null }));
  frames.forEach((frame, i) => view.setFrame(frame, 100 * (i + 1)));
  for (const now of [310, 350, 390]) view.advance(now);
  assert.deepEqual([...rest], [0, 0, 0, 1, 0, 0, 0, 1, 0]);
  frames.forEach((frame, i) => assert.equal(frame.positions[0], i + 1));
});

test("a coil begins and ends at the ends of its spring, and stays within a twentieth of its length of the line", () => {
  const [from, to] = [[1, 2, 3], [1, 6, 6]];
  for (const [at, end] of [[0, from], [1, to]]) coilPoint(from, to, at).forEach((x, k) => assert.ok(Math.abs(x - end[k]) < 1e-12));
  let farthest = 0;
  for (let at = 0; at <= 1; at += 0.001) {
    const point = coilPoint(from, to, at);
    const off = Math.hypot(...point.map((x, k) => x - (from[k] + at * (to[k] - from[k]))));
    farthest = Math.max(farthest, off);
  }
  assert.ok(Math.abs(farthest - 0.25) < 1e-9, `${farthest}`);
});

test("components of a quantity share a plot, and different probes do not", () => {
  const groups = groupColumns(["tip.force_x (N)", "tip.force_y (N)", "tip.force_z (N)", "tip.length (m)", "end.force_x (N)", "end.elastic_energy (J)"]);
  assert.deepEqual(groups.map((group) => [group.title, group.unit, group.lines.map((line) => [line.name, line.column])]), [
    ["tip.force", "N", [["x", 0], ["y", 1], ["z", 2]]],
    ["tip.length", "m", [["tip.length", 3]]],
    ["end.force", "N", [["x", 4]]],
    ["end.elastic_energy", "J", [["end.elastic_energy", 5]]],
  ]);
});

/** A unit cube of 12 triangles, outside counter-clockwise. */
const cube = new Float32Array([0, 1].flatMap((z) => [0, 1].flatMap((y) => [0, 1].flatMap((x) => [x, y, z]))));
const quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
const cubeTriangles = new Uint32Array(quads.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]));

test("a cube keeps its edges: three drawn vertices at each corner, normals along the axes", () => {
  const surface = splitAtCreases(cube, cubeTriangles);
  assert.equal(surface.source.length, 24);
  const drawn = new Float32Array(72);
  gatherPositions(surface, cube, cube, 1, drawn);
  const normals = new Float32Array(72);
  sumNormals(drawn, surface.triangles, normals);
  for (let i = 0; i < 24; ++i) {
    const n = [...normals.slice(3 * i, 3 * i + 3)].map(Math.abs);
    assert.equal(n.filter((c) => c > 0.1).length, 1);
  }
  assert.equal(uniqueEdges(surface).length, 2 * 18, "12 edges and 6 diagonals, each once");
});

test("a gentle fold is drawn smooth", () => {
  const positions = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0.2, 1, 1, 0]);
  const surface = splitAtCreases(positions, new Uint32Array([0, 1, 2, 1, 3, 2]));
  assert.equal(surface.source.length, 4);
});

test("between two frames positions lie between", () => {
  const surface = splitAtCreases(cube, cubeTriangles);
  const moved = cube.map((x) => x + 2);
  const out = new Float32Array(72);
  gatherPositions(surface, cube, moved, 0.25, out);
  surface.source.forEach((vertex, i) => assert.ok(Math.abs(out[3 * i] - (cube[3 * vertex] + 0.5)) < 1e-6));
});

test("a ray meets the near side, with weights that give the point back", () => {
  const hit = pick([0.3, 0.4, 5], [0, 0, -1], cube, cubeTriangles, null);
  assert.ok(Math.abs(hit.distance - 4) < 1e-6);
  const point = surfacePoint(cube, cubeTriangles, hit.triangle, hit.weights);
  [0.3, 0.4, 1].forEach((x, k) => assert.ok(Math.abs(point[k] - x) < 1e-6));
  assert.equal(pick([3, 3, 5], [0, 0, -1], cube, cubeTriangles, null), null);
});

test("what is clipped away cannot be picked", () => {
  const hit = pick([0.3, 0.4, 5], [0, 0, -1], cube, cubeTriangles, { normal: [0, 0, 1], offset: 0.5 });
  assert.ok(Math.abs(hit.distance - 5) < 1e-6, "the far side is seen through the opening");
});

test("thirty thousand vertices are split once in a second, shaded and picked in a few milliseconds", () => {
  const n = 173;
  const positions = new Float32Array(3 * n * n);
  for (let j = 0; j < n; ++j) for (let i = 0; i < n; ++i) positions.set([i / n, j / n, 0.05 * Math.sin(9 * (i + j) / n)], 3 * (j * n + i));
  const triangles = new Uint32Array(6 * (n - 1) * (n - 1));
  let t = 0;
  for (let j = 0; j + 1 < n; ++j) for (let i = 0; i + 1 < n; ++i) {
    const a = j * n + i;
    triangles.set([a, a + 1, a + n + 1, a, a + n + 1, a + n], t);
    t += 6;
  }
  const time = (work) => {
    const start = process.cpuUsage();
    work();
    const used = process.cpuUsage(start);
    return (used.user + used.system) / 1000;
  };
  let surface;
  const split = time(() => (surface = splitAtCreases(positions, triangles)));
  const drawn = new Float32Array(3 * surface.source.length);
  const normals = new Float32Array(drawn.length);
  const frame = time(() => {
    for (let i = 0; i < 10; ++i) {
      gatherPositions(surface, positions, positions, 0.5, drawn);
      sumNormals(drawn, surface.triangles, normals);
    }
  }) / 10;
  const ray = time(() => {
    for (let i = 0; i < 10; ++i) pick([0.5, 0.5, 2], [0.01 * i, 0, -1], positions, triangles, null);
  }) / 10;
  assert.ok(split < 1000, `split took ${split} ms`);
  assert.ok(frame < 15, `a frame took ${frame} ms`);
  assert.ok(ray < 15, `a pick took ${ray} ms`);
});
