/** Declaration of a key of config.toml, shared by the reference page, `holdfast config` and every check of the file. */
export interface Setting {
  /** One or two sentences for people. */
  about: string;
  /** Description of the values: `a duration, or "off"`. */
  takes: string;
  /** The default, as TOML; null: not set. */
  usual: string | null;
  /** One or more complete lines of TOML. */
  example: string;
}

/** Keys of a table and of the tables below it; EACH stands for names that the user chooses. */
export interface KnownKeys {
  [key: string]: KnownKeys | Setting;
}

export const EACH = "*";

export function isSetting(known: KnownKeys | Setting): known is Setting {
  return typeof known.about === "string";
}
