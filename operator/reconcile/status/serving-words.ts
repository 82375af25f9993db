// Writes in words which version of a document serves, where it is not the newest one. Pure.

import type { ReasonOf } from '../../resource/condition.ts'
import { NONE_SERVES } from '../../resource/resource.ts'
import type { ResourceResult } from '../resource-result.ts'

/** In a `DocumentSummary`: gateways have loaded a version whose generation is not known any more. */
export const UNKNOWN_SERVES = '?'

/**
 * @param serving see `DocumentSummary`
 * @param reason of what is wrong with it
 */
export const servingWords = (
  serving: string,
  { resource }: ResourceResult,
  reason: ReasonOf<'Ready'>,
): string => {
  const isOutOfReach = reason === 'Unreachable'
  if (serving === NONE_SERVES)
    return isOutOfReach ? 'no version is known to serve' : 'nothing serves'
  if (serving === UNKNOWN_SERVES) return 'another version serves'
  if (isOutOfReach) return `generation ${serving} served when they were last asked`
  if (Number(serving) !== resource.metadata.generation) return `generation ${serving} still serves`
  return DELIVERING.has(reason)
    ? `generation ${serving} serves where it is loaded`
    : 'the version accepted before still serves'
}

const DELIVERING: ReadonlySet<ReasonOf<'Ready'>> = new Set([
  'Pending',
  'Rejected',
  'PartiallyProgrammed',
])
