/**
 * Finds the process at the other end of a Unix socket. Our own clients name theirs (`holdfast-process`: pid and start), which costs nothing and
 * is checked against /proc. For all others the kernel knows who connected (SO_PEERCRED). Node cannot query that, but perl can: a fork of four
 * milliseconds, once per connection without a token.
 *
 * A program that names another process has lied to get in, and could just as well claim to act as the owner: this is no sandbox.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { findProgram, inspect, STANDARD_PATH } from "@holdfast/platform";

/** SOL_SOCKET and SO_PEERCRED, whose numbers differ on some architectures. */
const PEERCRED: Readonly<Record<string, readonly [number, number] | undefined>> = {
  x64: [1, 17],
  arm64: [1, 17],
  arm: [1, 17],
  ia32: [1, 17],
  riscv64: [1, 17],
};

/** Long enough for an overloaded machine. */
const ANSWER_MS = 5000;

/** "gone": the process has ended since it connected. Undefined if the platform cannot tell, or for another pid namespace. */
export type Peer = number | "gone" | undefined;

const asked = new WeakMap<Socket, Promise<Peer>>();

export async function peerOf(socket: Socket, named: string | undefined): Promise<Peer> {
  if (process.platform !== "linux") return undefined;
  const claimed = namedProcess(named);
  if (claimed !== undefined) return claimed;
  let peer = asked.get(socket);
  if (!peer) {
    peer = askKernel(socket);
    asked.set(socket, peer);
  }
  return peer;
}

/** The pid, if that process exists here with that start: not one of another pid namespace, and not an earlier one. */
function namedProcess(named: string | undefined): number | undefined {
  const [, pid, ticks] = /^(\d{1,10})-(\d{1,20})$/.exec(named ?? "") ?? [];
  return pid !== undefined && inspect(Number(pid))?.start.endsWith(`-${ticks}`) ? Number(pid) : undefined;
}

let perl: string | undefined | null = null;

async function askKernel(socket: Socket): Promise<Peer> {
  const option = PEERCRED[process.arch];
  if (perl === null) perl = findProgram("perl", STANDARD_PATH, "/");
  const descriptor = descriptorOf(socket);
  if (!option || perl === undefined || descriptor === undefined) return undefined;
  const script = `open(S, "+<&=3") or exit 1; my $c = getsockopt(S, ${option[0]}, ${option[1]}) or exit 1; print unpack("i", $c)`;
  const child = spawn(perl, ["-e", script], {
    stdio: ["ignore", "pipe", "ignore", descriptor],
    env: {},
    timeout: ANSWER_MS,
    killSignal: "SIGKILL",
  });
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve).once("error", () => resolve(null)));
  const pid = Number(said);
  if (code !== 0 || !Number.isInteger(pid) || pid <= 0) return undefined;
  return inspect(pid) ? pid : "gone";
}

/** Only the number: a child that inherits the socket itself would keep this process from reading it. */
function descriptorOf(socket: Socket): number | undefined {
  const { fd } = (socket as unknown as { _handle?: { fd?: unknown } | null })._handle ?? {};
  return typeof fd === "number" && fd >= 0 ? fd : undefined;
}
