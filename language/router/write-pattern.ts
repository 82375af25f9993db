// Writes patterns of hosts and paths as a document could have them: without what was optional and is left out.

import type { HostPattern } from '../routes/host-pattern.ts'
import type { PathPattern } from '../routes/path-pattern.ts'

/** @example writeHostPattern({ labels: [null, 'acme'], bindings: ['tenant', null], tail: false }) // ':tenant.acme' */
export const writeHostPattern = ({ labels, bindings, tail }: HostPattern): string => {
  if (labels.length === 0) return '_'
  const written = labels.map((label, at) => label ?? `:${bindings[at] ?? '_'}`)
  return (tail ? ['[...]', ...written] : written).join('.')
}

/** @example writePathPattern({ segments: ['users', null], bindings: ['id'], … }) // '/users/:id' */
export const writePathPattern = ({ segments, bindings, tail, rest }: PathPattern): string => {
  const names = bindings.values()
  const binding = (): string => `:${names.next().value ?? '_'}`
  const written = segments.map((step) => {
    if (typeof step === 'string') return step
    return step === null ? binding() : step.reduce((before, text) => before + binding() + text)
  })
  return `/${(tail ? [...written, `[...${rest ?? ''}]`] : written).join('/')}`
}
