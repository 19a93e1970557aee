// Draws a .usda by three.js's own loader in Chromium: node usda_picture.mjs FILE.usda PICTURE.png
import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { launch } from "./tests/support/browser.mjs";

const [file, picture] = process.argv.slice(2);
const page = `
import { AmbientLight, Box3, Color, DirectionalLight, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import { USDLoader } from "three/addons/loaders/USDLoader.js";
window.draw = (text) => {
  const scene = new Scene();
  scene.background = new Color("#e8edf4");
  const model = new USDLoader().parse(text);
  scene.add(model);
  const sun = new DirectionalLight("#ffffff", 1.9);
  sun.position.set(-0.6, 1, 0.8);
  scene.add(sun, new AmbientLight("#ffffff", 0.6));
  const box = new Box3();
  model.traverse((part) => {
    if (!part.isMesh || part.geometry.attributes.position.count < 12) return; // the floor
    part.geometry.computeBoundingBox();
    box.union(part.geometry.boundingBox);
  });
  const centre = box.getCenter(new Vector3()), size = box.getSize(new Vector3()).length();
  const camera = new PerspectiveCamera(30, 480 / 270, 0.01, 100);
  camera.position.copy(centre).add(new Vector3(0.6, 0.5, 1.4).multiplyScalar(1.1 * size));
  camera.lookAt(centre);
  const renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  renderer.setSize(480, 270);
  document.body.style.margin = "0";
  document.body.append(renderer.domElement);
  renderer.render(scene, camera);
};`;
const bundle = await build({ stdin: { contents: page, resolveDir: "." }, bundle: true, write: false, format: "iife" });
const browser = await launch({});
try {
  const tab = await browser.context.newPage();
  await tab.setViewportSize({ width: 480, height: 270 });
  await tab.setContent("<!doctype html><body></body>");
  await tab.addScriptTag({ content: bundle.outputFiles[0].text });
  await tab.evaluate((text) => window.draw(text), await readFile(file, "utf8"));
  await tab.screenshot({ path: picture });
} finally {
  await browser.close();
}
