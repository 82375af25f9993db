// Inheritance (§2.9, §2.12): the variables, defaults and status codes that one level of a document
// sees. Each level folds its own entries, in whatever order they need each other, over what its parent
// has already folded; nothing above is ever re-bound.

import { FAULT, type FoldScope, fold, type LoadRoot } from './expression/fold.ts'
import { constant, type ReadTemplate, type Template } from './expression/template.ts'
import { isMap, setOwn, type Value, type ValueMap } from './expression/value.ts'
import type { Findings } from './findings.ts'
import { childPointer } from './problem.ts'
import { STATUS_CODES } from './status-codes.ts'
import type { StatusCodes } from './compiled.ts'

/** A folded value and the place in the document that a fault of it belongs to. */
export interface Placed {
  readonly template: Template
  readonly pointer: string
}

/** What one level of a document brings along. Members that are no maps have been reported before. */
export interface Level {
  /** Pointer of the object that holds them: `''`, `/versions/v1`, … */
  readonly pointer: string
  readonly variables?: unknown
  readonly defaults?: unknown
  readonly status_codes?: unknown
  /** Of an API or version object; a path's own is read where all its properties are. */
  readonly security?: unknown
  /** Values from Secrets: laid over `variables`, data and never expressions. */
  readonly secrets?: ValueMap | undefined
}

export interface Scope {
  readonly foldScope: FoldScope
  readonly statusCodes: StatusCodes
  /** Merged: this level's entry, else the nearest ancestor's. */
  default(name: string): Placed | undefined
}

interface Entry {
  readonly value: Value
  readonly pointer: string
  /** Secrets are data: they are not folded. */
  readonly isData: boolean
}

const STATUS_CODES_READ: ReadTemplate = { kind: 'read', root: 'status_codes', keys: [] }

type Entries = ReadonlyMap<string, Entry>
type Group = 'variables' | 'defaults' | 'status_codes'

/**
 * The scope of a level below `parent` (none: the API object itself). All entries are folded before this
 * returns, so that every fault of the level has been reported.
 */
export const createScope = (level: Level, parent: Scope | undefined, findings: Findings): Scope => {
  const groups: Record<Group, Entries> = {
    variables: withSecrets(entriesOf(level, 'variables'), level),
    defaults: withOwnSecurity(entriesOf(level, 'defaults'), level),
    status_codes: entriesOf(level, 'status_codes'),
  }
  const inherited = parent?.foldScope
  const active: string[] = []
  const resolve = createResolver({ active, inherited, findings, foldScope: () => foldScope })
  const wholes = new Map<LoadRoot, Template>()

  const foldScope: FoldScope = {
    budget: inherited?.budget ?? { left: 1024 * 1024 },
    read: (root, name) => {
      // Which map that is, only the operation knows that uses it.
      if (root === 'status_codes') return { ...STATUS_CODES_READ, keys: [name] }
      if (root === 'defaults' && name === 'status_codes') return STATUS_CODES_READ
      const entry = groups[root].get(name)
      return entry === undefined ? inherited?.read(root, name) : resolve(root, name, entry)
    },
    whole: (root) => {
      if (root === 'status_codes') return STATUS_CODES_READ
      // Without entries of its own a level shares its parent's map: one object for a thousand paths.
      if (groups[root].size === 0 && inherited !== undefined) return inherited.whole(root)
      const known = wholes.get(root)
      if (known !== undefined) return known
      const template = mergeWhole(root, groups[root], inherited, (name, entry) =>
        resolve(root, name, entry),
      )
      if (active.length === 0) wholes.set(root, template)
      return template
    },
  }

  for (const group of ['variables', 'defaults'] as const)
    for (const [name, entry] of groups[group]) resolve(group, name, entry)

  return {
    foldScope,
    statusCodes: mergeStatusCodes(groups.status_codes, parent, resolve, findings),
    default: (name) => {
      const entry = groups.defaults.get(name)
      if (entry === undefined) return parent?.default(name)
      return { template: resolve('defaults', name, entry), pointer: entry.pointer }
    },
  }
}

type Resolve = (group: Group, name: string, entry: Entry) => Template

interface ResolverParts {
  /** Entries that are being folded right now, outermost first. */
  readonly active: string[]
  readonly inherited: FoldScope | undefined
  readonly findings: Findings
  readonly foldScope: () => FoldScope
}

