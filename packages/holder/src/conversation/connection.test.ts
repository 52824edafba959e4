import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Connection, type Peer, PeerError, UnknownMethod } from "./connection.ts";

function connect(peer: Partial<Peer> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const told: unknown[] = [];
  const nonsense: Error[] = [];
  const connection = new Connection({
    input,
    output,
    peer: {
      onRequest: (method, params) => ({ method, params }),
      onNotification: (method, params) => void told.push([method, params]),
      onNonsense: (error) => void nonsense.push(error as Error),
      ...peer,
    },
  });
  let written = "";
  output.on("data", (bytes: Buffer) => {
    written += bytes;
  });
  const said = () => {
    const lines = written.split("\n").filter(Boolean);
    written = "";
    return lines.map((line) => JSON.parse(line));
  };
  return { input, output, connection, told, nonsense, said };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("responses are matched to requests by id, in any order", async () => {
  const { input, connection, said } = connect();
  const first = connection.request("a", { x: 1 });
  const second = connection.request("b", {});
  await turn();
  expect(said()).toEqual([
    { jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } },
    { jsonrpc: "2.0", id: 2, method: "b", params: {} },
  ]);
  input.write('{"id":2,"result":"two"}\n{"id":1,"error":{"code":-3,"message":"no","data":5}}\n');
  expect(await second).toBe("two");
  const error = await first.catch((each: unknown) => each);
  expect(error).toBeInstanceOf(PeerError);
  expect(error).toMatchObject({ code: -3, message: "no", data: 5 });
});

test("an error of any form becomes a PeerError", async () => {
  const { input, connection } = connect();
  for (const [index, error] of ["a word", 5, true, [], { message: 5, code: "x" }].entries()) {
    const asked = connection.request("a", {});
    input.write(`${JSON.stringify({ id: index + 1, error })}\n`);
    await expect(asked, JSON.stringify(error)).rejects.toMatchObject({ message: "the agent answered with an error", code: -32603 });
  }
});

test("a request from the other side gets a result or an error", async () => {
  const { input, said } = connect({
    onRequest(method) {
      if (method === "none") throw new UnknownMethod("none is not served here");
      if (method === "fails") return Promise.reject(new Error("no room"));
      return method === "nothing" ? undefined : "done";
    },
  });
  for (const [id, method] of ["does", "nothing", "none", "fails"].entries()) input.write(`${JSON.stringify({ id, method })}\n`);
  await turn();
  const answers = said();
  expect(answers).toHaveLength(4);
  expect(answers).toEqual(
    expect.arrayContaining([
      { jsonrpc: "2.0", id: 0, result: "done" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, error: { code: -32601, message: "none is not served here" } },
      { jsonrpc: "2.0", id: 3, error: { code: -32603, message: "no room" } },
    ]),
  );
});

test("messages are complete however the bytes are split", async () => {
  const messages = fc.array(fc.jsonValue(), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.nat({ max: 200 }), { maxLength: 10 }), async (params, cuts) => {
      const { input, told, nonsense } = connect();
      const bytes = Buffer.from(params.map((each) => `${JSON.stringify({ method: "n", params: each })}\r\n\n`).join(""));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      for (const [index, from] of places.entries()) input.write(bytes.subarray(from, places[index + 1]));
      await turn();
      expect(JSON.stringify(told)).toBe(JSON.stringify(params.map((each) => ["n", each])));
      expect(nonsense).toEqual([]);
    }),
  );
});

test("an invalid line is reported, and later lines are read", async () => {
  const { input, told, nonsense } = connect({
    onNotification: (method) => {
      if (method === "bad") throw new TypeError("cannot be taken");
      told.push(method);
    },
  });
  input.write('starting up…\n5\nnull\n{"method":"bad"}\n[]\n{"id":99,"result":1}\n{"method":"good"}\n');
  await turn();
  expect(told).toEqual(["good"]);
  expect(nonsense.map(({ message }) => message)).toEqual([
    expect.stringContaining("JSON"),
    "not a message: 5",
    "not a message: null",
    "cannot be taken",
  ]);
});

test("a line without an end is not buffered beyond the limit", async () => {
  const { input, told, nonsense } = connect();
  const piece = Buffer.alloc(8 * 1024 * 1024, "x");
  for (let sent = 0; sent <= 64; sent += 8) {
    input.write(piece);
    await turn();
  }
  expect(nonsense.map(({ message }) => message)).toEqual(["a message of more than 67108864 bytes"]);
  input.write('\n{"method":"good"}\n');
  await turn();
  expect(told).toEqual([["good", undefined]]);
});

test("pending and later requests fail when the other side closes the connection", async () => {
  const { input, output, connection, said } = connect();
  const asked = connection.request("a", {});
  const refused = expect(asked).rejects.toThrow("closed the connection");
  input.destroy();
  await refused;
  expect(connection.closed).toBe(true);
  said();
  await expect(connection.request("b", {})).rejects.toThrow("closed the connection");
  connection.notify("c", {});
  await turn();
  expect(said()).toEqual([]);
  output.destroy(new Error("EPIPE"));
  await turn();
});
