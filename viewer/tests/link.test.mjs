import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support/modules.mjs";

const { decodeLink, encodeLink, settingsOf } = await load("data/link.ts");
const { parameterScale, plain, ratioScale, withUnit } = await load("ui/numbers.ts");

const hello = {
  solvers: [
    { name: "newton", parameters: [{ key: "tolerance", kind: "number", default: 0.01 }, { key: "history", kind: "boolean", default: false }] },
    { name: "quasi-newton", parameters: [{ key: "iterations", kind: "integer", default: 10 }, { key: "factor", kind: "choice", default: "float" }] },
  ],
  colours: [{ name: "stress", unit: "Pa" }],
};

test("a link gives back what it was made from", () => {
  const settings = {
    scene: "folder/a b.toml",
    solvers: [
      { name: "quasi-newton", parameters: { iterations: 25, factor: "double" } },
      { name: "newton", parameters: { tolerance: 1e-5, history: true } },
    ],
    speed: 0.1,
    timeStep: 0.01,
    gravity: [0, -1.62, 0],
    stiffness: [1, 2.5],
    strength: 300,
    colour: "stress",
    wireframe: true,
    clip: { axis: 2, at: 0.25, flipped: true },
    camera: { yaw: 0.5, pitch: -0.25, distance: 4, target: [1, 2, 3] },
  };
  assert.deepEqual(decodeLink(`#${encodeLink(settings)}`, hello), settings);
});

test("parts of a link that make no sense are left out", () => {
  const read = decodeLink("#a=no-such-solver&colour=taste&camera=1,2&clip=q,1&speed=fast&gravity=0,1&a.iterations=x", hello);
  assert.deepEqual(Object.entries(read).filter(([, value]) => value !== undefined), [["solvers", []]]);
});

test("a link holds what differs from the scene, and what a person has touched", () => {
  const scene = { source: "scene", path: "bowl.toml", time_step: 0.01, gravity: [0, -9.81, 0] };
  const play = {
    speed: 1, time_step: 0.01, gravity: [0, -9.81, 0], stiffness: [1], strength: 100, colour: null,
    views: [{ solver: "quasi-newton", parameters: { iterations: 10, factor: "double" } }],
  };
  assert.equal(encodeLink(settingsOf(play, scene, hello, [new Set(), new Set()])), "scene=bowl.toml&a=quasi-newton&a.factor=double");
  assert.match(encodeLink(settingsOf(play, scene, hello, [new Set(["iterations"]), new Set()])), /a\.iterations=10/);
});

test("numbers read well", () => {
  assert.equal(plain(0.0166667), "0.0167");
  assert.equal(plain(1234567), "1.23e6");
  assert.equal(plain(1000), "1000");
  assert.equal(plain(-10000), "-10000");
  assert.equal(plain(NaN), "–");
  assert.equal(withUnit(4e5, "Pa"), "400 kPa");
  assert.equal(withUnit(0.0123, "m"), "12.3 mm");
  assert.equal(withUnit(9.81, "m/s^2"), "9.81 m/s²");
});

test("sliders go there and back, and reach zero where it is allowed", () => {
  const scale = ratioScale(0.01, 100);
  for (const value of [0.01, 0.3, 1, 25, 100]) assert.ok(Math.abs(scale.toValue(scale.toWay(value)) / value - 1) < 0.01);
  const tolerance = parameterScale({ key: "tolerance", kind: "number", default: 0.01, least: 0 });
  assert.equal(tolerance.toValue(0), 0);
  assert.ok(Math.abs(tolerance.toValue(tolerance.toWay(0.01)) / 0.01 - 1) < 0.01);
  const iterations = parameterScale({ key: "iterations", kind: "integer", default: 10, least: 1 });
  assert.equal(iterations.toValue(0), 1);
  assert.equal(iterations.toValue(iterations.toWay(10)), 10);
  const share = parameterScale({ key: "share", kind: "number", default: 0.5, least: 0, greatest: 1 });
  assert.deepEqual([share.toValue(0), share.toValue(1)], [0, 1]);
});
