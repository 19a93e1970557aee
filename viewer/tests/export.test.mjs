// Exported runs, opened by programs that are not ours: Khronos' glTF validator and the loaders of three.js.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import validator from "gltf-validator";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { USDLoader } from "three/examples/jsm/loaders/USDLoader.js";
import { pliant } from "./support/program.mjs";

const SCENE = `name = "falling"
[simulation]
fps = 50
frames = 10
[[body]]
name = "soft cube"
box = {size = [1, 1, 1], cells = [2, 2, 2]}
young = 1e5
poisson = 0.4
translate = [0, 0.1, 0]
[[collider]]
name = "floor"
plane = {point = [0, 0, 0], normal = [0, 1, 0]}
[[collider]]
name = "ball"
sphere = {centre = [3, 1, 0], radius = 0.5}
`;
let folder, run;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "pliant-export-"));
  await writeFile(join(folder, "falling.toml"), SCENE);
  run = join(folder, "run");
  await pliant("run", join(folder, "falling.toml"), "--out", run, "--quiet");
});
after(() => rm(folder, { recursive: true }));

for (const colour of [[], ["--colour", "stretch"], ["--volume"]])
  test(`the glTF validator has nothing to say about a .glb ${colour.join(" ")}`, async () => {
    const file = join(folder, "out.glb");
    await pliant("export", run, "--format", "glb", "--out", file, ...colour);
    const report = await validator.validateBytes(new Uint8Array(await readFile(file)));
    assert.deepEqual(report.issues.messages, []);
    assert.equal(report.info.animationCount, 1);
    assert.equal(report.info.hasMorphTargets, true);
  });

test("three.js loads a .glb with its bodies, colliders and motion", async () => {
  const file = join(folder, "three.glb");
  await pliant("export", run, "--format", "glb", "--out", file);
  const bytes = await readFile(file);
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "");
  const meshes = [];
  gltf.scene.traverse((thing) => thing.isMesh && meshes.push(thing));
  assert.deepEqual(meshes.map((mesh) => mesh.name).sort(), ["ball", "floor", "soft_cube"]);
  const cube = meshes.find((mesh) => mesh.name === "soft_cube");
  assert.equal(cube.geometry.morphAttributes.position.length, 10);
  assert.equal(gltf.animations.length, 1);
  assert.ok(Math.abs(gltf.animations[0].duration - 0.2) < 1e-6);
});

test("three.js loads a .usda with its bodies and colliders", async () => {
  const file = join(folder, "out.usda");
  await pliant("export", run, "--format", "usda", "--out", file);
  const scene = new USDLoader().parse(await readFile(file, "utf8"));
  const meshes = [];
  // The loader gives the transform around all bodies the geometry of the first one as well.
  scene.traverse((thing) => thing.isMesh && thing.name !== "falling" && meshes.push(thing));
  assert.deepEqual(meshes.map((mesh) => mesh.name).sort(), ["ball", "floor", "soft_cube"]);
  const cube = meshes.find((mesh) => mesh.name === "soft_cube");
  cube.geometry.computeBoundingBox();
  const { min, max } = cube.geometry.boundingBox;
  for (const axis of ["x", "y", "z"]) assert.ok(Math.abs(max[axis] - min[axis] - 1) < 1e-6, "a unit cube at first");
});
