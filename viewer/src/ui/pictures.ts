// Files for the person: the picture with its labels and legend, and saved states.
import type { World } from "../view/world.ts";
import { h } from "./dom.ts";
import type { Legend } from "./legend.ts";
import type { ViewLabels } from "./view_labels.ts";

export function savePicture(world: World, legend: Legend, labels: ViewLabels, name: string): void {
  // A WebGL canvas holds its picture only until the browser has shown it: draw and copy in one go.
  world.renderFine();
  const { canvas } = world;
  const scale = canvas.width / Math.max(1, canvas.clientWidth);
  const style = getComputedStyle(document.documentElement);
  const out = h("canvas", { width: String(canvas.width), height: String(canvas.height) });
  const g = out.getContext("2d")!;
  const sky = g.createLinearGradient(0, 0, 0, canvas.height);
  sky.addColorStop(0, style.getPropertyValue("--sky-top").trim());
  sky.addColorStop(1, style.getPropertyValue("--sky-bottom").trim());
  g.fillStyle = sky;
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(canvas, 0, 0);
  g.scale(scale, scale);
  const text = style.getPropertyValue("--text").trim();
  const names = labels.names();
  g.font = "600 14px system-ui, sans-serif";
  names.forEach((label, i) => {
    g.fillStyle = style.getPropertyValue(i === 0 ? "--view-a" : "--view-b").trim();
    g.beginPath();
    const left = 20 + (i * canvas.clientWidth) / names.length;
    g.arc(left, 24, 5, 0, 7);
    g.fill();
    g.fillStyle = text;
    g.fillText(label, left + 12, 29);
  });
  legend.drawOn(g, 16, canvas.clientHeight - 66, text);
  out.toBlob((blob) => blob && saveBlob(blob, `${name}.png`), "image/png");
}

export function saveBytes(bytes: Uint8Array, name: string): void {
  saveBlob(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/octet-stream" }), name);
}

function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
