import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support/modules.mjs";

const { decodeBinary, decodeText } = await load("data/protocol.ts");

/** A topology of one triangle, as the protocol lays it out. */
function topology() {
  const bytes = new ArrayBuffer(24 + 8 + 8 + 12 + 12 + 36 + 3);
  const view = new DataView(bytes);
  view.setUint8(0, 1);
  const words = [1, 7, 3, 1, 1, 0, /* first vertex */ 0, 3, /* first triangle */ 0, 1, /* triangle */ 0, 1, 2, /* nodes */ 10, 11, 12];
  words.forEach((word, i) => i > 0 && view.setUint32(4 * i, word, true));
  [0, 0, 0, 1, 0, 0, 0, 1, 0].forEach((x, i) => view.setFloat32(64 + 4 * i, x, true));
  [0, 1, 3].forEach((hold, i) => view.setUint8(100 + i, hold));
  return bytes;
}

/** A frame of two vertices at opposite corners of a box, coloured by speed. */
function frame() {
  const bytes = new ArrayBuffer(64 + 12 + 2);
  const view = new DataView(bytes);
  [3, 1, 2, 3].forEach((byte, i) => view.setUint8(i, byte));
  [99, 7, 2].forEach((word, i) => view.setUint32(4 + 4 * i, word, true));
  view.setFloat64(16, 1.25, true);
  [-1, -2, -3, 2, 4, 6, 0.5, 9.5].forEach((x, i) => view.setFloat32(24 + 4 * i, x, true));
  view.setUint32(56, 75, true);
  view.setUint32(60, 41, true);
  [0, 0, 0, 65535, 65535, 65535].forEach((q, i) => view.setUint16(64 + 2 * i, q, true));
  view.setUint8(76, 0);
  view.setUint8(77, 255);
  return bytes;
}

/** A visual mesh of one triangle, of body 2. */
function skin() {
  const bytes = new ArrayBuffer(24 + 4 + 8 + 8 + 12 + 36);
  const view = new DataView(bytes);
  view.setUint8(0, 5);
  const words = [5, 7, 3, 1, 1, 0, /* body */ 2, /* first vertex */ 0, 3, /* first triangle */ 0, 1, /* triangle */ 2, 1, 0];
  words.forEach((word, i) => i > 0 && view.setUint32(4 * i, word, true));
  [0, 0, 0, 1, 0, 0, 0, 1, 0].forEach((x, i) => view.setFloat32(56 + 4 * i, x, true));
  return bytes;
}

test("a skin is read as the protocol lays it out", () => {
  const read = decodeBinary(skin());
  assert.equal(read.kind, "skin");
  assert.equal(read.revision, 7);
  assert.deepEqual([...read.bodies], [2]);
  assert.deepEqual([...read.firstVertex], [0, 3]);
  assert.deepEqual([...read.firstTriangle], [0, 1]);
  assert.deepEqual([...read.triangles], [2, 1, 0]);
  assert.deepEqual([...read.rest], [0, 0, 0, 1, 0, 0, 0, 1, 0]);
});

test("a topology is read as the protocol lays it out", () => {
  const read = decodeBinary(topology());
  assert.equal(read.kind, "topology");
  assert.equal(read.revision, 7);
  assert.deepEqual([...read.triangles], [0, 1, 2]);
  assert.deepEqual([...read.nodes], [10, 11, 12]);
  assert.deepEqual([...read.rest], [0, 0, 0, 1, 0, 0, 0, 1, 0]);
  assert.deepEqual([...read.holds], [0, 1, 3]);
  assert.deepEqual([...read.firstVertex], [0, 3]);
});

test("positions of a frame span its box, colours their range", () => {
  const read = decodeBinary(frame());
  assert.equal(read.kind, "frame");
  assert.deepEqual([read.view, read.views, read.frame, read.revision, read.step, read.stamp], [1, 2, 99, 7, 75, 41]);
  assert.equal(read.time, 1.25);
  for (const [i, expected] of [-1, -2, -3, 1, 2, 3].entries()) assert.ok(Math.abs(read.positions[i] - expected) < 1e-6);
  assert.deepEqual([read.colour.field, read.colour.low, read.colour.high], ["speed", 0.5, 9.5]);
  assert.deepEqual([...read.colour.values], [0, 255]);
});

test("every shortened binary message is refused in words", () => {
  for (const whole of [topology(), frame(), skin()]) {
    for (let length = 0; length < whole.byteLength; ++length) assert.throws(() => decodeBinary(whole.slice(0, length)), Error);
  }
});

test("a triangle at a vertex that is not there is refused", () => {
  const bytes = topology();
  new DataView(bytes).setUint32(40, 3, true);
  assert.throws(() => decodeBinary(bytes), /vertex 3 of 3/);
});

test("unknown kinds and texts without a type are refused", () => {
  assert.throws(() => decodeBinary(new Uint8Array([9, 0, 0, 0]).buffer), /unknown kind 9/);
  assert.throws(() => decodeText("[1]"), /type/);
  assert.throws(() => decodeText("{"), SyntaxError);
  assert.equal(decodeText('{"type":"pong","stamp":1}').type, "pong");
});
