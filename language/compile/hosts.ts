// Compiles the `hosts` of a forward (behaviour §4): upstream hosts with weights. Known values are checked at load,
// others at the request. Messages show no values: a variable may have come from a Secret.

import { childPointer } from '../../base/json-pointer.ts'
import { INVALID } from '../expression/fold.ts'
import { constant, type Template } from '../expression/template.ts'
import { isList } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type FoldedMap, readIntegerOrWait, readTextOrWait, toFoldedMap } from './folded.ts'
import { readOrigin } from '../upstream-origin.ts'

/** An upstream host of an action, as its author wrote it or as a request will give it. */
export interface UpstreamHost {
  /** Where it stands in the Action Object: `hosts/0/host`. */
  readonly path: string
  readonly template: Template
}

/** `weight` yields a whole number from 0 to 1000; where it is known at load, it is a number. */
export interface WeightedHost<T = Template> {
  readonly host: T
  readonly weight: T
}

/** As many as the schema allows. */
const MAX_HOSTS = 16
/** The largest weight of one host. */
export const MAX_WEIGHT = 1000

/** undefined: a problem was reported, here or when the list was folded. */
export const compileHosts = (
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): readonly WeightedHost[] | undefined => {
  const items = readItems(template, pointer, diagnostics)
  if (items === undefined) return undefined
  const entries = items.map((item, index) => {
    const map = toFoldedMap(item, childPointer(pointer, index), diagnostics)
    return map && compileEntry(map, diagnostics)
  })
  const hosts = entries.filter((each) => each !== undefined)
  refuseRepeated(entries, pointer, diagnostics)
  if (hosts.length < items.length) return undefined
  if (hosts.every(({ weight }) => weight.kind === 'constant' && weight.value === 0))
    diagnostics.problem(
      'invalid_value',
      pointer,
      'the weight of every host is 0, so that no request could be sent: give one of them more',
    )
  return hosts
}

const readItems = (
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): readonly Template[] | undefined => {
  if (template === INVALID) return undefined
  const items =
    template.kind === 'list'
      ? template.items
      : template.kind === 'constant' && isList(template.value)
        ? template.value.map(constant)
        : undefined
  if (items === undefined) {
    diagnostics.problem(
      'invalid_datatype',
      pointer,
      'expected a list of {host, weight} that is known when the document is loaded: only a host or a weight may read the request',
    )
    return undefined
  }
  if (items.length > 0 && items.length <= MAX_HOSTS) return items
  const message = `expected 1 to ${MAX_HOSTS} hosts, got ${items.length}`
  diagnostics.problem('invalid_value', pointer, message)
  return undefined
}

const compileEntry = (map: FoldedMap, diagnostics: Diagnostics): WeightedHost | undefined => {
  const [hostTemplate, weightTemplate] = ['host', 'weight'].map((name) =>
    requiredMember(map, name, diagnostics),
  )
  const hostPointer = childPointer(map.pointer, 'host')
  const host = hostTemplate && readTextOrWait(hostTemplate, hostPointer, diagnostics)
  if (host !== undefined) refuseBadHost(host, hostPointer, diagnostics)
  const range = { minimum: 0, maximum: MAX_WEIGHT }
  const weight =
    weightTemplate &&
    readIntegerOrWait(weightTemplate, childPointer(map.pointer, 'weight'), range, diagnostics)
  return host && weight && { host, weight }
}

const requiredMember = (
  map: FoldedMap,
  name: string,
  diagnostics: Diagnostics,
): Template | undefined => {
  if (!map.keys.includes(name))
    diagnostics.problem(
      'missing_required_value',
      childPointer(map.pointer, name),
      'each of the hosts needs a host and a weight',
    )
  return map.get(name)
}

const refuseBadHost = (host: Template, pointer: string, diagnostics: Diagnostics): void => {
  if (host.kind !== 'constant' || typeof host.value !== 'string') return
  const reading = readOrigin(host.value)
  if (!reading.ok) diagnostics.problem('invalid_value', pointer, `the host ${reading.message}`)
}

/** Two entries for one host are a mistake: it is not clear which weight the author meant. */
const refuseRepeated = (
  entries: readonly (WeightedHost | undefined)[],
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  const seen = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    if (entry?.host.kind !== 'constant' || typeof entry.host.value !== 'string') continue
    const reading = readOrigin(entry.host.value)
    if (!reading.ok) continue
    const first = seen.get(reading.origin)
    if (first === undefined) seen.set(reading.origin, index)
    else
      diagnostics.problem(
        'invalid_value',
        childPointer(childPointer(pointer, index), 'host'),
        `this is the host of entry ${first} again: name each host once, with the sum of its weights`,
      )
  }
}
