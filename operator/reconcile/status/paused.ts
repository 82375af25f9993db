// Writes the message for a paused resource whose newest version waits. That is not a problem: nothing is stalled, and
// `kubectl wait` for the new generation goes on waiting.

import { ANNOTATIONS } from '../../resource/resource.ts'
import type { ResourceResult } from '../resource-result.ts'

/** For versions that this operator did not send. The secrets of a realm can't be read back from a data plane. */
const UNKNOWN_WORDS = {
  ApiSpecification: 'no version of it serves',
  Realm: 'data planes that have it keep it as it was, and a new one cannot get it',
} as const

/** @example 'paused: generation 3 is validated and waits, generation 2 serves; remove the annotation … to go on' */
export const pausedWords = ({ resource, serving, isRevoked }: ResourceResult): string => {
  const { generation } = resource.metadata
  const before =
    serving === undefined
      ? isRevoked === true
        ? 'nothing serves'
        : UNKNOWN_WORDS[resource.kind]
      : serving.generation === generation
        ? 'the version accepted before serves'
        : `generation ${serving.generation} serves`
  return (
    `paused: generation ${generation} is validated and waits, ${before}; ` +
    `remove the annotation ${ANNOTATIONS.paused} to go on`
  )
}
