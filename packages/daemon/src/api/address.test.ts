import { expect, test } from "vitest";
import { checkNames, formatAddress, isLoopback, parseAddress } from "./address.ts";

test.each([
  ["127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }, true],
  ["localhost:0", { host: "127.0.0.1", port: 0 }, true],
  ["127.8.9.1:1", { host: "127.8.9.1", port: 1 }, true],
  ["[::1]:65535", { host: "::1", port: 65_535 }, true],
  ["[0:0:0:0:0:0:0:1]:1", { host: "0:0:0:0:0:0:0:1", port: 1 }, true],
  ["0.0.0.0:80", { host: "0.0.0.0", port: 80 }, false],
  ["[::]:80", { host: "::", port: 80 }, false],
  ["[fe80::1]:80", { host: "fe80::1", port: 80 }, false],
  ["[::ffff:127.0.0.1]:80", { host: "::ffff:127.0.0.1", port: 80 }, false],
  ["10.1.27.0:80", { host: "10.1.27.0", port: 80 }, false],
])("%s is parsed as %j, and is loopback: %s", (text, address, loopback) => {
  expect(parseAddress(text)).toEqual(address);
  expect(isLoopback(address)).toBe(loopback);
  expect(parseAddress(formatAddress(address))).toEqual(address);
});

test.each([
  "",
  "8080",
  "127.0.0.1",
  "127.0.0.1:",
  "127.0.0.1:65536",
  "127.0.0.1:x",
  "example.org:80",
  "::1:80",
  "[127.0.0.1]:80",
  "127.1:80",
  ":80",
])("%j is not an address", (text) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: "usage" }));
});

const LOOPBACK = { host: "127.0.0.1", port: 8080 };
const PUBLIC = { host: "0.0.0.0", port: 8080 };

test.each([
  [LOOPBACK, "127.0.0.1:8080"],
  [LOOPBACK, "localhost:8080"],
  [LOOPBACK, "LOCALHOST"],
  [LOOPBACK, "[::1]:9000"],
  [LOOPBACK, "127.0.0.1:9000"],
  [PUBLIC, "192.168.1.5:8080"],
  [PUBLIC, "localhost:8080"],
])("a server at %j accepts the host %s", (bound, host) => {
  expect(() => checkNames(bound, { host, origin: undefined })).not.toThrow();
  expect(() => checkNames(bound, { host, origin: `http://${host.toLowerCase()}` })).not.toThrow();
});

test.each([
  [LOOPBACK, "evil.example"],
  [LOOPBACK, "evil.example:8080"],
  [LOOPBACK, "127.0.0.1.evil.example:8080"],
  [LOOPBACK, "localhost.evil.example"],
  [LOOPBACK, "192.168.1.5:8080"],
  [LOOPBACK, "evil.example@127.0.0.1"],
  [LOOPBACK, ""],
  [LOOPBACK, undefined],
  [PUBLIC, "evil.example:8080"],
])("a server at %j refuses the host %s, because any DNS name can point to this machine", (bound, host) => {
  expect(() => checkNames(bound, { host, origin: undefined })).toThrow(expect.objectContaining({ code: "forbidden" }));
});

test.each([
  "http://evil.example",
  "null",
  "http://127.0.0.1",
  "http://127.0.0.1:3000",
  "http://localhost:8080",
  "https://127.0.0.1:8080",
  "",
])("a request from the origin %j is refused", (origin) => {
  expect(() => checkNames(LOOPBACK, { host: "127.0.0.1:8080", origin })).toThrow(expect.objectContaining({ code: "forbidden" }));
});
