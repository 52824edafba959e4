/**
 * Allowed imports, as in the two Layout tables of the design. A package or room may not import a name that its entry does not list.
 * script/layering.mjs runs these dependency-cruiser rules on the source and on planted violations.
 */
const PACKAGES = {
  contract: [],
  platform: ["contract"],
  holder: ["contract", "platform"],
  daemon: ["contract", "platform", "mcp"],
  mcp: ["contract", "sdk"],
  sdk: ["contract"],
  cli: ["sdk", "mcp", "platform", "contract"],
};

const SESSION = ["agent", "host", "record", "workspace", "access", "journal", "projection"];
const ABOVE_SESSION = ["session", ...SESSION];

const ROOMS = {
  host: [],
  agent: ["host"],
  record: [],
  journal: [],
  projection: ["journal"],
  access: ["journal", "projection"],
  workspace: ["journal", "projection"],
  session: SESSION,
  approval: ABOVE_SESSION,
  message: ABOVE_SESSION,
  task: ABOVE_SESSION,
  group: ABOVE_SESSION,
  usage: ABOVE_SESSION,
  persona: [],
  digest: ABOVE_SESSION,
  conversation: ["approval", "message", "usage", ...ABOVE_SESSION],
  doctor: ABOVE_SESSION,
};
ROOMS.api = Object.keys(ROOMS);

const DAEMON = "packages/daemon/src";
const TEST = "\\.test\\.ts$|^packages/[^/]+/test/";
const OURS = "^(packages|agents|tests|bench|examples|script)/";

export const rules = [
  ...Object.entries(PACKAGES).map(([name, allowed]) => packageRule(name, allowed)),
  forbid("agents", { path: "^agents/" }, { path: OURS, pathNot: "^agents/" }),
  forbid("unknown-package", { path: "^packages/", pathNot: `^packages/(${either(Object.keys(PACKAGES))})/` }, {}),

  ...Object.entries(ROOMS).map(([name, allowed]) => roomRule(name, allowed)),
  forbid("unknown-room", { path: `^${DAEMON}/[^/]+/`, pathNot: `^${DAEMON}/(${either(Object.keys(ROOMS))})/` }, {}),
  forbid("composition-root", {}, { path: `^${DAEMON}/main\\.ts$` }),
  forbid(
    "host-adapter",
    { pathNot: `^packages/daemon/test/|^${DAEMON}/(main\\.ts$|host/suite\\.test\\.ts$|host/([^/]+)/)` },
    { path: `^${DAEMON}/host/(tmux|native)/` },
  ),
  forbid(
    "host-adapter-other",
    { path: `^${DAEMON}/host/([^/]+)/` },
    { path: `^${DAEMON}/host/(tmux|native)/`, pathNot: `^${DAEMON}/host/$1/` },
  ),

  // Imports of types count too.
  forbid("cli-cycle", { path: "^packages/cli/src/" }, { circular: true }),
  forbid("http-library", { path: "^(packages|agents)/", pathNot: `^${DAEMON}/api/` }, { path: "(^|/)node_modules/(hono|@hono|ws)/" }),
  // A browser has no Unix sockets and needs nothing else from Node.
  forbid(
    "sdk-browser-safe",
    { path: "^packages/sdk/src/", pathNot: `${TEST}|^packages/sdk/src/(node/|transport/unix\\.ts$)` },
    { dependencyTypes: ["core"] },
  ),
  forbid(
    "sdk-without-node",
    { path: "^packages/sdk/src/", pathNot: `${TEST}|^packages/sdk/src/(node/|index\\.ts$)` },
    { path: "^packages/sdk/src/(node/|transport/unix\\.ts$)" },
  ),
  forbid("contract-browser-safe", { path: "^packages/contract/", pathNot: TEST }, { dependencyTypes: ["core"] }),
  forbid("undeclared", { path: "^(packages|agents)/", pathNot: TEST }, { dependencyTypes: ["npm-no-pkg", "npm-unknown", "npm-dev"] }),
  forbid("unresolved", {}, { couldNotResolve: true }),
];

function packageRule(name, allowed) {
  return forbid(`package-${name}`, { path: `^packages/${name}/` }, { path: OURS, pathNot: `^packages/(${either([name, ...allowed])})/` });
}

function roomRule(name, allowed) {
  return forbid(
    `room-${name}`,
    { path: `^${DAEMON}/${name}/` },
    { path: `^${DAEMON}/`, pathNot: `^${DAEMON}/(${either([name, ...allowed])})/` },
  );
}

function forbid(name, from, to) {
  return { name, severity: "error", from, to };
}

function either(names) {
  return names.join("|");
}
