// Computes inheritance (§2.9, §2.12): the variables, defaults and status codes that one level of a document sees. Each
// level folds its own entries, in the order of their dependencies, over its parent's folded ones; nothing above is ever
// re-bound.

import { type ExpansionBudget, createExpansionBudget } from './expansion-budget.ts'
import type { StatusCodes } from './compiled.ts'
import { boundMessage } from '../expression/errors.ts'
import { INVALID, type FoldScope, fold, type LoadRoot, type Report } from '../expression/fold.ts'
import { readAsHeaders } from '../expression/header-templates.ts'
import type { LoadBudget, Met } from '../expression/scope.ts'
import type { ReadTemplate, Template } from '../expression/template.ts'
import { setOwn, type Value } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Placed } from './folded.ts'
import { type Entry, entriesOf, type Level } from './level.ts'
import { membersOf, toMapTemplate } from './members.ts'
import { settleAll } from './resolve-dependencies.ts'
import { STATUS_CODES } from './status-codes.ts'

export interface Scope {
  readonly foldScope: FoldScope
  readonly statusCodes: StatusCodes
  /** Merged: this level's entry, else the nearest ancestor's. */
  readonly default: (name: string) => Placed | undefined
  /** The entries of this level and of its ancestors, nearest first. */
  readonly defaults: (name: string) => readonly Placed[]
  /** The budget of the whole document. */
  readonly budget: ExpansionBudget
}

/**
 * The scope of a level below `parent` (none: the API object itself). All entries are folded before this
 * returns, so that every problem of the level has been reported.
 */
export const createScope = (
  level: Level,
  parent: Scope | undefined,
  diagnostics: Diagnostics,
): Scope => {
  const entries = entriesOf(level)
  const budget = parent?.budget ?? createExpansionBudget(diagnostics)
  const foldScope = new LevelFold(entries, parent?.foldScope, { diagnostics, budget })
  settleAll(entries.keys(), foldScope)
  const defaults = placedDefaults(entries, foldScope)
  const inherited = parent?.default ?? (() => undefined)
  const own: Scope['default'] = (name) => {
    const placed = defaults.get(name)
    if (placed === undefined) return undefined
    const { template, pointer } = placed
    return budget.take(template, pointer) === template ? placed : { template: INVALID, pointer }
  }
  return {
    foldScope,
    budget: budget,
    statusCodes: mergeStatusCodes(entries, parent, foldScope, { diagnostics, budget }),
    default: defaults.size === 0 ? inherited : (name) => own(name) ?? inherited(name),
    defaults: (name) => [...[own(name) ?? []].flat(), ...(parent?.defaults(name) ?? [])],
  }
}

const placedDefaults = (
  entries: ReadonlyMap<string, Entry>,
  foldScope: LevelFold,
): ReadonlyMap<string, Placed> => {
  const defaults = new Map<string, Placed>()
  for (const entry of entries.values())
    if (entry.group === 'defaults')
      defaults.set(entry.name, { template: foldScope.settled(entry), pointer: entry.pointer })
  return defaults
}

const STATUS_CODES_READ: ReadTemplate = { kind: 'read', root: 'status_codes', keys: [] }
const LOAD_BUDGET_BYTES = 1024 * 1024

interface ScopeDeps {
  readonly diagnostics: Diagnostics
  readonly budget: ExpansionBudget
}

/** The names of one level, over those of its parent. Complete once all its entries have been resolved. */
class LevelFold implements FoldScope {
  readonly budget: LoadBudget
  readonly met: Map<string, Met>
  readonly #entries: ReadonlyMap<string, Entry>
  /** The same by name, so that no label need be concatenated for each read. */
  readonly #named = { variables: new Map<string, Entry>(), defaults: new Map<string, Entry>() }
  readonly #inherited: FoldScope | undefined
  readonly #deps: ScopeDeps
  readonly #settled = new Map<string, Template>()
  readonly #wholes = new Map<LoadRoot, Template>()
  /** The entry that is being folded, and the names that it lacks. */
  #current: Entry | undefined = undefined
  readonly #lacks = new Set<string>()

  constructor(
    entries: ReadonlyMap<string, Entry>,
    inherited: FoldScope | undefined,
    deps: ScopeDeps,
  ) {
    this.#entries = entries
    for (const entry of entries.values())
      if (entry.group !== 'status_codes') this.#named[entry.group].set(entry.name, entry)
    this.#inherited = inherited
    this.#deps = deps
    this.budget = inherited?.budget ?? { left: LOAD_BUDGET_BYTES }
    this.met = inherited?.met ?? new Map<string, Met>()
  }

  read(root: LoadRoot, name: string): Template | undefined {
    // Which map that is depends on the operation that uses it.
    if (root === 'status_codes') return { ...STATUS_CODES_READ, keys: [name] }
    if (root === 'defaults' && name === 'status_codes') return STATUS_CODES_READ
    const entry = this.#named[root].get(name)
    return entry === undefined ? this.#inherited?.read(root, name) : this.#readOwn(entry)
  }

