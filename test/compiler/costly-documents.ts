// Documents that are large in one way or another: bytes, routes, what is inherited.

import type { ValueMap } from '../../language/expression/value.ts'

const STATIC = { get: { action: { type: 'static', body: 1 }, response: {} } }

const pathsOf = (count: number, prefix: string, operations: ValueMap): ValueMap =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}/x${i}`, operations]))

/** As it would be read: nothing of it is shared. */
const aDocument = (id: string, versions: ValueMap, more: ValueMap = {}): ValueMap =>
  JSON.parse(
    JSON.stringify({ id, host: `${id}.test`, realm_uri: 'com.shop', versions, ...more }),
  ) as ValueMap

/** As many versions as it takes for so many paths: 2000 each. */
const versionsOf = (paths: number, prefix: string, operations: ValueMap): ValueMap => {
  const versions: Record<string, ValueMap> = {}
  for (let first = 0; first < paths; first += 2000)
    versions[`v${first}`] = {
      base_path: `/${first}`,
      paths: pathsOf(Math.min(2000, paths - first), prefix, operations),
    }
  return versions
}

/** Few bytes, so many routes, sixteen for each path. */
export const manyRoutes = (id: string, routes: number): ValueMap =>
  aDocument(id, versionsOf(Math.ceil(routes / 16), '/[a]/[b]/[c]/[d]', STATIC))

/** `kilobytes` of operations that share nothing: the dearest there is, byte for byte. */
export const manyOperations = (id: string, kilobytes: number): ValueMap => {
  const get = {
    action: { type: 'static', body: { text: 'x'.repeat(600), at: '{{request.headers.a}}' } },
    response: { headers: { 'x-a': '{{request.query_params.a}}' } },
  }
  const operations = { get, put: get, post: get, delete: get, patch: get }
  const each = JSON.stringify(operations).length + 10
  const paths = Math.ceil((kilobytes * 1024) / each)
  return aDocument(id, versionsOf(paths, '', operations))
}

/** Each of the paths refers to a map of so many values. */
export const muchInherited = (id: string, paths: number, values: number): ValueMap => {
  const map = Array.from({ length: values }, (_, i) => [`k${i}`, `{{request.query.a${i}}}`])
  const operation = { get: { action: { type: 'static', body: '{{variables.map}}' }, response: {} } }
  return aDocument(
    id,
    { v1: { base_path: '/1', paths: pathsOf(paths, '', operation) } },
    { variables: { map: Object.fromEntries(map) as ValueMap } },
  )
}

/** With faults, and with names that objects have anyway. */
export const oddOne = (id: string): ValueMap => {
  const odd = JSON.parse(
    '{"__proto__": {"a": 1}, "constructor": [{}, null], "toString": 1.5e300}',
  ) as ValueMap
  return { ...manyRoutes(id, 4000), meta: odd, variables: odd, colour: 'x'.repeat(70_000) }
}
