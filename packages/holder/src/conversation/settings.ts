/** What an agent offers to choose from, in the several ways in which agents tell it. */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Choice, Settings } from "@holdfast/contract/transcript";

/** As a new, loaded or resumed session answers. `models` is what came before configuration options. */
export interface Offered {
  modes?: SessionModeState | null;
  configOptions?: readonly SessionConfigOption[] | null;
  models?: { currentModelId: string; availableModels: readonly { modelId: string; name: string; description?: string | null }[] } | null;
}

/** How a choice is told to the agent. */
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
  const { modes, models } = offered;
  return {
    settings: {
      mode: modes?.currentModeId ?? mode?.current ?? null,
      modes: modes?.availableModes.map(({ id, name, description }) => choice(id, name, description)) ?? mode?.choices ?? [],
      model: model?.current ?? models?.currentModelId ?? null,
      models: model?.choices ?? models?.availableModels.map(({ modelId, name, description }) => choice(modelId, name, description)) ?? [],
      commands,
    },
    mode: modes ? { method: "mode" } : mode ? { method: "option", id: mode.id } : null,
    model: model ? { method: "option", id: model.id } : models ? { method: "model" } : null,
  };
}

/** Told again in part: what is not told of stays as it was. An agent may have its modes beside its options. */
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

function select(options: readonly SessionConfigOption[] | null | undefined, category: string) {
  const option = options?.find((each) => each.type === "select" && (each.category ?? each.id) === category);
  if (option?.type !== "select") return undefined;
  const choices = option.options.flatMap((each) => ("options" in each ? each.options : [each]));
  return {
    id: option.id,
    current: option.currentValue,
    choices: choices.map(({ value, name, description }) => choice(value, name, description)),
  };
}

function choice(id: string, name: string, description: string | null | undefined): Choice {
  return { id, name, description: description ?? null };
}
