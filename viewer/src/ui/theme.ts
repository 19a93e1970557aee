// Light or dark: what the system prefers, until a person chooses.
import type { Look } from "../view/world.ts";

const KEY = "pliant-theme";
export type Theme = "light" | "dark";

export class ThemeChooser {
  onChange: () => void = () => {};
  private readonly system = window.matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  get theme(): Theme {
    const chosen = stored();
    return chosen === "light" || chosen === "dark" ? chosen : this.system.matches ? "dark" : "light";
  }

  toggle(): void {
    const next = this.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Without storage the choice lasts as long as the page.
      document.documentElement.dataset.chosen = next;
    }
    this.apply();
  }

  /** The colours of the three-dimensional part, from the style sheet. */
  look(): Look {
    const style = getComputedStyle(document.documentElement);
    const read = (name: string) => style.getPropertyValue(name).trim();
    return {
      bodies: [read("--body-a"), read("--body-b")],
      inside: read("--inside"),
      wire: read("--wire"),
      grid: read("--grid"),
      gridOpacity: Number(read("--grid-opacity")),
      obstacle: read("--obstacle"),
    };
  }

  private apply(): void {
    document.documentElement.dataset.theme = this.theme;
    this.onChange();
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY) ?? document.documentElement.dataset.chosen ?? null;
  } catch {
    return document.documentElement.dataset.chosen ?? null;
  }
}
