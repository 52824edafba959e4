/** The modes, models and commands that an agent offers, in the several ways in which agents report them. */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Choice, Settings } from "@holdfast/contract/conversation/transcript";
import { fields, list, text } from "./told.ts";

/** The response to a new, loaded or resumed session. `models` is the predecessor of configuration options. */
export interface Offered {
  modes?: SessionModeState | null;
  configOptions?: readonly SessionConfigOption[] | null;
  models?: { currentModelId: string; availableModels: readonly { modelId: string; name: string; description?: string | null }[] } | null;
}

/** How a choice is sent to the agent. */
export type Setter = { method: "mode" } | { method: "model" } | { method: "option"; id: string };

export interface Offer {
  settings: Settings;
  mode: Setter | null;
  model: Setter | null;
}

export const NOTHING: Settings = { mode: null, modes: [], model: null, models: [], commands: [] };

export function offerOf(offered: Offered, commands: Settings["commands"]): Offer {
  const mode = select(offered.configOptions, "mode");
  const model = select(offered.configOptions, "model");
  const modes = fields(offered.modes);
  const models = fields(offered.models);
  return {
    settings: {
      mode: text(modes.currentModeId) ?? mode?.current ?? null,
      modes: offered.modes ? choices(modes.availableModes, "id") : (mode?.choices ?? []),
      model: model?.current ?? text(models.currentModelId) ?? null,
      models: model?.choices ?? choices(models.availableModels, "modelId"),
      commands,
    },
    mode: offered.modes ? { method: "mode" } : mode ? { method: "option", id: mode.id } : null,
    model: model ? { method: "option", id: model.id } : offered.models ? { method: "model" } : null,
  };
}

/** An update with a part of the settings: the rest stays unchanged. An agent may have modes besides its options. */
export function offerAgain(before: Offer, offered: Offered): Offer {
  const { settings, mode, model } = offerOf(offered, before.settings.commands);
  const { modes, models } = before.settings;
  return {
    settings: {
      ...settings,
      ...(mode === null ? { mode: before.settings.mode, modes } : {}),
      ...(model === null ? { model: before.settings.model, models } : {}),
    },
    mode: mode ?? before.mode,
    model: model ?? before.model,
  };
}

export function commandsOf(available: unknown): Settings["commands"] {
  return list(available).flatMap(({ name, description }) =>
    typeof name === "string" ? [{ name, description: text(description) ?? "" }] : [],
  );
}

function select(options: unknown, category: string) {
  const option = list(options).find((each) => each.type === "select" && (each.category ?? each.id) === category);
  const id = text(option?.id);
  if (option === undefined || id === undefined) return undefined;
  const each = list(option.options).flatMap((one) => ("options" in one ? list(one.options) : [one]));
  return { id, current: text(option.currentValue) ?? null, choices: choices(each, "value") };
}

/** `key`: the field with the id of a choice. */
function choices(offered: unknown, key: string): Choice[] {
  return list(offered).flatMap((each) => {
    const id = text(each[key]);
    return id === undefined ? [] : [{ id, name: text(each.name) ?? id, description: text(each.description) ?? null }];
  });
}
