/** A terminal of another daemon: holder frames on their own connection, which begins as HTTP. */
import { connect, type Socket } from "node:net";
import { type ErrorBody, HoldfastError } from "@holdfast/contract/errors";
import type { AttachPlan } from "@holdfast/contract/terminal/endpoints";
import { decodeMessage, FrameReader } from "@holdfast/contract/terminal/frames";
import type { FromHolder } from "@holdfast/contract/terminal/holder";
import { VERSION } from "@holdfast/contract/version";
import { actingIn } from "@holdfast/sdk/acting";
import { bearer } from "@holdfast/sdk/bearer";
import { sharedSocket } from "../connection/running.ts";
import { thisTerminal } from "./this-terminal.ts";

/** The connection, and the granted attach plan. */
export async function openTerminal(
  url: string,
  { ref, readOnly, take }: { ref: string; readOnly: boolean; take: boolean },
): Promise<{ socket: Socket; plan: AttachPlan }> {
  const { terminal } = thisTerminal();
  const query = new URLSearchParams({ readOnly: String(readOnly), take: String(take), ...(terminal === null ? {} : { terminal }) });
  const { socket, host } = await dial(url);
  const authorization = bearer(actingIn(process.env).token);
  const head = [
    `GET /sessions/${encodeURIComponent(ref)}/terminal?${query} HTTP/1.1`,
    `host: ${host}`,
    `holdfast-version: ${VERSION}`,
    "connection: upgrade",
    "upgrade: holdfast",
    ...(authorization === undefined ? [] : [`authorization: ${authorization}`]),
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await answered(socket);
  return { socket, plan: await firstMessage(socket) };
}

function dial(url: string): Promise<{ socket: Socket; host: string }> {
  const path = sharedSocket(url);
  const parsed = path === undefined ? URL.parse(url) : null;
  if (path === undefined && parsed?.protocol !== "http:") {
    throw new HoldfastError("usage", `attach needs unix: or http:, and this is ${url}`, {
      hint: "use ssh instead: holdfast -H MACHINE attach",
    });
  }
  return new Promise((resolve, reject) => {
    const to = parsed ? { host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(parsed.port || 80) } : { path: path ?? "" };
    const socket = connect(to);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      socket.on("error", () => {});
      resolve({ socket, host: parsed?.host ?? "holdfast" });
    });
    socket.once("error", (cause) => reject(new HoldfastError("daemon_unreachable", `no answer at ${url}: ${cause.message}`, { cause })));
  });
}

const CUT_OFF = "the daemon ended before it answered";

/** Leaves bytes after the reply's head on the socket. */
async function answered(socket: Socket): Promise<void> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n");
    const head = end < 0 ? "" : bytes.toString("latin1", 0, end);
    if (head.startsWith("HTTP/1.1 101 ")) {
      if (bytes.length > end + 4) socket.unshift(bytes.subarray(end + 4));
      return;
    }
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
    if (end >= 0 && bytes.length >= end + 4 + length) throw refusal(bytes.toString("utf8", end + 4, end + 4 + length));
    bytes = Buffer.concat([bytes, await chunk(socket)]);
  }
}

function refusal(body: string): HoldfastError {
  return HoldfastError.fromBody((JSON.parse(body) as { error: ErrorBody }).error);
}

async function firstMessage(socket: Socket): Promise<AttachPlan> {
  const reader = new FrameReader();
  let bytes = Buffer.alloc(0);
  for (;;) {
    const next = await chunk(socket);
    bytes = Buffer.concat([bytes, next]);
    const [first] = reader.push(next);
    if (!first) continue;
    socket.unshift(bytes.subarray(5 + first.payload.length));
    const message = decodeMessage(first.payload) as FromHolder;
    if (message.t !== "attached") throw new HoldfastError("internal", "the daemon did not report what it attached to");
    return message.plan as AttachPlan;
  }
}

function chunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onReadable = () => {
      const read = socket.read() as Buffer | null;
      if (read === null) return;
      off();
      resolve(read);
    };
    const onClose = () => {
      off();
      reject(new HoldfastError("daemon_unreachable", CUT_OFF));
    };
    const off = () => socket.off("readable", onReadable).off("close", onClose);
    socket.on("readable", onReadable).on("close", onClose);
    onReadable();
  });
}
