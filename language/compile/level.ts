// Lists the named entries that one level of a document (API, version, path) defines, each with the place that its
// problems belong to. Folds nothing.

import { childPointer } from '../../base/json-pointer.ts'
import { constant, type Template } from '../expression/template.ts'
import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import { membersOf } from './members.ts'

/** Members that are not maps have been reported before. */
export interface Level {
  /** Pointer of the object that holds them: `''`, `/versions/v1`, … */
  readonly pointer: string
  readonly variables?: unknown
  readonly defaults?: unknown
  readonly status_codes?: unknown
  /** That of an API or version object; a path's own is read where all its properties are. */
  readonly security?: unknown
  /** Folded maps that one expression gave in place of the level's own. */
  readonly given?: Readonly<Partial<Record<Group, Template | undefined>>>
  /** Values from Secrets: laid over `variables`, data and never expressions. */
  readonly secrets?: ValueMap | undefined
  /** Names of variables from Secrets whose values must not be shown. */
  readonly withheld?: readonly string[] | undefined
}

export type Group = 'variables' | 'defaults' | 'status_codes'

export interface Entry {
  readonly label: string
  readonly group: Group
  readonly name: string
  readonly pointer: string
  /** As written, to be folded; or folded already. */
  readonly source: { readonly value: Value } | { readonly template: Template }
}

/** `variables.cors`, as messages have it. */
const labelOf = (group: Group, name: string): string => `${group}.${name}`

const fromSecrets = ({
  secrets = {},
  withheld: names = [],
}: Level): readonly (readonly [string, Template])[] => [
  ...Object.entries(secrets).map(([name, value]) => [name, constant(value)] as const),
  ...names.map((name) => [name, withheld(name)] as const),
]

/** A pipe without calls: it waits, whatever it stands in, and prints as its source. */
const withheld = (name: string): Template => ({
  kind: 'pipe',
  input: constant(''),
  calls: [],
  source: `{{variables.${name}}}`,
})

/** Entries by label. The later source of two entries of one name wins: secrets over variables, `security` over defaults. */
export const entriesOf = (level: Level): ReadonlyMap<string, Entry> => {
  const entries = new Map<string, Entry>()
  const add = (group: Group, name: string, source: Entry['source'], pointer?: string): void => {
    const place = pointer ?? childPointer(childPointer(level.pointer, group), name)
    const label = labelOf(group, name)
    entries.set(label, { label, group, name, source, pointer: place })
  }
  for (const group of ['variables', 'defaults', 'status_codes'] as const) {
    const given = level.given?.[group]
    for (const [name, template] of given === undefined ? [] : membersOf(given))
      add(group, name, { template })
    const written = level[group]
    for (const [name, value] of isMap(written) ? Object.entries(written) : [])
      add(group, name, { value })
  }
  for (const [name, template] of fromSecrets(level)) add('variables', name, { template })
  const { security } = level
  // A `security` beside `defaults` must not be served as if it were not there (§5): it is the nearer one.
  if (isMap(security) || isList(security) || typeof security === 'string')
    add('defaults', 'security', { value: security }, childPointer(level.pointer, 'security'))
  return entries
}
