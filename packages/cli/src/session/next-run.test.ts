import { mkdtempDisposableSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastClient } from "@holdfast/sdk/client";
import { unixTransport } from "@holdfast/sdk/transport/unix";
import { expect, test } from "vitest";
import type { Context } from "../command.ts";
import { untilSession } from "./next-run.ts";

test("a timeout before the daemon answers ends the wait without an error", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const socket = join(directory.path, "sock");
  const over = new AbortController();
  const server = createServer((request, response) => {
    if (request.url?.split("?")[0]?.endsWith("/sessions"))
      response.end(JSON.stringify({ cursor: "a-1", sessions: [{ id: "x", name: "it" }] }));
    else over.abort();
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const client = new HoldfastClient(unixTransport(socket));
  try {
    const found = await untilSession({ client } as unknown as Context, { id: "x", signal: over.signal, until: () => false });
    expect(found).toBeUndefined();
    expect(over.signal.aborted).toBe(true);
  } finally {
    client[Symbol.dispose]();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
