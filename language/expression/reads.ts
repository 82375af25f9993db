// Lists the parts of the context that a template reads, so that nothing else need be filled in.

import { childrenOf } from './children.ts'
import type { PipeArgument, ReadTemplate, Root, Template } from './template.ts'

/**
 * A part of the context that some template reads: `request` (as a whole), `request.body`, `action.result`,
 * `action.result.body`, `action.error.args`, `security`, … Request and security reads are cut after the first key,
 * action reads after the second.
 */
export type ContextRead = Root | `${Root}.${string}`

/** Keys that count. */
const DEPTH = {
  request: 1,
  security: 1,
  action: 2,
  refusal: 1,
  status_codes: 0,
} as const satisfies Record<Root, number>

/**
 * Sorted, unique.
 * @example readsOf({ kind: 'read', root: 'request', keys: ['body', 'a'] }) // ['request.body']
 */
export const readsOf = (template: Template): readonly ContextRead[] => {
  const reads = new Set<ContextRead>()
  collectReads(template, reads)
  return [...reads].sort()
}

/** Adds what the template reads. */
export const collectReads = (template: PipeArgument, reads: Set<ContextRead>): void => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return
    case 'read':
      reads.add(nameOf(template))
      return
    case 'map':
      for (const entry of template.entries) collectReads(entry[1], reads)
      return
    case 'list':
    case 'text':
    case 'pipe':
      for (const child of childrenOf(template)) collectReads(child, reads)
  }
}

/**
 * True when some read of the template is of such a root.
 * @example someRead(template, (root) => root === 'request')
 */
export const someRead = (template: PipeArgument, isSuch: (root: Root) => boolean): boolean => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return false
    case 'read':
      return isSuch(template.root)
    case 'map':
      return template.entries.some((entry) => someRead(entry[1], isSuch))
    case 'list':
    case 'text':
    case 'pipe':
      return childrenOf(template).some((child) => someRead(child, isSuch))
  }
}

/** A document shares its reads: a name is put together once, a quarter of the time that collecting takes. */
const names = new WeakMap<ReadTemplate, ContextRead>()

const nameOf = (template: ReadTemplate): ContextRead => {
  const known = names.get(template)
  if (known !== undefined) return known
  const { root, keys } = template
  const name = [root, ...keys.slice(0, DEPTH[root])].join('.') as ContextRead
  names.set(template, name)
  return name
}
