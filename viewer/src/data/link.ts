// The part of the address after `#`: enough to see the same thing again. Readable, so that people can edit it:
//   #scene=bowl.toml&a=quasi-newton&a.iterations=20&b=newton&colour=stress&camera=0.55,0.32,4.1,0,0.5,0
import type { CameraPose } from "../view/orbit.ts";
import type { ClipSetting } from "../view/world.ts";
import type { Hello, ParameterValue, ParameterValues, Play, Scene, Vec3 } from "./protocol.ts";

export interface LinkSettings {
  scene?: string;
  /** Of view A, and of view B when comparing. */
  solvers: { name: string; parameters: ParameterValues }[];
  speed?: number;
  timeStep?: number;
  gravity?: Vec3;
  stiffness?: number[];
  strength?: number;
  colour?: string;
  wireframe?: boolean;
  clip?: ClipSetting;
  camera?: CameraPose;
}

const VIEWS = ["a", "b"];
const short = (value: number) => String(Number(value.toPrecision(5)));
const numbers = (text: string) => text.split(",").map(Number);

export function encodeLink(settings: LinkSettings): string {
  const parts: [string, string][] = [];
  const add = (key: string, value: string | number) => parts.push([key, String(value)]);
  if (settings.scene) add("scene", settings.scene);
  settings.solvers.forEach((solver, i) => {
    add(VIEWS[i]!, solver.name);
    for (const [key, value] of Object.entries(solver.parameters)) add(`${VIEWS[i]}.${key}`, String(value));
  });
  if (settings.speed !== undefined) add("speed", settings.speed);
  if (settings.timeStep !== undefined) add("dt", settings.timeStep);
  if (settings.gravity) add("gravity", settings.gravity.map(short).join());
  if (settings.stiffness) add("stiffness", settings.stiffness.map(short).join());
  if (settings.strength !== undefined) add("strength", settings.strength);
  if (settings.colour) add("colour", settings.colour);
  if (settings.wireframe) add("wireframe", 1);
  if (settings.clip) add("clip", `${settings.clip.flipped ? "-" : ""}${"xyz"[settings.clip.axis]},${short(settings.clip.at)}`);
  if (settings.camera) {
    const { yaw, pitch, distance, target } = settings.camera;
    add("camera", [yaw, pitch, distance, ...target].map(short).join());
  }
  return parts.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%2F/g, "/")}`).join("&");
}

/** What an address asks for; parts that make no sense are left out. `hello` tells the kinds of parameters. */
export function decodeLink(hash: string, hello: Hello): LinkSettings {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const settings: LinkSettings = { solvers: [] };
  const scene = query.get("scene");
  if (scene) settings.scene = scene;
  for (const view of VIEWS) {
    const solver = hello.solvers.find((s) => s.name === query.get(view));
    if (!solver) break;
    const parameters: ParameterValues = {};
    for (const parameter of solver.parameters) {
      const text = query.get(`${view}.${parameter.key}`);
      const value = text === null ? undefined : parameterValue(parameter.kind, text);
      if (value !== undefined) parameters[parameter.key] = value;
    }
    settings.solvers.push({ name: solver.name, parameters });
  }
  settings.speed = number(query, "speed");
  settings.timeStep = number(query, "dt");
  settings.strength = number(query, "strength");
  const gravity = list(query, "gravity", 3);
  if (gravity) settings.gravity = gravity as Vec3;
  const stiffness = list(query, "stiffness");
  if (stiffness) settings.stiffness = stiffness;
  const colour = query.get("colour");
  if (colour && hello.colours.some((field) => field.name === colour)) settings.colour = colour;
  if (query.get("wireframe") === "1") settings.wireframe = true;
  const clip = /^(-?)([xyz]),([0-9.e-]+)$/.exec(query.get("clip") ?? "");
  if (clip && Number.isFinite(Number(clip[3]))) {
    settings.clip = { axis: "xyz".indexOf(clip[2]!) as 0 | 1 | 2, at: Number(clip[3]), flipped: clip[1] === "-" };
  }
  const camera = list(query, "camera", 6);
  if (camera && camera[2]! > 0) {
    settings.camera = { yaw: camera[0]!, pitch: camera[1]!, distance: camera[2]!, target: [camera[3]!, camera[4]!, camera[5]!] };
  }
  return settings;
}

/** What differs from the scene as it is on disk. `touched` are parameters a person has set, whatever their value. */
export function settingsOf(play: Play, scene: Scene, hello: Hello, touched: Set<string>[]): LinkSettings {
  const settings: LinkSettings = { solvers: [] };
  if (scene.path) settings.scene = scene.path;
  if (scene.source === "scene") {
    play.views.forEach((view, i) => {
      const known = hello.solvers.find((solver) => solver.name === view.solver)?.parameters ?? [];
      const parameters: ParameterValues = {};
      for (const [key, value] of Object.entries(view.parameters)) {
        const standard = known.find((parameter) => parameter.key === key)?.default;
        if (value !== standard || touched[i]?.has(key)) parameters[key] = value;
      }
      settings.solvers.push({ name: view.solver, parameters });
    });
    if (play.time_step !== scene.time_step) settings.timeStep = play.time_step;
    if (play.gravity.some((g, k) => g !== scene.gravity[k])) settings.gravity = play.gravity;
    if (play.stiffness.some((s) => s !== 1)) settings.stiffness = play.stiffness;
    if (play.strength !== 100) settings.strength = play.strength;
  }
  if (play.speed !== 1) settings.speed = play.speed;
  if (play.colour) settings.colour = play.colour;
  return settings;
}

function parameterValue(kind: string, text: string): ParameterValue | undefined {
  if (kind === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  if (kind !== "integer" && kind !== "number") return text;
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

function number(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  return text && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

function list(query: URLSearchParams, key: string, length?: number): number[] | undefined {
  const text = query.get(key);
  if (!text) return undefined;
  const values = numbers(text);
  return values.every(Number.isFinite) && (length === undefined || values.length === length) ? values : undefined;
}
