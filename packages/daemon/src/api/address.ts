/** TCP addresses: which ones there are, who reaches them, and by which names a browser may call them. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { HoldfastError } from "@holdfast/contract";
import type { Headers } from "./gate.ts";

export interface Address {
  /** An IP address; without brackets. */
  host: string;
  port: number;
}

/** `127.0.0.1:8080`, `localhost:0`, `[::1]:8080`; names other than localhost mean what somebody else says they mean. */
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

/** Whether only this machine reaches it. */
export function isLoopback({ host }: Address): boolean {
  return host.startsWith("127.") || /^(0*:)*:?0*1$/.test(host);
}

/**
 * A web page can make a browser send requests here. Under a name of the page's own (DNS rebinding) they have that name as Host: refused.
 * From the page's own origin they have that as Origin: refused unless it is this very address. The port may differ from the one bound:
 * an SSH tunnel has another at its near end.
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

/** An IP address cannot be given to somebody else by a name server; on loopback only loopback's own. */
function isOurName(bound: Address, name: string): boolean {
  const literal = name.replace(/^\[|\]$/g, "");
  if (name === "localhost") return true;
  if (isLoopback(bound)) return isIP(literal) !== 0 && isLoopback({ host: literal, port: 0 });
  return isIP(literal) !== 0 || name === hostname().toLowerCase();
}
