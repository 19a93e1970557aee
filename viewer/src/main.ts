// The page: makes the parts, puts them in place, and connects what the server says with what a person sees.
import { App, type Tool } from "./app.ts";
import { Session } from "./data/session.ts";
import { Hand } from "./hand.ts";
import { exposeForTests } from "./test_hook.ts";
import { h, iconButton, type IconName } from "./ui/dom.ts";
import { HelpPanel, listenForKeys, shortcuts, type PageActions } from "./ui/help.ts";
import { Legend } from "./ui/legend.ts";
import { Messages } from "./ui/messages.ts";
import { plain, withUnit } from "./ui/numbers.ts";
import { Panel } from "./ui/panel.ts";
import { saveBytes, savePicture } from "./ui/pictures.ts";
import { Plots } from "./ui/plots.ts";
import { ThemeChooser } from "./ui/theme.ts";
import { Transport } from "./ui/transport.ts";
import { ViewLabels } from "./ui/view_labels.ts";
import { World } from "./view/world.ts";
import "./viewer.css";

const theme = new ThemeChooser();
const canvas = h("canvas", { class: "picture", tabindex: "0", role: "application", "aria-label": "The simulated bodies. Press question mark for the keys." });
const stage = h("div", { class: "stage" }, canvas);
const main = h("main", {}, stage);
document.body.append(main);

