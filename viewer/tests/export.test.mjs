// Exported runs, opened by programs that are not ours: Khronos' glTF validator and the loaders of three.js.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import validator from "gltf-validator";
import { Box3 } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { PLYLoader } from "three/examples/jsm/loaders/PLYLoader.js";
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

// What has a surface of its own kind: a bar that is cut, cloth, a rigid block, and a body with a visual mesh.
const KINDS = `name = "kinds"
[simulation]
fps = 50
frames = 6
[[body]]
name = "bar"
box = {size = [1, 0.25, 0.25], cells = [4, 2, 2]}
young = 1e5
poisson = 0.4
[[pin]]
body = "bar"
where = "x-min"
[[cut]]
body = "bar"
time = 0.05
plane = {point = [0.5, 0, 0], normal = [1, 0, 0]}
[[body]]
name = "sheet"
cloth = {size = [1, 1], cells = [4, 4]}
springs = {structural = 100, shear = 50, bending = 10}
density = 0.2
translate = [0, 2, 0]
[[pin]]
body = "sheet"
where = "z-min"
[[rigid]]
name = "block"
box = {centre = [3, 1, 0], size = [0.5, 0.25, 0.25]}
angular_velocity = [0, 3, 0]
[[body]]
name = "dressed"
visual = "roof.obj"
box = {size = [2, 1, 1], cells = [2, 1, 1], origin = [5, 0, 0]}
young = 1e5
poisson = 0.4
`;
const ROOF = "v 5 0 0\nv 7 0 0\nv 7 0 1\nv 5 0 1\nv 6 1.3 0.5\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n";

const boxOf = (...geometries) => {
  const box = new Box3();
  for (const geometry of geometries) box.union(new Box3().setFromBufferAttribute(geometry.attributes.position));
  return [...box.min.toArray(), ...box.max.toArray()];
};
const areClose = (a, b) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < 1e-5, `${a} and ${b}`));

test("loaders of three.js find cut bodies, cloth, rigid bodies and visual meshes at the same place in .ply, .obj and .usda", async () => {
  await Promise.all([writeFile(join(folder, "kinds.toml"), KINDS), writeFile(join(folder, "roof.obj"), ROOF)]);
  const kinds = join(folder, "kinds");
  await pliant("run", join(folder, "kinds.toml"), "--out", kinds, "--quiet", "--set", "output.pictures=false");
  for (const format of ["ply", "obj", "usda"]) await pliant("export", kinds, "--format", format, "--visual");
  const frame = (format, number) => readFile(join(kinds, format, `kinds_00000${number}.${format}`), "utf8");
  const boxes = [];
  for (const number of [0, 6]) {
    const bytes = await readFile(join(kinds, "ply", `kinds_00000${number}.ply`));
    const ply = new PLYLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const obj = new OBJLoader().parse(await frame("obj", number));
    assert.deepEqual(obj.children.map((mesh) => mesh.name).sort(), ["bar", "block", "dressed", "sheet"]);
    boxes.push(boxOf(ply));
    areClose(boxes.at(-1), boxOf(...obj.children.map((mesh) => mesh.geometry)));
  }
  assert.ok(boxes[1][1] < boxes[0][1] - 0.01, "it falls");
  const scene = new USDLoader().parse(await readFile(join(kinds, "kinds.usda"), "utf8"));
  const meshes = [];
  scene.traverse((thing) => thing.isMesh && thing.name !== "kinds" && meshes.push(thing));
  assert.deepEqual(meshes.map((mesh) => mesh.name).sort(), ["bar", "block", "dressed", "sheet"]);
  areClose(boxes[0], boxOf(...meshes.map((mesh) => mesh.geometry))); // this loader shows the first frame
});
