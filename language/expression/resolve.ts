// Resolves the path of a tag to the template that it names: a read that waits for the request, or a value that the
// scope knows. The roots are a closed set.

import { didYouMean } from '../../base/nearest-name.ts'
import type { TagAst } from './syntax/ast.ts'
import { keyOffset } from './syntax/key-offset.ts'
import { showKey, showSource } from './errors.ts'
import { follow, readTemplate } from './follow.ts'
import { INVALID, type LoadRoot } from './scope.ts'
import type { Site } from './site.ts'
import type { Root, Template } from './template.ts'

export const resolvePath = (tag: TagAst, site: Site): Template => {
  if (isWaiting(tag.root)) return readTemplate(tag.root, tag.keys)
  if (isKnownAtLoad(tag.root)) return resolveKnown(tag.root, tag, site)
  return refuseKey(tag, 0, site, unknownRoot(tag))
}

/**
 * Reports the tag as written, and what is wrong with it.
 * @param at offset of that, within the string that the tag stands in
 */
export const refuseTag = (
  { source, offset }: TagAst,
  site: Site,
  reason: string,
  at = offset,
): typeof INVALID => site.refuse(`${showSource(source)}: ${reason}`, at)

/** Status codes are read from the scope, which may let them wait. */
const WAITING = {
  request: true,
  action: true,
  security: true,
  refusal: true,
} as const satisfies Record<Exclude<Root, LoadRoot>, true>

const KNOWN = {
  variables: true,
  defaults: true,
  status_codes: true,
} as const satisfies Record<LoadRoot, true>

const ROOTS = [...Object.keys(WAITING), ...Object.keys(KNOWN)]

/** What other languages of templates have in place of a root. */
const STATEMENT = /^\{\{\s*[#/]?(?:if|else|elif|endif|unless|each|for|end|with)\b/

const FIELDS: ReadonlySet<string> = new Set(
  'headers query_params bindings body method path host query_string'.split(' '),
)

const unknownRoot = ({ root, source }: TagAst): string => {
  const what = `there is no ${showKey(root)} to read`
  if (STATEMENT.test(source))
    return `${what}: there is no 'if' and no loop; choose with get and a default, as in {{variables.prices |> get({{request.body.currency}}, 0)}}`
  if (root === 'env' || root === 'ENV')
    return `${what}: variables of the environment are not read; take them from a Secret with variablesFrom`
  const hint = FIELDS.has(root) ? `; did you mean 'request.${root}'?` : didYouMean(root, ROOTS)
  return `${what}${hint || `; there are ${ROOTS.join(', ')}`}`
}

/** True for the roots that only a request knows. */
export const isWaiting = (root: string): root is keyof typeof WAITING =>
  Object.hasOwn(WAITING, root)

const isKnownAtLoad = (root: string): root is LoadRoot => Object.hasOwn(KNOWN, root)

const resolveKnown = (root: LoadRoot, tag: TagAst, site: Site): Template => {
  const [name, ...rest] = tag.keys
  if (name === undefined) return site.scope.whole(root)
  const template = site.scope.read(root, name)
  if (template === undefined) {
    const hint = hintFor(name, root, site)
    return refuseKey(tag, 1, site, `there is no key ${showKey(name)} in ${root}${hint}`)
  }
  if (template === INVALID) return INVALID
  const followed = follow(template, rest, `${root}.${name}`, tag)
  return followed.kind === 'missing'
    ? refuseKey(tag, tag.keys.length + 1 - followed.left, site, followed.reason)
    : followed
}

/** The most hints of a document: each is compared with up to 2000 names. */
const MAX_HINTS = 100

const hintFor = (name: string, root: LoadRoot, { scope }: Site): string => {
  const left = scope.budget.hints ?? MAX_HINTS
  scope.budget.hints = left - 1
  return left <= 0 ? '' : didYouMean(name, scope.names?.(root) ?? [])
}

/** @param index of the key that is wrong, where the root is 0 */
const refuseKey = (tag: TagAst, index: number, site: Site, reason: string): typeof INVALID =>
  refuseTag(tag, site, reason, keyOffset(tag, index))
