// Makes the summary of a document in its status: which generation serves, and at how many gateways. Pure.

import { type DocumentSummary, NONE_SERVES } from '../../resource/resource.ts'
import type { Sight } from './fleet-view.ts'
import { isGood, type Latch } from './programmed.ts'
import { UNKNOWN_SERVES } from './serving-words.ts'
import type { Serving, ResourceResult } from '../resource-result.ts'

/** Digest → the generation that brought it, or that is programmed with it; the newest last. */
export type KnownVersions = readonly Serving[]

/** Bounds the versions that are remembered when edits come faster than gateways load them. */
const MAX_KNOWN = 8

/** The same list where nothing is new. */
export const knownVersions = (
  before: KnownVersions,
  { digest, serving, resource }: ResourceResult,
  latch: Latch | undefined,
): KnownVersions => {
  const { generation } = resource.metadata
  const programmed = resource.kind === 'ApiSpecification' ? resource.programmed : undefined
  let known = before
  if (programmed !== undefined) known = withVersion(known, programmed, false)
  if (serving !== undefined) known = withVersion(known, serving, false)
  if (digest !== undefined) known = withVersion(known, { digest, generation }, false)
  return latch === undefined ? known : withVersion(known, latch, true)
}

const withVersion = (
  known: KnownVersions,
  { digest, generation }: Serving,
  isProgrammed: boolean,
): KnownVersions => {
  const found = known.find((each) => each.digest === digest)
  if (found?.generation === generation) return known
  // The same text for other gateways, as after a change of the selector: those that have it serve the earlier generation.
  if (found !== undefined && found === known.at(-1) && !isProgrammed) return known
  const others = known.filter((each) => each !== found)
  return [...others, { digest, generation }].slice(-MAX_KNOWN)
}

export interface Moment {
  readonly known: KnownVersions
  readonly before: DocumentSummary | undefined
}

/** The same object where nothing is new. */
export const summaryOf = (
  result: ResourceResult,
  sight: Sight,
  { known, before }: Moment,
): DocumentSummary => {
  const [id, host, realm] = [result.id, result.host, result.realmUri].map(cutName)
  const summary = {
    ...namesOf({ id: id ?? before?.id, host: host ?? before?.host, realm: realm ?? before?.realm }),
    serving: servingOf(sight, known, before?.serving),
    gateways: gatewaysOf(result, sight),
  }
  return before !== undefined && sameSummary(before, summary) ? before : summary
}

/** Keeps the parts about data planes while their reports are still awaited. */
export const inheritedSummary = (
  result: ResourceResult,
  sight: Sight,
  before: DocumentSummary,
): DocumentSummary => {
  const { serving, gateways } = before
  const names = summaryOf(result, sight, { known: [], before })
  const summary = { ...names, serving, gateways }
  return sameSummary(before, summary) ? before : summary
}

const sameSummary = (left: DocumentSummary, right: DocumentSummary): boolean =>
  left.id === right.id &&
  left.host === right.host &&
  left.realm === right.realm &&
  left.serving === right.serving &&
  left.gateways === right.gateways

const namesOf = ({
  id,
  host,
  realm,
}: Record<'id' | 'host' | 'realm', string | undefined>): Omit<
  DocumentSummary,
  'serving' | 'gateways'
> => ({
  ...(id !== undefined && { id }),
  ...(host !== undefined && { host }),
  ...(realm !== undefined && { realm }),
})

/** An invalid name may be of any length. */
const MAX_NAME = 253

const cutName = (name: string | undefined): string | undefined =>
  name === undefined || name === '' ? undefined : name.slice(0, MAX_NAME)

/** The oldest generation that serves, so that it changes only when the last gateway has the newer one. */
const servingOf = (sight: Sight, known: KnownVersions, before: string | undefined): string => {
  const held = [...sight.held]
  if (held.length === 0) {
    // It is not known what they have loaded: they may go on serving.
    return sight.count('unreachable', 'connecting') > 0 ? (before ?? NONE_SERVES) : NONE_SERVES
  }
  const generations = held.flatMap((digest) => {
    const found = known.find((each) => each.digest === digest)
    return found === undefined ? [] : [found.generation]
  })
  return generations.length === 0 ? UNKNOWN_SERVES : String(Math.min(...generations))
}

const gatewaysOf = (result: ResourceResult, sight: Sight): string => {
  if (!isGood(result) && result.serving === undefined) return NONE_SERVES
  const eligible = sight.total - sight.count('forbidden')
  return `${sight.count('holds')}/${eligible}`
}