const address = new URL("ws", location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
address.hash = "";
const session = new Session(address.href);
const world = new World(canvas);
const app = new App(session, world);
const messages = new Messages();
const legend = new Legend();
const plots = new Plots();
const labels = new ViewLabels();

const page: PageActions = {
  toggleTheme: () => theme.toggle(),
  toggleHelp: () => help.toggle(),
  savePicture: () => savePicture(world, legend, labels, session.scene?.name ?? "pliant"),
  saveState: () => session.send("save_state"),
  chooseState: () => stateFile.click(),
  copyLink: () => void copyLink(),
};

const cutLine = document.createElementNS("http://www.w3.org/2000/svg", "line");
const overlay = document.createElementNS("http://www.w3.org/2000/svg", "svg");
overlay.setAttribute("class", "overlay");
overlay.setAttribute("aria-hidden", "true");
overlay.append(cutLine);

const hand = new Hand(app, cutLine);
const panel = new Panel(app, page);
const transport = new Transport(app);
const keys = shortcuts(app, hand, page, choose);
const help = new HelpPanel(keys);
listenForKeys(keys);

const stateFile = h("input", { type: "file", accept: ".pliant", class: "sr-only", tabindex: "-1", "aria-label": "State to load" });
stateFile.addEventListener("change", async () => {
  const file = stateFile.files?.[0];
  stateFile.value = "";
  if (file) session.load(new Uint8Array(await file.arrayBuffer()));
});

const scenePicker = h("select", { "aria-label": "Scene", class: "scene-picker", onchange: () => app.openScene(scenePicker.value) });
const sceneTitle = h("p", { class: "scene-title" });
const status = h("p", { class: "status", role: "status" }, "connecting …");
const tools = (["grab", "pin", "cut"] as Tool[]).map((tool) => {
  const names: Record<Tool, [IconName, string, string]> = {
    grab: ["hand", "Grab and pull", "h"],
    pin: ["pin", "Pin and release", "n; or Shift-click"],
    cut: ["cut", "Cut along a line", "k; or Alt-drag"],
  };
  const button = iconButton(...names[tool], () => choose(tool));
  button.dataset.tool = tool;
  return button;
});

document.body.prepend(
  h(
    "header",
    { class: "top" },
    h("img", { src: "icon.svg", alt: "", class: "logo" }),
    h("h1", {}, "Pliant"),
    scenePicker,
    sceneTitle,
    status,
    iconButton("theme", "Light or dark", "t", page.toggleTheme),
    iconButton("help", "Help", "?", page.toggleHelp),
  ),
);
/** A tool that has nothing to work on says why. */
function choose(tool: Tool): void {
  if (session.can(tool)) app.setTool(tool);
  else messages.notice(refusal(tool));
}
function refusal(tool: Tool): string {
  if (session.scene?.source !== "scene") return "A finished run can be looked at, but not changed.";
  if (tool === "cut" && session.scene.bodies.every((body) => body.kind !== "solid"))
    return "Cloth and other surfaces cannot be cut: a cut opens the mesh along the faces of tetrahedra, and here there are none.";
  return tool === "cut" ? "Scenes with energies from code cannot be cut." : "This cannot be done here.";
}
const trayRule = h("hr");
const gridScale = h("p", { class: "grid-scale" });
const tray = h("div", { class: "tools", role: "toolbar", "aria-label": "Tools" }, ...tools, trayRule, iconButton("frame", "Show the whole scene", "f", () => app.frameCamera()));
stage.append(overlay, labels.element, gridScale, tray, legend.element, transport.element, messages.banner, messages.card, messages.toasts);
main.append(plots.element, panel.element, stateFile);
document.body.append(help.element);

// What the server says ---------------------------------------------------------------------------------------------------

let linkApplied = false;
let sceneShown: string | null = null;

session.on("hello", (hello) => {
  panel.setHello(hello);
  if (hello.protocol !== 1) messages.error(`This page speaks version 1 of the protocol, the server version ${hello.protocol}. Rebuild both.`);
});
session.on("scenes", showScenes);
session.on("scene", (scene) => {
  const identity = `${scene.source} ${scene.path} ${scene.name}`;
  world.setScene(scene);
  panel.setScene(scene);
  plots.setProbes(scene.probes ?? []);
  transport.setScene(scene);
  showScenes();
  sceneTitle.textContent = scene.title;
  gridScale.textContent = scene.source === "none" ? "" : `grid ${withUnit(world.gridCell(), "m")}`;
  document.title = scene.name ? `${scene.name} · Pliant` : "Pliant";
  for (const button of tools) button.hidden = !session.can(button.dataset.tool as Tool) && scene.source !== "scene";
  trayRule.hidden = tools.every((button) => button.hidden);
  if (!session.can(app.tool)) app.setTool("grab");
  if (identity !== sceneShown) {
    messages.clear();
    app.placeCamera();
    plots.clear();
  }
  sceneShown = identity;
  scene.notices.forEach((notice) => messages.notice(notice));
});
session.on("play", (play) => {
  panel.setPlay(play);
  transport.setPlay(play);
  labels.setPlay(play, session.hello);
  const field = session.hello?.colours.find((colour) => colour.name === play.colour) ?? null;
  const bodies = session.scene?.bodies ?? [];
  const without = new Set(bodies.flatMap((body, i) => (field && body.uncoloured?.includes(field.name) ? [i] : [])));
  world.setColourField(field, without);
  legend.setField(field, world.mapOf(field?.name ?? ""), without.size, bodies.length);
  messages.setCard("This scene cannot be shown", session.scene?.source === "none" ? (play.trouble ?? "No scene is open.") : null);
  stage.classList.toggle("comparing", play.compare);
  if (!linkApplied) {
    linkApplied = true;
    app.applyLink(location.hash);
  }
});
session.on("topology", (topology) => {
  world.setTopology(topology);
  panel.setSkin(false);
});
session.on("skin", (skin) => {
  world.setSkin(skin);
  panel.setSkin(true);
});
session.on("obstacles", (obstacles) => {
  world.setObstacles(obstacles, session.scene);
  app.placeCameraAgain();
});
session.on("telemetry", (telemetry) => {
  world.setTelemetry(telemetry);
  plots.push(telemetry);
  labels.setTelemetry(telemetry);
});
session.on("frames", (frames) => {
  world.setFrames(frames, performance.now());
  legend.setRange(world.range.low, world.range.high);
  transport.setTime(frames[0]!.time, session.scene?.source === "result" ? frames[0]!.step : null);
});
session.on("error", ({ message }) => {
  messages.error(message);
  // What was refused is not what the controls should show.
  if (session.play) panel.setPlay(session.play);
});
session.on("notice", (message) => messages.notice(message));
session.on("state", (bytes) => saveBytes(bytes, `${session.scene?.name ?? "state"}.pliant`));
session.on("connection", (state) => {
  document.documentElement.dataset.connection = session.status;
  if (state === "lost") {
    messages.setBanner("The connection to pliant is lost. Trying again …");
    hand.release();
  } else if (state === "open") {
    if (!messages.banner.hidden) messages.notice("Connected again.");
    messages.setBanner(null);
  } else if (state === "restarted") {
    // The program was started anew: it gets back what this page had set.
    app.applyLink(location.hash);
  }
});
window.addEventListener("hashchange", () => app.applyLink(location.hash));

function showScenes(): void {
  const path = session.scene?.path ?? null;
  const options = session.scenes.map((scene) => h("option", { value: scene.path, title: scene.title }, scene.path.replace(/\.toml$/, "")));
  if (path === null || !session.scenes.some((scene) => scene.path === path)) {
    options.unshift(h("option", { value: path ?? "", disabled: path === null }, session.scene?.name || "no scene"));
  }
  scenePicker.replaceChildren(...options);
  scenePicker.value = path ?? "";
}

async function copyLink(): Promise<void> {
  keepLink();
  try {
    await navigator.clipboard.writeText(location.href);
    messages.notice("Link copied: it shows this scene, solver, colours and camera again.");
  } catch {
    messages.notice(`This address shows the same again: ${location.href}`);
  }
}

// What stays in the page ---------------------------------------------------------------------------------------------------

app.onChange = () => {
  panel.setLocal();
  for (const button of tools) button.setAttribute("aria-pressed", String(button.dataset.tool === app.tool));
  canvas.dataset.tool = app.tool;
  main.classList.toggle("without-plots", !app.plotsShown);
};
app.onChange();

theme.onChange = () => {
  world.setLook(theme.look());
  plots.themeChanged();
};
theme.onChange();

/** The address always shows what is seen, so that a reload or a bookmark keeps it. */
function keepLink(): void {
  const link = app.link();
  if (link && linkApplied && session.status === "open" && `#${link}` !== location.hash) history.replaceState(null, "", `#${link}`);
}
setInterval(keepLink, 1000);

let drawnBefore = 0;
let framesBefore = 0;
setInterval(() => {
  const drawn = world.drawn - drawnBefore;
  const received = session.framesReceived - framesBefore;
  drawnBefore = world.drawn;
  framesBefore = session.framesReceived;
  const simulated = session.telemetry?.simulated_per_second;
  const words =
    session.status !== "open"
      ? session.status === "lost"
        ? "connection lost"
        : "connecting …"
      : session.play?.playing
        ? `${simulated ? `${plain(simulated)} steps/s · ` : ""}${received} frames/s`
        : "paused";
  if (status.textContent !== words) status.textContent = words;
  status.title = `${drawn} pictures drawn in the last second`;
}, 1000);

function turn(now: number): void {
  hand.turn();
  if (world.turn(now)) session.acknowledge();
  requestAnimationFrame(turn);
}
requestAnimationFrame(turn);

exposeForTests(session, world, app, hand);
session.start();
