// Makes a document of an OpenAPI description, and lists what it leaves out. Pure. What comes out compiles.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import { compile } from '../../language/compile.ts'
import { type Method, METHODS } from '../../language/document.ts'
import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isMap, setOwn, type Value, type ValueMap } from '../../language/expression/value.ts'
import { convertOperation } from './convert-operation.ts'
import { type ConvertedPath, convertPath } from './convert-path.ts'
import type { Loose } from './convert-schema.ts'
import { convertSecurity, requirementsOf } from './convert-security.ts'
import { convertServer } from './convert-server.ts'
import { type Description, type Drop, follow, type Placed, readDescription } from './description.ts'

export interface ImportOptions {
  /** In place of those of the description. */
  readonly server: string | null
  readonly realm: string
}

export interface Dropped {
  readonly pointer: string
  readonly reason: string
}

export type Imported =
  | { readonly document: ValueMap; readonly name: string; readonly dropped: readonly Dropped[] }
  | { readonly error: string }

const MOST_PATHS = 2000
const MOST_ROUNDS = 20

export const importDescription = (text: string, options: ImportOptions): Imported => {
  const description = readDescription(text)
  if ('error' in description) return description
  const dropped = new Map<string, Dropped>()
  const drop: Drop = (pointer, reason) => dropped.set(`${pointer} ${reason}`, { pointer, reason })
  const server = convertServer(description, options.server, drop)
  if (typeof server === 'string') return { error: server }
  const { root } = description
  for (const key of Object.keys(root))
    if (!KEPT_OF_ROOT.has(key)) drop(childPointer('', key), 'documents have no such member')
  const { paths, places } = convertPaths(description, drop)
  const info = mapAt(root, 'info')
  const name = slug(textAt(info, 'title'))
  const document = {
    id: `com.example.${name}`,
    name: textAt(info, 'title') || name,
    host: '_',
    realm_uri: options.realm,
    variables: { upstream: server.origin },
    versions: { [VERSION]: { base_path: server.basePath, info, paths } },
  }
  const error = leaveOutRejected(document, { paths, places }, drop)
  return error === undefined ? { document, name, dropped: [...dropped.values()] } : { error }
}

const VERSION = 'v1'

/** For names of resources. */
const slug = (title: string): string =>
  title
    .slice(0, 200)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 50)
    .replace(/-$/, '') || 'imported'

const KEPT_OF_ROOT: ReadonlySet<string> = new Set(
  'openapi swagger info servers host basePath schemes consumes produces paths components definitions parameters responses security securityDefinitions jsonSchemaDialect $self'.split(
    ' ',
  ),
)

interface ConvertedPaths {
  readonly paths: Loose
  /** Path of the document → its place in the description. */
  readonly places: ReadonlyMap<string, string>
}

const convertPaths = (description: Description, drop: Drop): ConvertedPaths => {
  const paths: Loose = {}
  const places = new Map<string, string>()
  const keys = new Set<string>()
  for (const [template, value] of Object.entries(mapAt(description.root, 'paths'))) {
    const pointer = childPointer('/paths', template)
    const item = follow(description, { value, pointer })
    const path = template.startsWith('/') ? convertPath(template) : 'it is no path'
    if (item === undefined) drop(pointer, 'there is no path in this file at this reference')
    else if (typeof path === 'string') drop(pointer, path)
    else if (keys.has(path.key)) drop(pointer, 'another path matches the same requests')
    else if (keys.size === MOST_PATHS) drop(pointer, `a version has at most ${MOST_PATHS} paths`)
    else {
      const operations = operationsOf(item, drop)
      if (operations.length === 0) continue
      keys.add(path.key)
      places.set(path.path, pointer)
      setOwn<Value>(paths, path.path, convertItem(description, { item, path, operations }, drop))
    }
  }
  return { paths, places }
}

interface OwnOperation {
  readonly method: Method
  readonly operation: Placed<ValueMap>
}

const WORDS = ['summary', 'description']
const KEPT_OF_PATH: ReadonlySet<string> = new Set([...WORDS, 'parameters'])

const operationsOf = (item: Placed<ValueMap>, drop: Drop): readonly OwnOperation[] => {
  const found: OwnOperation[] = []
  for (const [name, value] of Object.entries(item.value)) {
    const pointer = childPointer(item.pointer, name)
    const method = METHODS.find((each) => each === name)
    if (method !== undefined && isMap(value)) found.push({ method, operation: { value, pointer } })
    else if (!KEPT_OF_PATH.has(name)) drop(pointer, 'paths have no such member')
  }
  return found
}

interface PathSource {
  readonly item: Placed<ValueMap>
  readonly path: ConvertedPath
  readonly operations: readonly OwnOperation[]
}

const convertItem = (
  description: Description,
  { item, path, operations }: PathSource,
  drop: Drop,
): ValueMap => {
  const security = securityOf(description, operations, drop)
  const converted: Loose = {}
  for (const name of WORDS) {
    const text = memberAt(item.value, name)
    if (typeof text === 'string') converted[name] = text
  }
  if (!isOpen(security)) converted['security'] = security
  for (const own of operations)
    converted[own.method] = convertOperation(description, { ...own, item, path, security }, drop)
  return converted
}

const isOpen = (security: Value): boolean => isMap(security) && Object.keys(security).length === 0

/** Security stands at paths: where operations differ none of theirs would do for all. */
const securityOf = (
  description: Description,
  operations: readonly OwnOperation[],
  drop: Drop,
): Value => {
  const all = operations.map(({ operation }) => {
    const { value, pointer } = requirementsOf(description, operation.value, operation.pointer)
    const security = convertSecurity(description, value, pointer, drop)
    return { at: operation.pointer, security, key: JSON.stringify(security) }
  })
  const closed = all.filter(({ security }) => !isOpen(security))
  const [chosen] = closed
  if (chosen === undefined) return {}
  const isOne = closed.every(({ key }) => key === chosen.key)
  const instead = isOne
    ? 'that of those that have any'
    : 'and theirs differ: basic stands in, so that nothing is open'
  for (const { at, key } of all)
    if (!isOne || key !== chosen.key)
      drop(
        childPointer(at, 'security'),
        `the operations of a path have the same security here, ${instead}`,
      )
  return isOne ? chosen.security : { type: 'basic' }
}

/** Leaves out what the rules before did not foresee, with its path. A text: nothing is left. */
const leaveOutRejected = (
  document: ValueMap,
  { paths, places }: ConvertedPaths,
  drop: Drop,
): string | undefined => {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (Object.keys(paths).length === 0) return 'there is no path that can be kept'
    const result = compile(document, ANY_REALM)
    const problems = 'problems' in result ? result.problems : []
    if (problems.length === 0) return undefined
    for (const { path: pointer, message } of problems) {
      const [versions, version, section, path = ''] = pointerKeys(pointer)
      const place = places.get(path)
      if (
        `${versions}/${version}/${section}` !== `versions/${VERSION}/paths` ||
        place === undefined
      )
        return `${pointer}: ${message}`
      drop(place, message)
      Reflect.deleteProperty(paths, path)
    }
  }
  return 'too many paths cannot be kept'
}

const ANY_REALM = {
  realm: () => ({ authmethods: ['oidcrp', 'cookie'], oidcProviders: [] }),
}
