/**
 * Reads the SDK's exports from the type checker, for the package's declarations and for docs/reference/sdk.md. The declarations need only
 * TypeScript's library: schemas stay behind. Exported types are named, all others are written out.
 */
import path from "node:path";
import { API } from "typescript/unstable/sync";
import { root } from "./root.mjs";

const SYMBOL = { Function: 16, Class: 32, Interface: 64, Method: 8192, Get: 32768, TypeAlias: 524288, Alias: 2097152, Optional: 16777216 };
const TYPE = { Undefined: 4, BooleanLiteral: 8192, Parameter: 524288, Object: 1048576, Union: 134217728, Intersection: 268435456 };
const REFERENCE = 4;
const CALL = 0;
const CONSTRUCT = 1;

/** Types of TypeScript's own library. */
const STANDARD = new Set(["Exclude", "Extract", "Omit", "Partial", "Pick", "Promise", "Record"]);

/** The exports of several entries by file; read together, because each reading loads the whole project. */
export function surfaceOf(files) {
  const api = new API({ cwd: root });
  try {
    const config = path.join(root, "tsconfig.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    return files.map((file) => new Surface(project, path.join(root, file)).exports());
  } finally {
    api.close();
  }
}

class Surface {
  #project;
  #checker;
  #symbols = new Map();
  /** Exported names by symbol id. */
  #names = new Map();
  /** Exported unions, largest first, with the ids of their parts. */
  #unions;

  constructor(project, file) {
    this.#project = project;
    this.#checker = project.checker;
    const module = this.#checker.getSymbolAtLocation(project.program.getSourceFile(file));
    for (const symbol of this.#checker.getExportsOfModule(module)) {
      const target = symbol.flags & SYMBOL.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
      this.#symbols.set(symbol.name, target);
      if (target.flags & (SYMBOL.Class | SYMBOL.Interface | SYMBOL.TypeAlias))
        this.#names.set(this.#checker.getDeclaredTypeOfSymbol(target).id, symbol.name);
    }
    const aliases = [...this.#symbols].filter(([, { flags }]) => flags & SYMBOL.TypeAlias);
    this.#unions = aliases
      .map(([name, symbol]) => ({ name, type: this.#checker.getDeclaredTypeOfSymbol(symbol) }))
      .filter(({ type }) => type.flags & TYPE.Union)
      .map(({ name, type }) => ({ name, id: type.id, ids: type.getTypes().map(({ id }) => id) }))
      .sort((a, b) => b.ids.length - a.ids.length);
  }

  exports() {
    return [...this.#symbols].map(([name, symbol]) => ({ name, doc: this.#docOf(symbol), ...this.#describe(symbol) }));
  }

  #describe(symbol) {
    if (symbol.flags & SYMBOL.Function) {
      const [signature] = this.#checker.getSignaturesOfType(this.#checker.getTypeOfSymbol(symbol), CALL);
      return { kind: "function", signature: this.#signature(signature, ": ") };
    }
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    if (symbol.flags & SYMBOL.Class) return { kind: "class", base: this.#baseOf(type), members: this.#classMembers(symbol, type) };
    if (symbol.flags & SYMBOL.Interface) return { kind: "interface", members: this.#members(type) };
    const text = this.#written(symbol) ?? this.#print(type, { isTop: true });
    return { kind: "type", text, members: this.#isPlain(type) ? this.#members(type) : undefined };
  }

  /** The text of the source, when it uses only names that the declarations have too. */
  #written(symbol) {
    const node = symbol.declarations.map((each) => each.resolve(this.#project)).find((each) => each?.type !== undefined);
    const text = node?.type.getText().replace(/^\s*\|\s*/, "");
    if (!text || /\bz\.|typeof/.test(text)) return undefined;
    const words = text.replace(/\/\*[\s\S]*?\*\/|"[^"]*"/g, "").match(/\b[A-Z]\w*/g) ?? [];
    return words.every((word) => this.#symbols.has(word) || STANDARD.has(word)) ? text : undefined;
  }

  #baseOf(type) {
    const [base] = this.#checker.getBaseTypes(type);
    return base && this.#print(base);
  }

  #classMembers(symbol, type) {
    const own = new Set([...symbol.getMembers().keys()]);
    const [made] = this.#checker.getSignaturesOfType(this.#checker.getTypeOfSymbol(symbol), CONSTRUCT);
    const isPrivate = [...symbol.getMembers().values()].some(
      (member) => member.name === "__constructor" && /^\s*private/.test(this.#textOf(member)),
    );
    const isMade = own.has("__constructor") && made && !isPrivate;
    return [
      ...(isPrivate ? [{ name: "constructor", text: "private constructor()", doc: "", isHidden: true }] : []),
      ...(isMade ? [{ name: "constructor", text: `constructor${this.#parameters(made)}`, doc: this.#made(symbol), isHidden: true }] : []),
      ...this.#members(type).filter(({ key }) => own.has(key) || key.startsWith("__@")),
    ];
  }

  #made(symbol) {
    const found = [...symbol.getMembers().values()].find(({ name }) => name === "__constructor");
    return found ? this.#docOf(found) : "";
  }

  #members(type) {
    const properties = this.#checker.getPropertiesOfType(type).filter(({ name }) => !name.includes("#"));
    return properties.map((property) => {
      const name = nameOf(property.name);
      const isOptional = (property.flags & SYMBOL.Optional) !== 0;
      const known = this.#checker.getTypeOfSymbol(property);
      const [call] = property.flags & SYMBOL.Method ? this.#checker.getSignaturesOfType(known, CALL) : [];
      const isFixed =
        (property.flags & SYMBOL.Get) !== 0 || /^\s*(\/\*[\s\S]*?\*\/\s*)?((override|declare) )*readonly /.test(this.#textOf(property));
      const text = call
        ? `${name}${this.#signature(call, ": ")}`
        : `${isFixed ? "readonly " : ""}${name}${isOptional ? "?" : ""}: ${this.#print(known, { without: isOptional })}`;
      return { key: property.name, name, text, doc: this.#docOf(property) };
    });
  }

  #signature(signature, arrow) {
    return `${this.#parameters(signature)}${arrow}${this.#print(this.#checker.getReturnTypeOfSignature(signature))}`;
  }

  #parameters(signature) {
    const generic = signature.getTypeParameters().map((parameter) => {
      const written = parameter.getSymbol()?.declarations[0]?.resolve(this.#project)?.constraint;
      return `${this.#print(parameter)}${written ? ` extends ${written.getText()}` : ""}`;
    });
    const parameters = signature.getParameters().map((parameter, index, all) => {
      const node = parameter.valueDeclaration?.resolve(this.#project);
      const isRest = node?.dotDotDotToken !== undefined;
      const isOptional = node?.questionToken !== undefined || node?.initializer !== undefined;
      const name = parameter.name.startsWith("__") ? (all.length > 1 && index > 0 ? `options${index}` : "options") : parameter.name;
      const type = this.#print(this.#checker.getTypeOfSymbol(parameter), { without: isOptional });
      return `${isRest ? "..." : ""}${name}${isOptional ? "?" : ""}: ${type}`;
    });
    return `${generic.length > 0 ? `<${generic.join(", ")}>` : ""}(${parameters.join(", ")})`;
  }

  #print(type, { isTop = false, without = false, isInside = false } = {}) {
    const name = isTop ? undefined : this.#named(type);
    if (name !== undefined) return name;
    const { flags } = type;
    if (flags & TYPE.Parameter) return type.isThisType ? "this" : this.#checker.typeToString(type);
    if (flags & TYPE.Union) return this.#union(type, { isTop, without, isInside });
    if (flags & TYPE.Intersection) return this.#intersection(type);
    if (!(flags & TYPE.Object)) return this.#checker.typeToString(type);
    return this.#object(type, isInside);
  }

  /** An exported name, or a type of TypeScript's library with its arguments. */
  #named(type) {
    const known = this.#names.get(type.id);
    if (known !== undefined) return known;
    const alias = type.getAliasSymbol?.();
    const target = alias && [...this.#symbols].find(([, symbol]) => symbol.id === alias.id)?.[0];
    return target;
  }

  /** Names unions that have a name, also inside other unions; null and undefined come last. */
  #union(type, { isTop, without, isInside }) {
    let parts = type.getTypes().filter(({ flags }) => !(without && flags & TYPE.Undefined));
    if (parts.length === 1) return this.#print(parts[0], { isInside });
    const texts = [];
    for (const { name, id: own, ids } of this.#unions) {
      if ((isTop && own === type.id) || !ids.every((id) => parts.some((part) => part.id === id))) continue;
      texts.push(name);
      parts = parts.filter(({ id }) => !ids.includes(id));
    }
    const isBoolean = ({ flags }) => (flags & TYPE.BooleanLiteral) !== 0;
    if (parts.filter(isBoolean).length === 2) {
      texts.push("boolean");
      parts = parts.filter((part) => !isBoolean(part));
    }
    texts.push(...parts.map((part) => this.#print(part, { isInside: true })));
    const isNothing = (text) => text === "null" || text === "undefined";
    const all = [...new Set([...texts.filter((text) => !isNothing(text)), ...texts.filter(isNothing)])];
    return isInside && all.length > 1 ? `(${all.join(" | ")})` : all.join(" | ");
  }

  /** Brands are internal: users see a string. */
  #intersection(type) {
    const parts = type.getTypes().filter((part) => !this.#checker.typeToString(part).startsWith("$brand<"));
    const isAllObjects = parts.every((part) => part.flags & TYPE.Object && this.#named(part) === undefined);
    if (parts.length > 1 && isAllObjects) return this.#literal(type);
    return parts.map((part) => this.#print(part, { isInside: true })).join(" & ");
  }

  #object(type, isInside) {
    if (this.#checker.isArrayType(type)) {
      const [element] = this.#checker.getTypeArguments(type);
      const text = this.#print(element, { isInside: true });
      const isReadonly = this.#checker.typeToString(type).startsWith("readonly ");
      return isReadonly ? (isInside ? `(readonly ${text}[])` : `readonly ${text}[]`) : `${text}[]`;
    }
    if (type.objectFlags & REFERENCE && this.#checker.isTupleType(type)) return this.#checker.typeToString(type);
    const symbol = type.getSymbol();
    const isDeclared = symbol && symbol.flags & (SYMBOL.Class | SYMBOL.Interface);
    if (isDeclared && this.#isOfTheLibrary(symbol)) {
      const given = type.objectFlags & REFERENCE && symbol.name !== "Uint8Array" ? this.#checker.getTypeArguments(type) : [];
      const shown = given.filter((each) => !each.isThisType).map((each) => this.#print(each));
      while (shown.length > 0 && ["any", "undefined", "void"].includes(shown.at(-1)) && symbol.name !== "Promise") shown.pop();
      return `${symbol.name}${shown.length > 0 ? `<${shown.join(", ")}>` : ""}`;
    }
    const [call] = this.#checker.getSignaturesOfType(type, CALL);
    if (call) {
      const text = this.#signature(call, " => ");
      return isInside ? `(${text})` : text;
    }
    return this.#literal(type);
  }

  #isOfTheLibrary(symbol) {
    const [declared] = symbol.declarations;
    const file = String(declared?.path ?? declared?.fileName ?? "");
    return !/\/packages\/(contract|sdk)\//.test(file) && !/\/zod\//.test(file);
  }

  #literal(type) {
    const indexed = this.#checker
      .getIndexInfosOfType(type)
      .map((info) => `[key: ${this.#print(info.keyType)}]: ${this.#print(info.valueType ?? info.type)}`);
    const members = this.#members(type);
    if (indexed.length === 1 && members.length === 0) {
      const [info] = this.#checker.getIndexInfosOfType(type);
      return `Record<${this.#print(info.keyType)}, ${this.#print(info.valueType ?? info.type)}>`;
    }
    if (members.length === 0 && indexed.length === 0) return "Record<string, never>";
    const lines = [...indexed.map((text) => `${text};`), ...members.map(({ text, doc }) => `${comment(doc)}${text};`)];
    return `{\n${indent(lines.join("\n"))}\n}`;
  }

  /** Whether a type is shown member by member. */
  #isPlain(type) {
    return (
      (type.flags & TYPE.Object) !== 0 && this.#checker.getSignaturesOfType(type, CALL).length === 0 && !this.#checker.isArrayType(type)
    );
  }

  #docOf(symbol) {
    return this.#checker.getDocumentationCommentOfSymbol(symbol).trim();
  }

  #textOf(symbol) {
    const node = (symbol.valueDeclaration ?? symbol.declarations[0])?.resolve(this.#project);
    return node?.getText?.() ?? "";
  }
}

function nameOf(name) {
  const [, symbol] = /^__@(\w+)@\d+$/.exec(name) ?? [];
  if (symbol) return `[Symbol.${symbol}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

export function comment(doc) {
  if (doc === "") return "";
  const lines = doc.split("\n");
  return lines.length === 1 ? `/** ${doc} */\n` : `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */\n`;
}

export function indent(text) {
  return text.replace(/^(?=.)/gm, "  ");
}
