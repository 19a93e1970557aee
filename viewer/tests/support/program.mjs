// The program under test: `build/pliant view ...` on a free port of the loopback address.
import { spawn, execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
export const binary = process.env.PLIANT ?? join(root, "build/pliant");

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Runs another command of the program to its end. */
export const pliant = (...args) => promisify(execFile)(binary, args, { cwd: root });

export class Program {
  constructor(what, port, child) {
    Object.assign(this, { what, port, child, url: `http://127.0.0.1:${port}/` });
  }

  static async start(what, port, more = []) {
    if (!existsSync(binary)) throw new Error(`${binary} is not there: run scripts/build first`);
    port ??= await freePort();
    // The page in the program, or one that is being worked on: PLIANT_PAGE=viewer/dist.
    const page = process.env.PLIANT_PAGE ? ["--page", process.env.PLIANT_PAGE] : [];
    const child = spawn(binary, ["view", what, "--port", String(port), "--no-browser", ...more, ...page], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const listening = new Promise((resolve, reject) => {
      const hear = (data) => {
        said += data;
        if (said.includes(`:${port}`)) resolve();
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("exit", (code) => reject(new Error(`pliant view ended with ${code}: ${said}`)));
      setTimeout(() => reject(new Error(`pliant view says nothing of port ${port}: ${said}`)), 30000).unref();
    });
    await listening;
    const program = new Program(what, port, child);
    program.said = () => said;
    return program;
  }

  get runs() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async stop(signal = "SIGTERM") {
    if (!this.runs) return;
    const gone = once(this.child, "exit");
    this.child.kill(signal);
    const kill = setTimeout(() => this.child.kill("SIGKILL"), 5000);
    await gone;
    clearTimeout(kill);
  }
}
