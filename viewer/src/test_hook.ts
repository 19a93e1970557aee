// `window.pliant`: what the end-to-end tests, and people at the console, look at.
import type { App } from "./app.ts";
import type { Session } from "./data/session.ts";
import type { Vec3 } from "./data/protocol.ts";
import type { Hand } from "./hand.ts";
import type { World } from "./view/world.ts";

export function exposeForTests(session: Session, world: World, app: App, hand: Hand): void {
  const hook = {
    session,
    world,
    app,
    hand,
    /** Complete frames so far. */
    get frames(): number {
      return session.framesReceived;
    },
    get views(): number {
      return session.frames.length;
    },
    get time(): number {
      return session.frames[0]?.time ?? NaN;
    },
    /** Surface positions of the last frame, m. */
    positions(view = 0): number[] {
      return Array.from(session.frames[view]?.positions ?? []);
    },
    /** Where a point of space is in the window, in CSS pixels. */
    screen(point: Vec3, view = 0): [number, number] {
      const box = world.canvas.getBoundingClientRect();
      const [x, y] = world.project(point, view);
      return [box.left + x, box.top + y];
    },
  };
  (window as unknown as { pliant: typeof hook }).pliant = hook;
}
