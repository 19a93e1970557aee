// The WebSocket to the server. When it breaks, it is opened again, sooner at first, then every two seconds.

export type Outgoing = { type: string } & Record<string, unknown>;
export type ConnectionStatus = "connecting" | "open" | "lost";

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 2000;

export class Connection {
  onText: (text: string) => void = () => {};
  onBinary: (buffer: ArrayBuffer) => void = () => {};
  onStatus: (status: ConnectionStatus, reason: string) => void = () => {};
  /** The stamp of the last message that was sent; frames tell which one they include. */
  stamp = 0;
  private socket: WebSocket | null = null;
  private retryMs = FIRST_RETRY_MS;

  constructor(private readonly url: string) {}

  open(): void {
    this.onStatus("connecting", "");
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      this.onStatus("open", "");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.onText(event.data);
      else this.onBinary(event.data);
    };
    socket.onclose = (event) => {
      this.onStatus("lost", event.reason);
      setTimeout(() => this.open(), this.retryMs);
      this.retryMs = Math.min(LAST_RETRY_MS, 1.6 * this.retryMs);
    };
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(message: Outgoing): number {
    if (!this.isOpen) return this.stamp;
    this.stamp = (this.stamp + 1) % 2 ** 32;
    this.socket!.send(JSON.stringify({ ...message, stamp: this.stamp }));
    return this.stamp;
  }

  /** Acknowledges a frame: no stamp, since nothing takes effect. */
  seen(frame: number): void {
    if (this.isOpen) this.socket!.send(`{"type":"seen","frame":${frame}}`);
  }

  sendBinary(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.isOpen) this.socket!.send(bytes);
  }
}
