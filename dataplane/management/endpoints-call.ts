// Reads and validates the body of `POST /service_endpoints`. It returns a call or the first problem, and ignores
// members that it does not know.

import { isIP } from 'node:net'
import { CodedError } from '../../base/coded-error.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { isServiceKey } from '../../language/service-name.ts'
import type {
  EndpointsRequest,
  ServiceEndpoints,
  ServicePortEndpoints,
} from '../../language/wire/wire.ts'

export type ReadEndpointsCall =
  | { readonly ok: true; readonly call: EndpointsRequest }
  | { readonly ok: false; readonly path: string; readonly message: string }

/** Bounds of one Service: an API server allows some hundred ports, the operator sends at most 250 Pods. */
const MOST_PORTS = 500
const MOST_ADDRESSES = 1000
const MOST_TEXT = 253

/** @example readEndpointsCall({ managedBy: 'op', epoch: 1, sender: 'a', sequence: 1, put: [] }) */
export const readEndpointsCall = (json: unknown): ReadEndpointsCall => {
  try {
    const body = readMap(json, '')
    const only = read(body, 'only', '', (value, path) => listOf(value, path, readKey))
    return {
      ok: true,
      call: {
        managedBy: readText(own(body, 'managedBy'), '/managedBy'),
        epoch: readCount(own(body, 'epoch'), '/epoch'),
        sender: readText(own(body, 'sender'), '/sender'),
        sequence: readCount(own(body, 'sequence'), '/sequence'),
        put: listOf(own(body, 'put') ?? [], '/put', readService),
        delete: listOf(own(body, 'delete') ?? [], '/delete', readKey),
        ...(only !== undefined && { only }),
      },
    }
  } catch (error) {
    if (error instanceof MalformedCallError)
      return { ok: false, path: error.path, message: error.message }
    throw error
  }
}

class MalformedCallError extends CodedError<'malformed'> {
  readonly path: string

  constructor(path: string, expected: string) {
    super('malformed', `expected ${expected}`)
    this.path = path
  }
}

const own = (map: ValueMap, key: string): Value | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined

const read = <T>(
  map: ValueMap,
  key: string,
  path: string,
  readValue: (value: Value, path: string) => T,
): T | undefined => {
  const value = own(map, key)
  return value === undefined ? undefined : readValue(value, `${path}/${key}`)
}

const listOf = <T>(
  value: Value | undefined,
  path: string,
  readItem: (item: Value, path: string) => T,
  most = Infinity,
): readonly T[] => {
  if (value === undefined || !isList(value)) throw new MalformedCallError(path, 'a list')
  if (value.length > most) throw new MalformedCallError(path, `${most} items at most`)
  return value.map((item, index) => readItem(item, `${path}/${index}`))
}

const readService = (value: Value, path: string): ServiceEndpoints => {
  const map = readMap(value, path)
  return {
    service: readKey(own(map, 'service'), `${path}/service`),
    addresses: readAddresses(own(map, 'addresses'), `${path}/addresses`),
    ports: listOf(own(map, 'ports'), `${path}/ports`, readPortEndpoints, MOST_PORTS),
    ...(own(map, 'isAbsent') === true && { isAbsent: true }),
  }
}

const readPortEndpoints = (value: Value, path: string): ServicePortEndpoints => {
  const map = readMap(value, path)
  return {
    port: readPort(own(map, 'port'), `${path}/port`),
    targets: listOf(own(map, 'targets'), `${path}/targets`, readTarget, MOST_ADDRESSES),
    ...(own(map, 'isEmpty') === true && { isEmpty: true }),
  }
}

const readTarget = (value: Value, path: string): ServicePortEndpoints['targets'][number] => {
  const map = readMap(value, path)
  return {
    port: readPort(own(map, 'port'), `${path}/port`),
    addresses: readAddresses(own(map, 'addresses'), `${path}/addresses`),
  }
}

const readMap = (value: unknown, path: string): ValueMap => {
  if (!isMap(value)) throw new MalformedCallError(path, 'an object')
  return value
}

const readAddresses = (value: Value | undefined, path: string): readonly string[] =>
  listOf(value, path, readAddress, MOST_ADDRESSES)

/** Without a zone, which means something only on the machine that wrote it. */
const readAddress = (value: Value, path: string): string => {
  if (typeof value === 'string' && isIP(value) !== 0 && !value.includes('%')) return value
  throw new MalformedCallError(path, 'an address')
}

const readPort = (value: Value | undefined, path: string): number => {
  const port = readCount(value, path)
  if (port >= 1 && port <= 65_535) return port
  throw new MalformedCallError(path, 'a port')
}

const readKey = (value: Value | undefined, path: string): string => {
  if (typeof value === 'string' && isServiceKey(value)) return value
  throw new MalformedCallError(path, 'namespace/name of a Service')
}

const readText = (value: Value | undefined, path: string): string => {
  if (typeof value === 'string' && value !== '' && value.length <= MOST_TEXT) return value
  throw new MalformedCallError(path, `a text of 1 to ${MOST_TEXT} characters`)
}

const readCount = (value: Value | undefined, path: string): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new MalformedCallError(path, 'an integer, 0 or more')
}
