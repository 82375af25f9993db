// Follows a path as written to the template it leads to. Known values are looked up at once, waiting ones become longer
// reads; for a path that leads nowhere it gives the reason.

import { entryOf } from './header-templates.ts'
import { explainMissing, explainStep, lookup } from './lookup.ts'
import { STEP } from './functions/functions.ts'
import type { TagAst } from './syntax/ast.ts'
import { INVALID } from './scope.ts'
import { constant, type ReadTemplate, type Root, type Template } from './template.ts'

/** A template, or why there is none; `left` is how many keys were left, the missing one among them. */
export type Followed =
  Template | { readonly kind: 'missing'; readonly reason: string; readonly left: number }

/** The end of a path that begins in `template`, which the document calls `name`. */
export const follow = (
  template: Template,
  keys: readonly string[],
  name: string,
  tag: TagAst,
): Followed => {
  const [key, ...rest] = keys
  if (key === undefined || template === INVALID) return template
  switch (template.kind) {
    case 'constant':
      return followValue(template, keys, name)
    case 'read':
      return readTemplate(template.root, [...template.keys, ...keys])
    case 'pipe':
      return { kind: 'pipe', input: template, calls: keys.map(stepCall), source: tag.source }
    case 'map': {
      const child = entryOf(template, key)
      return child === undefined
        ? missing(explainStep({}, key, name), keys.length)
        : follow(child, rest, `${name}.${key}`, tag)
    }
    case 'list':
      return missing(explainStep([], key, name), keys.length)
    case 'text':
      return missing(explainStep('', key, name), keys.length)
  }
}

/** `arguments` and `arguments_kw` of a result or error are spellings of `args` and `kwargs`. */
export const readTemplate = (root: Root, keys: readonly string[]): ReadTemplate => {
  const isOfAction = root === 'action' && (keys[0] === 'result' || keys[0] === 'error')
  if (!isOfAction || keys.length < 2) return { kind: 'read', root, keys }
  const [member, second, ...rest] = keys as [string, string, ...string[]]
  const name = second === 'arguments' ? 'args' : second === 'arguments_kw' ? 'kwargs' : second
  return { kind: 'read', root, keys: [member, name, ...rest] }
}

const followValue = (
  { value }: Extract<Template, { kind: 'constant' }>,
  keys: readonly string[],
  name: string,
): Followed => {
  const found = lookup(value, keys)
  if (found !== undefined) return constant(found)
  const known = keys.findIndex((_, index) => lookup(value, keys.slice(0, index + 1)) === undefined)
  return missing(explainMissing(value, keys, name), keys.length - known)
}

const stepCall = (key: string): { name: string; args: Template[] } => ({
  name: STEP,
  args: [constant(key)],
})

const missing = (reason: string, left: number): Followed => ({ kind: 'missing', reason, left })
