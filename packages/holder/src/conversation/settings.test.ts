import { expect, test } from "vitest";
import { commandsOf, NOTHING, type Offered, offerAgain, offerOf } from "./settings.ts";

const option = (category: string, more: object = {}) => ({
  id: `the-${category}`,
  category,
  name: category,
  type: "select",
  currentValue: "a",
  options: [
    { value: "a", name: "A", description: "first" },
    { value: "b", name: "B" },
  ],
  ...more,
});

function offer(offered: unknown) {
  return offerOf(offered as Offered, []);
}

test("an agent that offers nothing has no modes and no models", () => {
  expect(offer({})).toEqual({ settings: NOTHING, mode: null, model: null });
  expect(offer({ modes: null, configOptions: null, models: null })).toEqual({ settings: NOTHING, mode: null, model: null });
});

test("modes and models are each set by their own method", () => {
  const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask", description: "before each" }] };
  const models = { currentModelId: "x", availableModels: [{ modelId: "x", name: "X" }] };
  expect(offer({ modes, models })).toEqual({
    settings: {
      ...NOTHING,
      mode: "ask",
      modes: [{ id: "ask", name: "Ask", description: "before each" }],
      model: "x",
      models: [{ id: "x", name: "X", description: null }],
    },
    mode: { method: "mode" },
    model: { method: "model" },
  });
});

test("a mode or model offered as an option is set by the option's id; the option wins over a model list, but not over a mode list", () => {
  const models = { currentModelId: "old", availableModels: [] };
  const configOptions = [option("mode"), option("model", { currentValue: "b" })];
  expect(offer({ configOptions, models })).toMatchObject({
    settings: {
      mode: "a",
      model: "b",
      models: [
        { id: "a", description: "first" },
        { id: "b", description: null },
      ],
    },
    mode: { method: "option", id: "the-mode" },
    model: { method: "option", id: "the-model" },
  });
  expect(offer({ configOptions, modes: { currentModeId: "own", availableModes: [] } })).toMatchObject({
    settings: { mode: "own", modes: [] },
    mode: { method: "mode" },
  });
});

test("grouped choices are flattened, and an option without a category is recognized by its id", () => {
  const options = [
    { name: "Group", group: "g", options: [{ value: "x", name: "X" }] },
    { value: "y", name: "Y" },
  ];
  const { settings } = offer({ configOptions: [{ ...option("model", { options }), id: "model", category: undefined }] });
  expect(settings.models.map(({ id }) => id)).toEqual(["x", "y"]);
});

test("invalid choices and commands are left out", () => {
  const modes = { currentModeId: 7, availableModes: [{ id: 5 }, null, { id: "ok" }] };
  expect(
    offer({ modes, configOptions: ["x", { type: "select", category: "model" }, { type: "toggle", category: "model", id: "m" }] }),
  ).toEqual({
    settings: { ...NOTHING, modes: [{ id: "ok", name: "ok", description: null }] },
    mode: { method: "mode" },
    model: null,
  });
  expect(commandsOf([{ name: "help", description: "tells" }, { name: "bare" }, { description: "nameless" }, 5])).toEqual([
    { name: "help", description: "tells" },
    { name: "bare", description: "" },
  ]);
  expect(commandsOf("none")).toEqual([]);
});

test("updated options leave the other settings unchanged", () => {
  const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }] };
  const before = offer({ modes, configOptions: [option("model")] });
  expect(offerAgain(before, { configOptions: [option("model", { currentValue: "b" })] } as Offered)).toMatchObject({
    settings: { mode: "ask", modes: [{ id: "ask" }], model: "b" },
    mode: { method: "mode" },
    model: { method: "option", id: "the-model" },
  });
  const models = { currentModelId: "x", availableModels: [{ modelId: "x", name: "X" }] };
  expect(offerAgain(offer({ modes, models }), { configOptions: [option("mode")] } as Offered)).toMatchObject({
    settings: { mode: "a", model: "x", models: [{ id: "x" }] },
    mode: { method: "option", id: "the-mode" },
    model: { method: "model" },
  });
});
