// Resolves the path of a tag to the template that it names: a read that waits for the request, or a value that the
// scope knows. The roots are a closed set.

import type { TagAst } from './syntax/ast.ts'
import { showKey, showSource } from './errors.ts'
import { follow, readTemplate } from './follow.ts'
import { FAULT, type LoadRoot } from './scope.ts'
import type { Site } from './site.ts'
import type { Root, Template } from './template.ts'

export const resolvePath = (tag: TagAst, site: Site): Template => {
  if (isWaiting(tag.root)) return readTemplate(tag.root, tag.keys)
  if (isKnownAtLoad(tag.root)) return resolveKnown(tag.root, tag, site)
  return refuseTag(tag, site, `there is no ${showKey(tag.root)} to read; there are ${ROOTS}`)
}

/** The tag as written, what is wrong with it, and where it stands in a longer text. */
export const refuseTag = (
  { source, offset }: TagAst,
  site: Site,
  reason: string,
  at = offset,
): typeof FAULT => {
  const place = at === 0 ? '' : ` (at offset ${at})`
  return site.refuse(`${showSource(source)}: ${reason}${place}`)
}

/** Status codes are read from the scope, which may let them wait. */
const WAITING = {
  request: true,
  action: true,
  security: true,
} as const satisfies Record<Exclude<Root, LoadRoot>, true>

const KNOWN = {
  variables: true,
  defaults: true,
  status_codes: true,
} as const satisfies Record<LoadRoot, true>

const ROOTS = [...Object.keys(WAITING), ...Object.keys(KNOWN)].join(', ')

/** True for the roots that only a request knows. */
export const isWaiting = (root: string): root is keyof typeof WAITING =>
  Object.hasOwn(WAITING, root)

const isKnownAtLoad = (root: string): root is LoadRoot => Object.hasOwn(KNOWN, root)

const resolveKnown = (root: LoadRoot, tag: TagAst, site: Site): Template => {
  const [name, ...rest] = tag.keys
  if (name === undefined) return site.scope.whole(root)
  const template = site.scope.read(root, name)
  if (template === undefined) {
    return refuseTag(tag, site, `there is no key ${showKey(name)} in ${root}`)
  }
  if (template === FAULT) return FAULT
  const followed = follow(template, rest, `${root}.${name}`, tag)
  return followed.kind === 'missing' ? refuseTag(tag, site, followed.reason) : followed
}
