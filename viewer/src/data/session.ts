// What the page knows about the simulation: the last message of each kind, the frames of each view, and who wants to hear of news.
import { Connection, type Outgoing } from "./connection.ts";
import {
  decodeBinary,
  decodeText,
  type Ability,
  type Frame,
  type Hello,
  type Obstacles,
  type Play,
  type Scene,
  type SceneEntry,
  type Skin,
  type ServerMessage,
  type Solver,
  type Telemetry,
  type Topology,
} from "./protocol.ts";

export interface SessionEvents {
  hello: Hello;
  scenes: SceneEntry[];
  scene: Scene;
  play: Play;
  telemetry: Telemetry;
  topology: Topology;
  skin: Skin;
  obstacles: Obstacles;
  /** All views of one instant. */
  frames: Frame[];
  released: number;
  state: Uint8Array;
  error: { message: string; of: string | null };
  notice: string;
  /** "restarted": connected again, to a server that has begun anew since. */
  connection: "connecting" | "open" | "lost" | "restarted";
}

type Listener<K extends keyof SessionEvents> = (event: SessionEvents[K]) => void;

export class Session {
  hello: Hello | null = null;
  scenes: SceneEntry[] = [];
  scene: Scene | null = null;
  play: Play | null = null;
  telemetry: Telemetry | null = null;
  topology: Topology | null = null;
  /** Of the same revision; null where no body has one. */
  skin: Skin | null = null;
  obstacles: Obstacles | null = null;
  frames: Frame[] = [];
  status: "connecting" | "open" | "lost" = "connecting";
  /** Frames that arrived complete and fitted the topology. */
  framesReceived = 0;
  private readonly connection: Connection;
  private readonly listeners = new Map<string, ((event: never) => void)[]>();
  private incoming: Frame[] = [];
  private unseen = -1;
  private wasLost = false;

  constructor(url: string) {
    this.connection = new Connection(url);
    this.connection.onStatus = (status) => this.changeStatus(status);
    this.connection.onText = (text) => this.guarded(() => this.takeMessage(decodeText(text)));
    this.connection.onBinary = (buffer) => this.guarded(() => this.takeBinary(buffer));
  }

  start(): void {
    this.connection.open();
  }

  on<K extends keyof SessionEvents>(name: K, listener: Listener<K>): void {
    const list = this.listeners.get(name) ?? [];
    list.push(listener as (event: never) => void);
    this.listeners.set(name, list);
  }

  /** Sends a message; returns its stamp. */
  send(type: string, fields: Record<string, unknown> = {}): number {
    return this.connection.send({ type, ...fields } as Outgoing);
  }

  load(bytes: Uint8Array<ArrayBuffer>): void {
    this.connection.sendBinary(bytes);
  }

  /** Tells the server that the last frame is on the screen and another one is welcome. */
  acknowledge(): void {
    if (this.unseen < 0) return;
    this.connection.seen(this.unseen);
    this.unseen = -1;
  }

  can(ability: Ability): boolean {
    return this.scene?.can[ability] ?? false;
  }

  solver(name: string): Solver | undefined {
    return this.hello?.solvers.find((solver) => solver.name === name);
  }

  private emit<K extends keyof SessionEvents>(name: K, event: SessionEvents[K]): void {
    for (const listener of this.listeners.get(name) ?? []) (listener as Listener<K>)(event);
  }

  private guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      console.error(error);
      this.emit("error", { message: `The page did not understand the server: ${(error as Error).message}.`, of: null });
    }
  }

  private changeStatus(status: "connecting" | "open" | "lost"): void {
    if (status === "lost") this.wasLost = true;
    // While it tries again it is still lost, as far as a person is concerned.
    if (status === "connecting" && this.wasLost) return;
    this.status = status;
    this.unseen = -1;
    this.incoming = [];
    this.emit("connection", status);
  }

  private takeMessage(message: ServerMessage): void {
    switch (message.type) {
      case "hello":
        this.hello = message;
        this.emit("hello", message);
        break;
      case "scenes":
        this.scenes = message.scenes;
        this.emit("scenes", message.scenes);
        break;
      case "scene":
        this.scene = message;
        this.emit("scene", message);
        break;
      case "play":
        this.play = message;
        this.emit("play", message);
        break;
      case "telemetry": {
        const restarted = this.wasLost && this.telemetry !== null && message.frame < this.telemetry.frame;
        this.wasLost = false;
        this.telemetry = message;
        if (restarted) this.emit("connection", "restarted");
        this.emit("telemetry", message);
        break;
      }
      case "released":
        this.emit("released", message.hand);
        break;
      case "missed":
        this.emit("released", message.hand);
        break;
      case "error":
        this.emit("error", { message: message.message, of: message.of });
        break;
      case "notice":
        this.emit("notice", message.message);
        break;
      case "grabbed":
      case "pong":
        break;
    }
  }

  private takeBinary(buffer: ArrayBuffer): void {
    const message = decodeBinary(buffer);
    switch (message.kind) {
      case "topology":
        this.topology = message;
        this.skin = null;
        this.frames = [];
        this.incoming = [];
        this.emit("topology", message);
        break;
      case "skin":
        this.skin = message;
        this.emit("skin", message);
        break;
      case "obstacles":
        this.obstacles = message;
        this.emit("obstacles", message);
        break;
      case "state":
        this.emit("state", message.bytes);
        break;
      case "frame":
        this.takeFrame(message);
        break;
    }
  }

  private takeFrame(frame: Frame): void {
    this.incoming[frame.view] = frame;
    if (frame.view !== frame.views - 1) return;
    const complete = this.incoming.slice(0, frame.views);
    this.incoming = [];
    // A frame that a newer one overtakes before it was drawn is acknowledged all the same.
    this.acknowledge();
    this.unseen = frame.frame;
    const fits = (f: Frame | undefined) => f?.frame === frame.frame && f.revision === this.topology?.revision;
    const vertexCount = ((this.topology?.rest.length ?? 0) + (this.skin?.rest.length ?? 0)) / 3;
    if (complete.length !== frame.views || !complete.every((f) => fits(f) && f.positions.length === 3 * vertexCount)) {
      this.acknowledge();
      return;
    }
    this.frames = complete;
    ++this.framesReceived;
    this.emit("frames", complete);
  }
}
