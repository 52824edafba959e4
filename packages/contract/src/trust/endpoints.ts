/** Endpoints of trust. Closed to sessions: an agent never trusts a repository on a person's behalf. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { ProjectActions, Trust } from "./trust.ts";

const place = z.string().check(z.minLength(1, "name a directory"), z.maxLength(4096, "a directory path has at most 4096 characters"));

export const TRUST_ENDPOINTS = {
  listTrust: {
    ...ROUTES.listTrust,
    answeredWithout: ["daemon"],
    summary: "Trusted commands and copies of projects, oldest first.",
    scope: "observer",
    reply: z.object({ trusted: z.array(Trust) }),
    errors: [],
  },
  inspectProject: {
    ...ROUTES.inspectProject,
    summary: "The commands and copies that a directory's project requests, and whether they are trusted; null if it requests none.",
    scope: "driver",
    query: z.object({ cwd: place }),
    reply: z.object({ actions: z.nullable(ProjectActions), trusted: z.boolean() }),
    errors: ["usage", "cwd_unusable", "git_failed"],
  },
  addTrust: {
    ...ROUTES.addTrust,
    summary: "Trusts the commands and copies that a directory's project requests, if their hash still matches.",
    scope: "driver",
    body: z.object({ cwd: place, hash: z.string().check(z.maxLength(200, "a hash has at most 200 characters")) }),
    reply: Trust,
    errors: ["usage", "cwd_unusable", "git_failed", "not_trusted", "forbidden"],
  },
  revokeTrust: {
    ...ROUTES.revokeTrust,
    summary: "Revokes trust: a directory revokes everything there, a hash or its prefix revokes one.",
    scope: "driver",
    body: z.object({ ref: place }),
    reply: z.object({ revoked: z.array(Trust) }),
    errors: ["trust_not_found", "forbidden"],
  },
} as const satisfies Record<string, Endpoint>;
