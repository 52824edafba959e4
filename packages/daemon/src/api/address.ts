/** TCP addresses: parsing, whether only this machine reaches them, and the host names that a browser may use. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { HoldfastError } from "@holdfast/contract";
import type { Headers } from "./gate.ts";

export interface Address {
  /** An IP address; without brackets. */
  host: string;
  port: number;
}

/** `127.0.0.1:8080`, `localhost:0`, `[::1]:8080`. Other names are refused, because somebody else decides what they mean. */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const name = match?.[1] ?? match?.[2] ?? "";
  const host = name === "localhost" ? "127.0.0.1" : name;
  const port = Number(match?.[3]);
  if (match && port <= 65_535 && isIP(host) === (match[1] === undefined ? 4 : 6)) return { host, port };
  throw new HoldfastError("usage", `${JSON.stringify(text)} is not an address`, {
    hint: "pass an IP address and a port: 127.0.0.1:8080, or 127.0.0.1:0 for any free port",
  });
}

export function formatAddress({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine can reach the address. */
export function isLoopback({ host }: Address): boolean {
  return host.startsWith("127.") || /^(0*:)*:?0*1$/.test(host);
}

/**
 * A web page can make a browser send requests here. With a name of the page's own (DNS rebinding), that name is the Host and is refused.
 * From the page's own origin, that is the Origin and is refused unless it equals this address. The port may differ from the bound one,
 * because an SSH tunnel has another one at its local end.
 */
export function checkNames(bound: Address, { host, origin }: Pick<Headers, "host" | "origin">): void {
  const name = host === undefined ? undefined : /^(\[[^\]]+\]|[^:]+)(?::\d{1,5})?$/.exec(host)?.[1]?.toLowerCase();
  if (name === undefined || !isOurName(bound, name)) {
    throw new HoldfastError("forbidden", `the request is for ${host ?? "no host"}, which is not this address`, {
      hint: `use ${formatAddress(bound)}`,
    });
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host?.toLowerCase()}`) {
    throw new HoldfastError("forbidden", `a page of ${origin} may not call this address`);
  }
}

/** No name server can assign an IP address to somebody else; on loopback only loopback's own names count. */
function isOurName(bound: Address, name: string): boolean {
  const literal = name.replace(/^\[|\]$/g, "");
  if (name === "localhost") return true;
  if (isLoopback(bound)) return isIP(literal) !== 0 && isLoopback({ host: literal, port: 0 });
  return isIP(literal) !== 0 || name === hostname().toLowerCase();
}