  names(root: LoadRoot): Iterable<string> {
    const above = this.#inherited?.names?.(root) ?? []
    return root === 'status_codes' ? [] : new Set([...this.#named[root].keys(), ...above])
  }

  remark(path: string, message: string, offset: number): void {
    this.#deps.diagnostics.remark({ code: 'SuspiciousExpression', path, message, offset })
  }

  whole(root: LoadRoot): Template {
    if (root === 'status_codes') return STATUS_CODES_READ
    const known = this.#wholes.get(root)
    if (known !== undefined) return known
    const own = [...this.#entries.values()].filter(({ group }) => group === root)
    // A level without entries of its own shares its parent's map: one object for a thousand paths.
    if (own.length === 0 && this.#inherited !== undefined) return this.#inherited.whole(root)
    const template = this.#merge(root, own)
    // An entry that builds on the one it overrides sees another map than the rest.
    if (this.#current?.group !== root && this.#lacks.size === 0) this.#wholes.set(root, template)
    return template
  }

  /** The template of an entry that exists; `INVALID` when it is faulty. */
  settled({ label }: Entry): Template {
    return this.#settled.get(label) ?? INVALID
  }

  isSettled(label: string): boolean {
    return this.#settled.has(label)
  }

  attempt(label: string): readonly string[] {
    const entry = this.#entries.get(label)
    if (entry === undefined) return []
    const { left } = this.budget
    const problems: Parameters<Report>[0][] = []
    this.#current = entry
    this.#lacks.clear()
    const template = this.#fold(entry, (problem) => problems.push(problem))
    this.#current = undefined
    if (this.#lacks.size > 0) {
      this.budget.left = left
      return [...this.#lacks]
    }
    problems.forEach(this.#deps.diagnostics.report)
    this.#settled.set(label, template)
    return []
  }

  settleCycle(chain: readonly string[]): void {
    const pointer = this.#entries.get(chain[0] ?? '')?.pointer ?? ''
    const message = boundMessage(
      `${chain.join(' → ')}: these need each other in a circle; give one of them a value of its own`,
    )
    this.#deps.diagnostics.report({ code: 'invalid_expression', path: pointer, message })
    for (const label of chain) this.#settled.set(label, INVALID)
  }

  #fold({ source, pointer }: Entry, report: Report): Template {
    return 'template' in source ? source.template : fold(source.value, pointer, this, report)
  }

  #readOwn(entry: Entry): Template {
    const { label, group, name } = entry
    // An entry that names itself builds on what it overrides: `{{variables.cors |> put(…)}}`.
    const above =
      entry === this.#current && group !== 'status_codes'
        ? this.#inherited?.read(group, name)
        : undefined
    const known = above ?? this.#settled.get(label)
    if (known === undefined) this.#lacks.add(label)
    const template = known ?? INVALID
    return group === 'defaults' && name === 'headers' ? readAsHeaders(template) : template
  }

  #merge(root: Exclude<LoadRoot, 'status_codes'>, own: readonly Entry[]): Template {
    const above = this.#inherited?.whole(root)
    if (above === INVALID) return INVALID
    const members = new Map(above === undefined ? [] : membersOf(above))
    for (const entry of own) members.set(entry.name, this.#readOwn(entry))
    const isFaulty = own.some(({ name }) => members.get(name) === INVALID)
    if (isFaulty || !this.#deps.budget.spend(members.size, own[0]?.pointer ?? '')) return INVALID
    return toMapTemplate(members)
  }
}

const mergeStatusCodes = (
  entries: ReadonlyMap<string, Entry>,
  parent: Scope | undefined,
  foldScope: LevelFold,
  { diagnostics, budget }: ScopeDeps,
): StatusCodes => {
  const inherited = parent?.statusCodes ?? STATUS_CODES
  const own = [...entries.values()].filter(({ group }) => group === 'status_codes')
  const [first] = own
  if (first === undefined) return inherited
  const size = Object.keys(inherited).length + own.length
  if (!budget.spend(size, first.pointer)) return inherited
  const merged: Record<string, number> = { ...inherited }
  for (const entry of own) {
    const { name, pointer } = entry
    const template = foldScope.settled(entry)
    if (template === INVALID) continue
    const status = template.kind === 'constant' ? toStatus(template.value) : undefined
    if (status === undefined)
      diagnostics.problem(
        'invalid_value',
        pointer,
        'a status code is a whole number from 200 to 599 that is known when the document is loaded',
      )
    else {
      setOwn(merged, name, status)
      warnOfStatusKey(name, pointer, diagnostics)
    }
  }
  return merged
}

/** Warns of a key of `status_codes` that is only a status: no error URI has such a name. */
const warnOfStatusKey = (name: string, pointer: string, diagnostics: Diagnostics): void => {
  if (!/^\d{3}$/.test(name)) return
  const upstream = `svc.error.upstream.${name}`
  const remedy = Object.hasOwn(STATUS_CODES, upstream)
    ? `; the error of an upstream is ${upstream}`
    : ''
  diagnostics.warning(
    'UnknownProperty',
    pointer,
    `'${name}' is not the URI of an error, so no error gets this status${remedy}`,
  )
}

const toStatus = (value: Value): number | undefined => {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 200 && number <= 599
    ? number
    : undefined
}
