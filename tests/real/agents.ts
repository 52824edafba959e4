/**
 * Sets up each real agent with its own home and the scripted model: no onboarding, no updates, no telemetry. All differences between agents in the
 * tests are in this file.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type AgentName, programOf } from "../../script/real-agents.mjs";

export type { AgentName };

export const AGENT_NAMES: readonly AgentName[] = ["claude", "codex", "gemini", "opencode", "qwen"];

/** The agents that only `npm run test:agents` installs. `npm test` runs the same tests with the other two. */
export const LARGE_AGENTS = ["claude", "codex", "opencode"] as const satisfies readonly AgentName[];

export interface Place {
  /** The agent's own home directory, empty. */
  home: string;
  /** The project it works in. */
  project: string;
  /** The scripted model. */
  url: string;
}

export interface Started {
  command: string[];
  env: Record<string, string>;
}

const KEY = "no-key-is-needed";
/** Nothing listens there, so a client that leaves loopback fails at once, even without a network namespace. */
const NOWHERE = "http://127.0.0.1:9";

/** The text on the screen of an agent that waits for its first prompt. */
export const IDLE: Record<AgentName, RegExp> = {
  claude: /^❯/m,
  codex: /Ask Codex to do anything/,
  gemini: /Type your message/,
  opencode: /Ask anything/,
  qwen: /Type your message/,
};

/** Unusual set-ups: the directory is not trusted, nobody is logged in, the agent runs on a subscription, or it guesses prompts. */
export type Unusual = "untrusted" | "logged-out" | "subscribed" | "guessing";

type SetUp = (place: Place, unusual?: Unusual) => Pick<Started, "env">;

const SET_UP: Record<AgentName, SetUp> = { claude, codex, gemini, opencode, qwen };

/** Writes the agent's configuration; returns how to start it. */
export function setUp(agent: AgentName, place: Place, unusual?: Unusual): Started {
  mkdirSync(place.home, { recursive: true });
  mkdirSync(place.project, { recursive: true });
  const temporary = path.join(place.home, "tmp");
  mkdirSync(temporary, { recursive: true });
  const { env } = SET_UP[agent](place, unusual);
  const proxies = { HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, NO_PROXY: "127.0.0.1,localhost", no_proxy: "127.0.0.1,localhost" };
  const program = programOf(agent);
  const folders = [path.dirname(process.execPath), path.dirname(program), process.env.PATH ?? "/usr/bin:/bin"];
  return {
    command: [program],
    env: { HOME: place.home, TMPDIR: temporary, PATH: folders.join(path.delimiter), ...proxies, DO_NOT_TRACK: "1", ...env },
  };
}

function qwen({ home, url }: Place, unusual?: Unusual): ReturnType<SetUp> {
  json(path.join(home, ".qwen/settings.json"), {
    security: { ...auth(unusual, "openai"), folderTrust: { enabled: unusual === "untrusted" } },
    general: { enableAutoUpdate: false },
    tools: { approvalMode: "default" },
    telemetry: { enabled: false },
    privacy: { usageStatisticsEnabled: false },
  });
  if (unusual === "logged-out") return { env: {} };
  return { env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" } };
}

function gemini({ home, url }: Place, unusual?: Unusual): ReturnType<SetUp> {
  json(path.join(home, ".gemini/settings.json"), {
    security: { ...auth(unusual, "gemini-api-key"), folderTrust: { enabled: unusual === "untrusted" } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    telemetry: { enabled: false },
    privacy: { usageStatisticsEnabled: false },
    hooksConfig: { enabled: true },
  });
  if (unusual === "logged-out") return { env: { GEMINI_CLI_NO_RELAUNCH: "true" } };
  return {
    env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: "gemini-2.5-pro", GEMINI_CLI_NO_RELAUNCH: "true" },
  };
}

function claude({ home, project, url }: Place, unusual?: Unusual): ReturnType<SetUp> {
  const configuration = path.join(home, ".claude");
  json(path.join(configuration, ".claude.json"), {
    hasCompletedOnboarding: true,
    theme: "dark",
    projects: { [project]: { hasTrustDialogAccepted: unusual !== "untrusted", hasCompletedProjectOnboarding: true } },
  });
  // A new installation lets a model decide about tools; without `disableAutoMode`, Claude offers that at its start.
  json(path.join(configuration, "settings.json"), { permissions: { defaultMode: "default", disableAutoMode: "disable" } });
  return {
    env: {
      CLAUDE_CONFIG_DIR: configuration,
      ANTHROPIC_BASE_URL: url,
      ...(unusual === "logged-out" ? {} : { [unusual === "subscribed" ? "CLAUDE_CODE_OAUTH_TOKEN" : "ANTHROPIC_AUTH_TOKEN"]: KEY }),
      ...(unusual === "guessing" ? { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "1" } : { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }),
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      IS_SANDBOX: "1",
    },
  };
}

function codex({ home, project, url }: Place, unusual?: Unusual): ReturnType<SetUp> {
  const configuration = path.join(home, ".codex");
  text(
    path.join(configuration, "config.toml"),
    `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
${unusual === "logged-out" ? "requires_openai_auth = true" : 'env_key = "OPENAI_API_KEY"\nrequires_openai_auth = false'}
supports_websockets = false
[features]
plugins = false
daemon_auto_start = false
[analytics]
enabled = false
${unusual === "untrusted" ? "" : `[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`}`,
  );
  // Codex asks for trust only in repositories.
  if (unusual === "untrusted") execFileSync("git", ["init", "--quiet", project]);
  return { env: { CODEX_HOME: configuration, ...(unusual === "logged-out" ? {} : { OPENAI_API_KEY: KEY }) } };
}

function opencode({ home, url }: Place) {
  const file = path.join(home, "opencode.json");
  json(file, {
    $schema: "https://opencode.ai/config.json",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        name: "Scripted",
        options: { baseURL: `${url}/v1`, apiKey: KEY },
        models: { scripted: { name: "Scripted", limit: { context: 128_000, output: 8_000 } } },
      },
    },
    enabled_providers: ["scripted"],
    model: "scripted/scripted",
    autoupdate: false,
    share: "disabled",
    permission: { bash: "ask", edit: "ask" },
  });
  // The files that a start with a network leaves; without them opencode loads no plugin.
  const sdk = { dependencies: { "@opencode-ai/plugin": "*" } };
  json(path.join(home, ".config/opencode/package.json"), sdk);
  json(path.join(home, ".config/opencode/package-lock.json"), { lockfileVersion: 3, packages: { "": sdk } });
  mkdirSync(path.join(home, ".config/opencode/node_modules"), { recursive: true });
  return {
    env: {
      OPENCODE_CONFIG: file,
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      // opencode looks for packages there; it accepts "not found" at once, but a refused connection only after a minute.
      npm_config_registry: url,
      npm_config_fetch_retries: "0",
    },
  };
}

function auth(unusual: Unusual | undefined, selectedType: string) {
  return unusual === "logged-out" ? {} : { auth: { selectedType } };
}

function json(file: string, value: unknown): void {
  text(file, `${JSON.stringify(value, null, 2)}\n`);
}

function text(file: string, content: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
}
