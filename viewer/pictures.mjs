// Takes the pictures of the viewer for README and docs from the running program: node pictures.mjs, after scripts/build.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { launch, visit } from "./tests/support/browser.mjs";
import { Program, root } from "./tests/support/program.mjs";

const PICTURES = [
  {
    file: "viewer-stress.png",
    scene: "scenes/twisted-beam.toml",
    link: "colour=stress&speed=0",
    time: 1.5,
  },
  {
    file: "viewer-compare.png",
    scene: "scenes/swinging-beam.toml",
    link: "a=pod-newton&b=projective-dynamics&b.iterations=2&speed=0&strength=300",
    colorScheme: "dark",
    time: 0.25,
    // Pulled at the far end, in both views.
    pull: { along: [0.9, 0.5, 0.5], by: [40, -150] },
  },
];

// One by its name, or all: node pictures.mjs [viewer-compare.png]
const chosen = PICTURES.filter(({ file }) => process.argv.length < 3 || process.argv.includes(file));
for (const { file, scene, link, time, pull, colorScheme = "light" } of chosen) {
  const program = await Program.start(join(root, scene));
  const browser = await launch({ colorScheme });
  try {
    const page = await visit(browser.context, `${program.url}#${link}`);
    await page.waitForFunction((views) => window.pliant.world.views === views, link.includes("b=") ? 2 : 1, { timeout: 120000 });
    if (pull) {
      const start = await page.evaluate(({ along }) => {
        const [low, high] = window.pliant.session.scene.box;
        return window.pliant.screen(low.map((l, k) => l + along[k] * (high[k] - l)));
      }, pull);
      await page.mouse.move(...start);
      await page.mouse.down();
      await page.mouse.move(start[0] + pull.by[0], start[1] + pull.by[1], { steps: 8 });
      const now = await page.evaluate(() => window.pliant.time);
      await page.waitForFunction((t) => window.pliant.time > t, now + 0.5, { timeout: 120000 });
    }
    await page.waitForFunction((t) => window.pliant.time > t, time, { timeout: 120000 });
    await page.evaluate(() => window.pliant.session.send("pause"));
    await page.waitForFunction(() => !window.pliant.session.play.playing);
    await page.evaluate(() => document.activeElement.blur());
    // Standing still, it is drawn in full detail.
    await page.waitForFunction(() => window.pliant.world.detail === "fine", null, { timeout: 120000 });
    await page.waitForTimeout(1500);
    const path = join(root, "docs/images", file);
    await page.screenshot({ path });
    console.log(`${file}: ${Math.round((await stat(path)).size / 1024)} KB`);
  } finally {
    await browser.close();
    await program.stop();
  }
}
