// What goes wrong, in words: passing messages at the lower left, a banner while the connection is lost, and a card in place of
// a scene that could not be read.
import { h, icon } from "./dom.ts";

const STAY_MS = { error: 12000, notice: 5000 };

export class Messages {
  readonly toasts = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
  readonly banner = h("div", { class: "banner", role: "alert", hidden: true });
  readonly card = h("div", { class: "card-message", role: "alert", hidden: true });

  error(message: string): void {
    this.toast(message, "error");
  }

  notice(message: string): void {
    this.toast(message, "notice");
  }

  /** What was said of one scene is not true of the next. */
  clear(): void {
    this.toasts.replaceChildren();
  }

  setBanner(message: string | null): void {
    this.banner.hidden = message === null;
    this.banner.textContent = message ?? "";
  }

  setCard(title: string, message: string | null): void {
    this.card.hidden = message === null;
    if (message === null) this.card.replaceChildren();
    else this.card.replaceChildren(h("h2", {}, title), h("pre", {}, message), h("p", {}, "Fix the file and open the scene again, or choose another one above."));
  }

  private toast(message: string, kind: "error" | "notice"): void {
    const same = [...this.toasts.children].find((child) => (child as HTMLElement).dataset.message === message);
    same?.remove();
    const close = h("button", { type: "button", class: "icon-button small", "aria-label": "Dismiss" }, icon("close"));
    const toast = h("div", { class: `toast ${kind}`, "data-message": message, role: kind === "error" ? "alert" : undefined }, h("p", {}, message), close);
    close.addEventListener("click", () => toast.remove());
    this.toasts.append(toast);
    while (this.toasts.children.length > 4) this.toasts.firstElementChild!.remove();
    setTimeout(() => toast.remove(), STAY_MS[kind]);
  }
}
