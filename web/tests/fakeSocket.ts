/** A WebSocket without a network: the test is the server. */
type Sent = { type: string; stream: string; after?: number };

export class FakeSocket {
  static readonly all: FakeSocket[] = [];

  readyState: number = WebSocket.CONNECTING;
  onopen: (() => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  readonly sent: Sent[] = [];

  constructor() {
    FakeSocket.all.push(this);
  }

  static get last(): FakeSocket {
    const socket = FakeSocket.all.at(-1);
    if (!socket) throw new Error("Nothing has connected yet.");
    return socket;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.drop(1000);
  }

  accept(): void {
    this.readyState = WebSocket.OPEN;
    this.onopen?.();
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  drop(code: number): void {
    this.readyState = WebSocket.CLOSED;
    this.onclose?.({ code });
  }
}
