// Decides whether an expression failed on values that the client has sent, and says so for the client: it names members
// of the request that the document reads, never the expression, a value, or a key of a variable.

import { childrenOf } from './children.ts'
import { boundMessage, type FailingPlace } from './errors.ts'
import type { PipeArgument, PipeTemplate, ReadTemplate, Template } from './template.ts'

/**
 * Undefined: the document is to blame, as nothing of the request was read, or something besides it that the client does
 * not choose.
 * @example
 * const template = { kind: 'read', root: 'request', keys: ['body', 'sku'] }
 * clientErrorOf({ template, isMissing: true }) // 'request.body.sku is missing'
 */
export const clientErrorOf = ({ template, isMissing }: FailingPlace): string | undefined => {
  const members = new Set<string>()
  if (template === undefined || !collectMembers(template, members) || members.size === 0)
    return undefined
  const named = [...members].slice(0, MAX_NAMED).join(' or ')
  if (isMissing === true) return boundMessage(`${named} is missing`)
  return boundMessage(`${named} ${mayLackKey(template) ? 'is missing, or ' : ''}${UNSUITABLE}`)
}

const UNSUITABLE = 'has a value that is not accepted here'
const MAX_NAMED = 4

/** False: it reads what is not of the request, or what no request has. */
const collectMembers = (template: PipeArgument, members: Set<string>): boolean => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return true
    case 'read':
      return addMember(template, members)
    case 'pipe':
      return collectOfPipe(template, members)
    case 'map':
    case 'list':
    case 'text':
      return childrenOf(template).every((child) => collectMembers(child, members))
  }
}

const mayLackKey = (template: Template): boolean =>
  template.kind === 'pipe' &&
  template.input.kind === 'read' &&
  template.input.root === 'request' &&
  template.calls[0]?.name === 'get'

/** `request.headers |> get(x-up)` is `request.headers.x-up`, if the document writes the key: a variable may be secret. */
const collectOfPipe = (pipe: PipeTemplate, members: Set<string>): boolean => {
  const { input, calls, source } = pipe
  const key = calls[0]?.name === 'get' ? calls[0].args[0] : undefined
  const name = key?.kind === 'constant' && typeof key.value === 'string' ? key.value : undefined
  if (input.kind !== 'read' || name === undefined || !source.includes(`get(${name}`))
    return childrenOf(pipe).every((child) => collectMembers(child, members))
  const args = calls.flatMap((call) => call.args)
  return (
    addMember({ ...input, keys: [...input.keys, name] }, members) &&
    args.every((arg) => collectMembers(arg, members))
  )
}

const addMember = ({ root, keys }: ReadTemplate, members: Set<string>): boolean => {
  // The map of the document itself.
  if (root === 'status_codes') return true
  if (root !== 'request' || !isOfRequests(keys)) return false
  members.add([root, ...keys].join('.'))
  return true
}

/** False: no request has it, as no member is called so, or as a text has no keys. */
const isOfRequests = ([member = '', ...keys]: readonly string[]): boolean =>
  keys.length <= (LEVELS.get(member) ?? -1)

/** How many keys may follow each member that clients choose. */
const LEVELS: ReadonlyMap<string, number> = new Map([
  ['method', 0],
  ['scheme', 0],
  ['path', 0],
  ['host', 0],
  ['port', 0],
  ['language', 0],
  ['query_string', 0],
  ['body_length', 0],
  ['headers', 1],
  ['query_params', 1],
  ['bindings', 1],
  ['body', Infinity],
])
