// Play, pause, step, reset, speed and time: the pill at the foot of the picture, with a time slider for finished runs.
import { SPEEDS, type App } from "../app.ts";
import type { Play, Scene } from "../data/protocol.ts";
import { h, iconButton, setIcon } from "./dom.ts";
import { plain } from "./numbers.ts";

const SPEED_NAMES: Record<number, string> = { 0: "as fast as it can", 1: "real time" };

export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly buttons: HTMLButtonElement[];
  private readonly speed: HTMLSelectElement;
  private readonly clock = h("output", { class: "clock", "aria-label": "Simulated time" }, "0.00 s");
  private readonly film = h("input", { type: "range", class: "film", min: "0", max: "1", step: "1", "aria-label": "Time in the recording", hidden: true });
  private times: number[] = [];

  constructor(app: App) {
    this.play = iconButton("play", "Play", "Space", () => app.togglePlay());
    this.play.classList.add("primary");
    this.buttons = [iconButton("reset", "Reset", "r", () => app.reset()), this.play, iconButton("step", "One step", ".", () => app.step())];
    this.speed = h(
      "select",
      { "aria-label": "Speed", title: "Speed ([ slower, ] faster)", onchange: () => app.setSpeed(Number(this.speed.value)) },
      ...SPEEDS.map((speed) => h("option", { value: String(speed) }, speedName(speed))),
    );
    this.film.addEventListener("input", () => app.seek(Number(this.film.value)));
    this.element = h("div", { class: "transport", role: "toolbar", "aria-label": "Time" }, ...this.buttons, this.film, this.clock, this.speed);
  }

  setScene(scene: Scene): void {
    const film = scene.source === "result";
    this.film.hidden = !film;
    this.times = scene.times ?? [];
    this.film.max = String(Math.max(0, (scene.frames ?? 1) - 1));
    this.element.classList.toggle("with-film", film);
    for (const button of this.buttons) button.disabled = scene.source === "none";
  }

  setPlay(play: Play): void {
    setIcon(this.play, play.playing ? "pause" : "play");
    this.play.setAttribute("aria-label", play.playing ? "Pause" : "Play");
    this.play.title = play.playing ? "Pause (Space)" : "Play (Space)";
    const value = String(play.speed);
    if (![...this.speed.options].some((option) => option.value === value)) {
      this.speed.append(h("option", { value }, speedName(play.speed)));
    }
    this.speed.value = value;
    this.element.classList.toggle("slow", play.speed > 0 && play.speed < 1);
    if (!this.film.hidden) this.showFilmAt(play.frame);
  }

  setTime(time: number, filmFrame: number | null): void {
    const end = this.times.length > 0 ? ` of ${this.times[this.times.length - 1]!.toFixed(2)} s` : " s";
    this.clock.textContent = `${time.toFixed(2)}${end}`;
    if (filmFrame !== null && !this.film.hidden && document.activeElement !== this.film) this.showFilmAt(filmFrame);
  }

  private showFilmAt(frame: number): void {
    this.film.value = String(frame);
    this.film.style.setProperty("--way", `${(100 * frame) / Math.max(1, Number(this.film.max))}%`);
  }
}

function speedName(speed: number): string {
  return SPEED_NAMES[speed] ?? (speed < 1 ? `slow, ${plain(speed)}×` : `${plain(speed)}×`);
}
