// Writes patterns of hosts and paths as a document could have them: without what was optional and is left out.

import type { HostPattern } from '../routes/host-pattern.ts'
import type { PathPattern } from '../routes/path-pattern.ts'

/** @example writeHostPattern({ labels: [null, 'acme'], bindings: ['tenant', null], tail: false }) // ':tenant.acme' */
export const writeHostPattern = ({ labels, bindings, tail }: HostPattern): string => {
  if (labels.length === 0) return '_'
  const written = writeSteps(labels, bindings)
  return (tail ? ['[...]', ...written] : written).join('.')
}

/** @example writePathPattern({ segments: ['users', null], bindings: [null, 'id'], … }) // '/users/:id' */
export const writePathPattern = ({ segments, bindings, tail }: PathPattern): string => {
  const written = writeSteps(segments, bindings)
  return `/${(tail ? [...written, '[...]'] : written).join('/')}`
}

const writeSteps = (
  steps: readonly (string | null)[],
  bindings: readonly (string | null)[],
): readonly string[] => steps.map((step, at) => step ?? `:${bindings[at] ?? '_'}`)
