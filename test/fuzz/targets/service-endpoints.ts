// Sends calls of `POST /service_endpoints` to their reader and to the directory that they change. A call that is read
// holds nothing but Services, addresses and ports; of one that is refused the message says where, in bounded words.

import { isIP } from 'node:net'
import type { Value } from '../../../language/expression/value.ts'
import { isServiceKey } from '../../../language/service-name.ts'
import type { EndpointsRequest, ServiceEndpoints } from '../../../language/wire/wire.ts'
import { readEndpointsCall } from '../../../dataplane/management/endpoints-call.ts'
import {
  countAddresses,
  ServiceDirectory,
} from '../../../dataplane/upstream/endpoints/service-directory.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateJsonText } from '../mutate.ts'

const SERVICE = {
  service: 'shop/orders',
  addresses: ['10.96.0.7', 'fd00::7'],
  ports: [
    { port: 80, targets: [{ port: 8080, addresses: ['10.244.1.2', '10.244.2.3'] }] },
    { port: 443, targets: [] },
  ],
}
const CALL = { managedBy: 'svc-operator', epoch: 3, sender: 'a', sequence: 1 }

const SEEDS = [
  { ...CALL, put: [SERVICE], delete: ['shop/gone'] },
  { ...CALL, only: ['shop/orders', 'shop/stock'] },
  { ...CALL, put: [SERVICE, { ...SERVICE, service: 'shop/stock', ports: [] }] },
].map((call) => Buffer.from(JSON.stringify(call)))

const KEYS = [...Object.keys(CALL), 'put', 'delete', 'only', ...Object.keys(SERVICE), 'targets']
const LEAVES: readonly Value[] = [
  'shop/orders',
  'shop/orders/x',
  '/',
  '__proto__/constructor',
  '10.0.0.1',
  '::ffff:127.0.0.1',
  'fe80::1%eth0',
  '010.0.0.1',
  0,
  65_536,
  -1,
  1.5,
  2 ** 53,
]

/** What the reader promises at most: a path of the call, and what was expected there. */
const MOST_MESSAGE = 100

const check = (input: Buffer): string => {
  const json = parsed(input)
  const read = readEndpointsCall(json)
  if (!read.ok) {
    if (read.message.length > MOST_MESSAGE) throw new Error('the message is too long')
    if (!/^(\/[a-zA-Z0-9]+)*$/.test(read.path)) throw new Error(`the path ${read.path}`)
    return `${read.path.replaceAll(/\d+/g, '0')} ${read.message}`
  }
  checkCall(read.call)
  return `${read.call.put?.length ?? 0} ${read.call.delete?.length ?? 0} ${read.call.only?.length ?? '-'}`
}

const checkCall = ({ epoch, sequence, ...call }: EndpointsRequest): void => {
  const { put = [], delete: gone = [], only } = call
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(sequence)) throw new Error('no integer')
  for (const key of [...gone, ...(only ?? []), ...put.map(({ service }) => service)])
    if (!isServiceKey(key)) throw new Error(`the Service ${key}`)
  for (const each of put) checkService(each)
  checkDirectory({ put, delete: gone, only })
}

const checkService = ({ addresses, ports }: ServiceEndpoints): void => {
  const targets = ports.flatMap((each) => each.targets)
  for (const address of [...addresses, ...targets.flatMap((each) => each.addresses)])
    if (isIP(address) === 0 || address.includes('%')) throw new Error(`the address ${address}`)
  for (const { port } of [...ports, ...targets])
    if (!(port >= 1 && port <= 65_535)) throw new Error(`the port ${port}`)
}

/** Applied twice it is what it was, and its sums are those of what it holds. */
const checkDirectory = (change: Parameters<ServiceDirectory['apply']>[0]): void => {
  const directory = new ServiceDirectory()
  directory.apply(change)
  const held = directory.all()
  directory.apply(change)
  if (directory.all().some((each, index) => each !== held[index]))
    throw new Error('the same call changed something')
  const sum = held.reduce((count, { ports }) => count + countAddresses(ports), 0)
  if (directory.countAddresses() !== sum) throw new Error('the sum of the addresses is wrong')
}

const parsed = (input: Buffer): unknown => {
  try {
    return JSON.parse(input.toString())
  } catch {
    return undefined
  }
}

export const serviceEndpoints: FuzzTarget = {
  name: 'service-endpoints',
  seeds: SEEDS,
  mutate: (input, random, pool) =>
    mutateJsonText(input, { random, pool, keys: KEYS, leaves: LEAVES, maxBytes: 16_000 }),
  open: () => ({ check }),
}
