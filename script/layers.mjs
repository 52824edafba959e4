/**
 * Allowed imports, as in the two Layout tables of the design: a package, folder or room may import only what its line names.
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

/** Regular expressions for paths. */
export const FOLDERS = {
  agents: [],
  examples: [],
  script: ["packages/(contract|cli)/", "packages/daemon/src/configuration-schema\\.ts", "tests/"],
  tests: ["packages/", "agents/", "script/real-agents\\.mjs"],
  bench: ["packages/(contract|platform|sdk|daemon)/", "agents/", "script/real-agents\\.mjs", "tests/"],
};

const DAEMON = "packages/daemon/src";
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

/** Rooms inside rooms; `.` stands for the files beside them. A test may set its scene with any of them. */
const INNER_ROOMS = {
  session: {
    at: `${DAEMON}/session`,
    rooms: {
      run: [],
      status: ["run"],
      attach: ["run"],
      ".": ["run", "status", "attach"],
      restore: ["run", "."],
    },
  },
  workspace: {
    at: `${DAEMON}/workspace`,
    rooms: {
      git: [],
      setup: ["git"],
      context: ["setup"],
      checkpoint: ["git", "setup"],
      merge: ["git", "setup", "context"],
      radar: ["git", "checkpoint"],
      removal: ["git", "setup", "context", "radar"],
      ".": ["git", "setup", "context"],
    },
  },
  holder: {
    at: "packages/holder/src",
    rooms: {
      ".": [],
      "agents/context": [],
      agents: ["agents/context"],
      "agents/exec": ["agents", "agents/context"],
      "agents/model": [".", "agents", "agents/context"],
      conversation: [".", "agents/context"],
    },
  },
};

const TEST = "\\.test\\.ts$|^packages/[^/]+/test/";
const OURS = `^(packages|${either(Object.keys(FOLDERS))})/`;

export const rules = [
  ...Object.entries(PACKAGES).map(([name, allowed]) => packageRule(name, allowed)),
  forbid("unknown-package", { path: "^packages/", pathNot: `^packages/(${either(Object.keys(PACKAGES))})/` }, {}),
  ...Object.entries(FOLDERS).map(([name, allowed]) => folderRule(name, allowed)),
  // Users copy the examples: each is one file on the published SDK.
  forbid("examples-only-sdk", { path: "^examples/" }, { pathNot: "^holdfast/sdk$", dependencyTypesNot: ["core"] }),

  ...Object.keys(ROOMS).map((name) => roomRule(`room-${name}`, { at: DAEMON, rooms: ROOMS, name })),
  unknownRoom("unknown-room", { at: DAEMON, rooms: ROOMS }),
  ...Object.entries(INNER_ROOMS).flatMap(([house, { at, rooms }]) => [
    ...Object.keys(rooms).map((name) => roomRule(`${house}-${nameOf(name)}`, { at, rooms, name, except: TEST })),
    unknownRoom(`unknown-${house}-room`, { at, rooms }),
  ]),
  forbid("composition-root", {}, { path: `^${DAEMON}/main\\.ts$` }),
  forbid(
    "host-adapter",
    { path: "^packages/", pathNot: `^packages/daemon/test/|^${DAEMON}/(main\\.ts$|host/suite\\.test\\.ts$|host/([^/]+)/)` },
    { path: `^${DAEMON}/host/(tmux|native)/` },
  ),
  forbid(
    "host-adapter-other",
    { path: `^${DAEMON}/host/([^/]+)/` },
    { path: `^${DAEMON}/host/(tmux|native)/`, pathNot: `^${DAEMON}/host/$1/` },
  ),

  // The nouns have the endpoints. The files beside their folders know no route.
  forbid(
    "contract-routes",
    { path: "^packages/contract/src/[^/]+\\.ts$", pathNot: `${TEST}|\\b(endpoints|openapi|index)\\.ts$` },
    { path: "^packages/contract/src/.*\\broutes\\.ts$" },
  ),
  forbid("contract-openapi", { pathNot: `${TEST}|^script/` }, { path: "^packages/contract/src/.*\\bopenapi\\.ts$" }),

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
  // A cycle of types alone counts too: neither file can be understood without the other.
  forbid("cycle", {}, { circular: true }),
  forbid("unresolved", { pathNot: "^examples/" }, { couldNotResolve: true }),
];

function packageRule(name, allowed) {
  return forbid(`package-${name}`, { path: `^packages/${name}/` }, { path: OURS, pathNot: `^packages/(${either([name, ...allowed])})/` });
}

function folderRule(name, allowed) {
  return forbid(`folder-${name}`, { path: `^${name}/` }, { path: OURS, pathNot: `^(${either([`${name}/`, ...allowed])})` });
}

function roomRule(rule, { at, rooms, name, except = [] }) {
  const allowed = [name, ...rooms[name]].map((each) => filesOf(each, { at, rooms }));
  return forbid(rule, { path: filesOf(name, { at, rooms }), pathNot: except }, { path: `^${at}/`, pathNot: allowed });
}

/** The files of a room, without those of rooms inside it. */
function filesOf(name, { at, rooms }) {
  if (name === ".") return `^${at}/[^/]+$`;
  const inside = Object.keys(rooms).flatMap((other) => (other.startsWith(`${name}/`) ? [other.slice(name.length + 1)] : []));
  return `^${at}/${name}/${inside.length === 0 ? "" : `(?!(${either(inside)})/)`}`;
}

function unknownRoom(rule, { at, rooms }) {
  return forbid(rule, { path: `^${at}/[^/]+/`, pathNot: `^${at}/(${either(Object.keys(rooms))})/` }, {});
}

function nameOf(room) {
  return room === "." ? "root" : room.replaceAll("/", "-");
}

function forbid(name, from, to) {
  return { name, severity: "error", from, to };
}

function either(names) {
  return names.join("|");
}
