/**
 * Clients that show the terminal. Each gets a screen first and then every byte after it. A slow reader gets at most HELD bytes: it gets a
 * new screen when it has caught up, so it shows the current state late instead of an ever older one.
 */
import type { Socket } from "node:net";
import { BYTES, encodeFrame, encodeMessage } from "@holdfast/contract/terminal/frames";
import type { FromHolder, Viewer } from "@holdfast/contract/terminal/holder";

const HELD = 1 << 20;

/** Resets the viewer's terminal: modes, colours, margins, mouse, paste marks, and the picture. */
const RESET = "\x1b[!p\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[r\x1b[0m\x1b[?25h\x1b[2J\x1b[H";

export interface Size {
  columns: number;
  rows: number;
}

export class Viewers {
  readonly #viewers = new Map<Socket, Viewer & { behind: boolean; size: Size }>();
  readonly #screen: () => Promise<{ screen: string; isCurrent: boolean }>;
  readonly #onChange: () => void;
  #count = 0;

  constructor(options: { screen(): Promise<{ screen: string; isCurrent: boolean }>; onChange(): void }) {
    this.#screen = options.screen;
    this.#onChange = options.onChange;
  }

  /** From the moment the screen is read, bytes are held back for this viewer until the screen has been sent. */
  async add(socket: Socket, options: { readOnly: boolean; pid: number; size: Size }): Promise<void> {
    const viewer = { ...options, number: ++this.#count, since: Date.now(), behind: true };
    this.#viewers.set(socket, viewer);
    socket.on("close", () => {
      if (this.#viewers.delete(socket)) this.#onChange();
    });
    this.#onChange();
    socket.on("drain", () => {
      if (viewer.behind) void this.#refresh(socket);
    });
    await this.#refresh(socket);
  }

  list(): Viewer[] {
    return [...this.#viewers.values()].map(({ number, pid, readOnly, since }) => ({ number, pid, readOnly, since }));
  }

  get any(): boolean {
    return this.#viewers.size > 0;
  }

  mayType(socket: Socket): boolean {
    return this.#viewers.get(socket)?.readOnly === false;
  }

  /** The size of the viewer's terminal, whether or not the session's size follows it. */
  resized(socket: Socket, size: Size): void {
    const viewer = this.#viewers.get(socket);
    if (viewer) viewer.size = size;
  }

  /** Sets whether a viewer may type; returns its size, or undefined if there is no such viewer. It gets a new screen to match its role. */
  setPart(number: number, readOnly: boolean): Size | undefined {
    const [socket, viewer] = this.#find(number) ?? [];
    if (!socket || !viewer) return undefined;
    viewer.readOnly = readOnly;
    socket.write(encodeMessage({ t: "part", readOnly } satisfies FromHolder));
    this.refresh(socket);
    this.#onChange();
    return viewer.size;
  }

  tell(number: number, message: FromHolder): void {
    this.#find(number)?.[0].write(encodeMessage(message));
  }

  tellAll(message: FromHolder): void {
    const told = encodeMessage(message);
    for (const socket of this.#viewers.keys()) socket.write(told);
  }

  #find(number: number) {
    return [...this.#viewers].find(([, viewer]) => viewer.number === number);
  }

  refresh(socket: Socket): void {
    const viewer = this.#viewers.get(socket);
    if (!viewer) return;
    viewer.behind = true;
    void this.#refresh(socket);
  }

  output(bytes: Uint8Array): void {
    if (this.#viewers.size === 0 || bytes.length === 0) return;
    const frame = encodeFrame(BYTES, bytes);
    for (const [socket, viewer] of this.#viewers) {
      if (viewer.behind) continue;
      socket.write(frame);
      if (socket.writableLength > HELD) viewer.behind = true;
    }
  }

  /** Sends everybody a new screen, as soon as the emulator has it. */
  refreshAll(): void {
    for (const socket of this.#viewers.keys()) this.refresh(socket);
  }

  /** Sends all viewers a message and closes them; returns their number. */
  dismiss(message: FromHolder): number {
    const count = this.#viewers.size;
    for (const socket of this.#viewers.keys()) socket.end(encodeMessage(message));
    this.#viewers.clear();
    if (count > 0) this.#onChange();
    return count;
  }

  /** Sends one viewer a message and closes it; its `close` event removes it. */
  dismissOne(number: number, message: FromHolder): void {
    this.#find(number)?.[0].end(encodeMessage(message));
  }

  /** In a flood that the emulator cannot follow, the screen is sent repeatedly as far as it is, until the emulator has caught up. */
  async #refresh(socket: Socket): Promise<void> {
    const { screen, isCurrent } = await this.#screen();
    const viewer = this.#viewers.get(socket);
    if (!viewer) return;
    socket.write(encodeFrame(BYTES, Buffer.from(RESET + screen)));
    if (isCurrent) viewer.behind = false;
    else void this.#refresh(socket);
  }
}
