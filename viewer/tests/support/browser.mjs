// Headless Chromium, Debian's; no browser is ever downloaded. Every page is watched: what the console complains about and
// which hosts are asked.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--enable-unsafe-swiftshader",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launch(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), "pliant-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
    colorScheme: "light",
    acceptDownloads: true,
    ...options,
  });
  return {
    context,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Opens a page and waits for its first frame, unless told not to. */
export async function visit(context, url, { frames = 1 } = {}) {
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.complaints = [];
  page.hosts = new Set();
  page.on("console", (message) => {
    // Drawing without a graphics card is slow, and Chromium says so.
    if (message.text().includes("GL Driver Message")) return;
    if (message.type() === "error" || message.type() === "warning") page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(String(error.stack ?? error)));
  page.on("request", (request) => {
    const target = new URL(request.url());
    if (target.protocol !== "blob:" && target.protocol !== "data:") page.hosts.add(target.host);
  });
  page.on("websocket", (socket) => page.hosts.add(new URL(socket.url()).host));
  await page.goto(url);
  if (frames > 0) await page.waitForFunction((n) => window.pliant?.frames >= n, frames, { timeout: 60000 });
  return page;
}
