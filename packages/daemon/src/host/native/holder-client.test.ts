import { mkdtempDisposableSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeMessage, encodeFrame, encodeMessage, FrameReader, HOLDER_PROTOCOL, MESSAGE, type ToHolder } from "@holdfast/contract";
import { expect, onTestFinished, test } from "vitest";
import { HolderClient } from "./holder-client.ts";

/** A holder with that protocol version that refuses every request. */
async function holder(protocol: number): Promise<string> {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on("data", (chunk: Buffer) => {
      for (const { payload } of reader.push(chunk)) {
        const told = decodeMessage(payload) as ToHolder;
        if (told.t === "control") socket.write(encodeMessage({ t: "welcome", v: protocol, pid: 1 }));
        else if ("id" in told) socket.write(encodeMessage({ t: "reply", id: told.id, error: "this holder does not know that request" }));
      }
    });
  });
  const path = join(directory.path, "s");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    directory.remove();
  });
  return path;
}

test("a request that an older holder does not know fails with a hint", async () => {
  using client = await HolderClient.open(await holder(HOLDER_PROTOCOL - 1), { onEnd() {}, onViewers() {} });
  await expect(client.request({ t: "screen" })).rejects.toMatchObject({
    code: "host_failed",
    message: expect.stringContaining("older Holdfast"),
    hint: expect.stringContaining("next run"),
  });
});

test("a refusal by a holder of this version reaches the caller unchanged", async () => {
  using client = await HolderClient.open(await holder(HOLDER_PROTOCOL), { onEnd() {}, onViewers() {} });
  await expect(client.request({ t: "screen" })).rejects.toMatchObject({
    message: "the holder refused: this holder does not know that request",
  });
});

test.each([
  ["a frame without end", Buffer.from([1, 255, 255, 255, 255])],
  ["invalid JSON", encodeFrame(MESSAGE, Buffer.from("{no"))],
  ["null", encodeMessage(null)],
])("a holder that sends %s loses its connection and does not end the daemon (mend 4)", async (_, said) => {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const server = createServer((socket) => void socket.on("error", () => {}).write(said));
  await new Promise<void>((resolve) => server.listen(join(directory.path, "s"), resolve));
  onTestFinished(() => {
    server.close();
    directory.remove();
  });
  const ended = Promise.withResolvers<void>();
  using _client = await HolderClient.open(join(directory.path, "s"), { onEnd: () => ended.resolve(), onViewers() {} });
  await ended.promise;
});