/** Folds each entry once, whichever other entry needs it first. */
const createResolver = ({ active, inherited, findings, foldScope }: ResolverParts): Resolve => {
  const done = new Map<string, Template>()
  return (group, name, entry) => {
    const label = `${group}.${name}`
    const known = done.get(label)
    if (known !== undefined) return known
    const start = active.indexOf(label)
    if (start >= 0) {
      // An entry that names itself builds on what it overrides: `{{variables.cors |> put(…)}}`.
      const above = start === active.length - 1 ? inherited?.read(group, name) : undefined
      if (above !== undefined) return above
      reportCycle([...active.slice(start), label], entry.pointer, findings)
      for (const member of active.slice(start)) done.set(member, FAULT)
      return FAULT
    }
    active.push(label)
    const template = entry.isData
      ? constant(entry.value)
      : fold(entry.value, entry.pointer, foldScope(), findings.report)
    active.pop()
    // A cycle found on the way down has already settled this entry as faulty.
    const settled = done.get(label) ?? template
    done.set(label, settled)
    return settled
  }
}

const entriesOf = (level: Level, group: Group): Map<string, Entry> => {
  const map = level[group]
  const entries = new Map<string, Entry>()
  if (!isMap(map)) return entries
  const base = childPointer(level.pointer, group)
  for (const [name, value] of Object.entries(map))
    entries.set(name, { value, pointer: childPointer(base, name), isData: false })
  return entries
}

/** A `security` beside `defaults` must not be served as if it were not there (§5): it is the nearer one. */
const withOwnSecurity = (entries: Map<string, Entry>, level: Level): Entries => {
  const { security, pointer } = level
  if (isMap(security) || typeof security === 'string')
    entries.set('security', {
      value: security,
      pointer: childPointer(pointer, 'security'),
      isData: false,
    })
  return entries
}

const withSecrets = (entries: Map<string, Entry>, level: Level): Entries => {
  const base = childPointer(level.pointer, 'variables')
  for (const [name, value] of Object.entries(level.secrets ?? {}))
    entries.set(name, { value, pointer: childPointer(base, name), isData: true })
  return entries
}

const reportCycle = (chain: readonly string[], pointer: string, findings: Findings): void => {
  const message = `${chain.join(' → ')}: these need each other in a circle; give one of them a value of its own`
  findings.problem('invalid_expression', pointer, message)
}

const mergeStatusCodes = (
  entries: Entries,
  parent: Scope | undefined,
  resolve: Resolve,
  findings: Findings,
): StatusCodes => {
  const inherited = parent?.statusCodes ?? STATUS_CODES
  if (entries.size === 0) return inherited
  const merged: Record<string, number> = { ...inherited }
  for (const [uri, entry] of entries) {
    const template = resolve('status_codes', uri, entry)
    if (template === FAULT) continue
    const status = template.kind === 'constant' ? toStatus(template.value) : undefined
    if (status === undefined)
      findings.problem(
        'invalid_value',
        entry.pointer,
        'a status code is a whole number from 200 to 599 that is known when the document is loaded',
      )
    else setOwn(merged, uri, status)
  }
  return merged
}

const toStatus = (value: Value): number | undefined => {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 200 && number <= 599
    ? number
    : undefined
}

const mergeWhole = (
  root: LoadRoot,
  own: Entries,
  inherited: FoldScope | undefined,
  resolve: (name: string, entry: Entry) => Template,
): Template => {
  const entries = new Map<string, Template>()
  const above = inherited?.whole(root)
  for (const [name, template] of above === undefined ? [] : membersOf(above))
    entries.set(name, template)
  for (const [name, entry] of own) {
    const template = resolve(name, entry)
    if (template === FAULT) return FAULT
    entries.set(name, template)
  }
  return toMapTemplate(entries)
}

/** Members of a map that is known as a map; none of anything else. */
export const membersOf = (template: Template): readonly (readonly [string, Template])[] => {
  if (template.kind === 'map') return template.entries
  if (template.kind === 'constant' && isMap(template.value))
    return Object.entries(template.value).map(([key, value]) => [key, constant(value)] as const)
  return []
}

const toMapTemplate = (entries: ReadonlyMap<string, Template>): Template => {
  if ([...entries.values()].some((template) => template.kind !== 'constant'))
    return { kind: 'map', entries: [...entries] }
  const value: Record<string, Value> = {}
  for (const [key, template] of entries)
    if (template.kind === 'constant') setOwn(value, key, template.value)
  return constant(value)
}
