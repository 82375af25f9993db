// Plain maps in, a fold scope over them out: variables may be expressions and refer to each other.

import {
  fold,
  type FoldScope,
  type LoadRoot,
  type Report,
} from '../../../language/expression/fold.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { EvaluationContext } from '../../../language/expression/run.ts'

type Known = Partial<Record<LoadRoot, ValueMap>>

export const MiB = 1024 * 1024

export const scopeOf = (known: Known = {}, report: Report = fail, left = MiB): FoldScope => {
  const done = new Map<string, Template>()
  const scope: FoldScope = {
    budget: { left },
    read: (root, name) => {
      if (root === 'defaults' && name === 'status_codes') return scope.whole('status_codes')
      const map = known[root] ?? {}
      if (!Object.hasOwn(map, name)) return undefined
      const place = `/${root}/${name}`
      const template = done.get(place) ?? fold(map[name] ?? null, place, scope, report)
      done.set(place, template)
      return template
    },
    whole: (root) => fold(known[root] ?? {}, `/${root}`, scope, report),
  }
  return scope
}

const fail: Report = ({ path, message }) => {
  throw new Error(`${path}: ${message}`)
}

/** What `value` becomes, and the messages of its faults. */
export const folded = (
  value: Value,
  known: Known = {},
  left = MiB,
): { template: Template; messages: string[]; paths: string[] } => {
  const messages: string[] = []
  const paths: string[] = []
  const report: Report = ({ message, path }) => {
    messages.push(message)
    paths.push(path)
  }
  const template = fold(value, '', scopeOf(known, report, left), report)
  return { template, messages, paths }
}

export const contextOf = (roots: Partial<EvaluationContext> = {}): EvaluationContext => ({
  request: {},
  action: {},
  security: {},
  budget: 8 * MiB,
  ...roots,
})

/** What `run` throws. */
export const failureOf = (run: () => unknown): Error => {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}
