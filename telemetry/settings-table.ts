// Defines what a table of settings is: the closed set of setting types, and the values that a table gives. Types only.

/** Everything that a program can be configured with from outside; the one place that names it. */
export interface SettingsTable {
  /** As installed: `svc-gateway`. */
  readonly program: string
  readonly summary: string
  /** `SVC_GATEWAY_`; a setting's variable is this and its name in upper case, `_` for `-`. */
  readonly envPrefix: string
  /** What it does instead of running, by name: one sentence for help. They take the program's settings and no operands. */
  readonly commands?: Readonly<Record<string, string>>
  /** Settings that `--help` has, so that it fits on a screen; `--help all` has all. Left out: both have all. */
  readonly common?: readonly string[]
  /** Placeholder of the operands of a program without commands (`FILE…`); left out: it takes none. */
  readonly operands?: string
  readonly repeated?: RepeatedFlag
  /** Settings by flag name, without dashes in front. */
  readonly settings: Readonly<Record<string, Setting>>
}

/** A flag that may be repeated; its values are kept apart from settings, whatever they hold. */
export interface RepeatedFlag {
  /** With its dashes: `-H`. */
  readonly flag: string
  readonly placeholder: string
  readonly help: string
}

/** With who needs each, for the documentation: a table of a program does not compile with a setting that lacks it. */
export type ReasonedSettings = Readonly<
  Record<string, Setting & { /** In a few words, without a full stop. */ readonly reason: string }>
>

export interface ReasonedTable extends SettingsTable {
  readonly settings: ReasonedSettings
}

/** The typed values of a table: `'public-tls'` is `publicTls`; null where a setting is off by default. */
export type Settings<T extends SettingsTable> = {
  readonly [K in keyof T['settings'] & string as CamelCase<K>]: T['settings'][K] extends {
    readonly default: null
  }
    ? ValueOf<T['settings'][K]> | null
    : ValueOf<T['settings'][K]>
}

export type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

/** Where to listen, or whom to call: a TCP address or a Unix socket. */
export type Address =
  /** No host, as an empty text: every address of the machine, whichever of IPv6 and IPv4 it has. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }

interface SettingBase {
  /** One sentence for `--help` and the documentation, without a full stop. */
  readonly help: string
  /** What stands for the value in `--help`; a fitting word of the type if left out. */
  readonly placeholder?: string
  /** One letter that stands for the flag: `n` of `-n`. */
  readonly short?: string
  /** Settings (by flag name) that must be given when this one is. */
  readonly needs?: readonly string[]
  /** The value may hold a password: no message repeats it. */
  readonly isSecret?: boolean
}

export interface AddressSetting extends SettingBase {
  readonly type: 'address'
  /** null: off. */
  readonly default: string | null
}

export interface BooleanSetting extends SettingBase {
  readonly type: 'boolean'
  readonly default: boolean
}

/** `integer`: a whole number; `number`: any; `duration`: seconds, also written `500ms`, `5m`, `1h`. */
export interface NumberSetting extends SettingBase {
  readonly type: 'integer' | 'number' | 'duration'
  readonly default: number | null
  /** Inclusive bounds, in seconds for a duration; 0 and 2^53 - 1 if left out. */
  readonly min?: number
  readonly max?: number
}

/** `path` is a file or folder of this machine, taken relative to the working directory. */
export interface TextSetting extends SettingBase {
  readonly type: 'string' | 'path'
  readonly default: string | null
}

/** Comma-separated, and the flag may be repeated. */
export interface ListSetting extends SettingBase {
  readonly type: 'list'
  readonly default: readonly string[]
  /** Validates one element; false is a bad value. */
  readonly accept?: (element: string) => boolean
  /** What an element looks like, for the message: "a CIDR such as 10.0.0.0/8". */
  readonly expected?: string
}

export interface EnumSetting extends SettingBase {
  readonly type: 'enum'
  readonly values: readonly string[]
  readonly default: string | null
}

/** A form of its own (`auto` or a number, `off` or a share). */
export interface CustomSetting<T = unknown> extends SettingBase {
  readonly type: 'custom'
  /** As a person would write it. */
  readonly default: string | null
  /** undefined: a bad value. */
  readonly parse: (text: string) => T | undefined
  readonly expected: string
}

export type Setting =
  | AddressSetting
  | BooleanSetting
  | NumberSetting
  | TextSetting
  | ListSetting
  | EnumSetting
  | CustomSetting

/** The value type of one setting. */
export type ValueOf<S extends Setting> = S extends { readonly type: 'address' }
  ? Address
  : S extends { readonly type: 'boolean' }
    ? boolean
    : S extends { readonly type: 'integer' | 'number' | 'duration' }
      ? number
      : S extends { readonly type: 'string' | 'path' }
        ? string
        : S extends { readonly type: 'list' }
          ? readonly string[]
          : S extends { readonly type: 'enum'; readonly values: readonly (infer V)[] }
            ? V
            : S extends { readonly parse: (text: string) => infer T }
              ? Exclude<T, undefined>
              : never
