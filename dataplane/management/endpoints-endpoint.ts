// Serves `POST /service_endpoints`: what the operator tells of the Pods behind Services comes in, is fenced as a sync call
// is, and goes to every serving process before it is answered. It waits for no sync call, and changes no digest.

import {
  countAddresses,
  type EndpointsChange,
  type ToldEndpoints,
} from '../upstream/endpoints/service-directory.ts'
import { sendJson } from './answer.ts'
import { type BodyReading, withJson } from './body.ts'
import type { Endpoint } from './endpoint.ts'
import { readEndpointsCall } from './endpoints-call.ts'
import { invalidArgument, ManagementFault, notOwner, overloaded } from './fault.ts'
import type { JsonBounds } from './json-pieces.ts'
import { parseMap } from './spec-endpoints.ts'

/** As far as it has come, of the store. */
export interface Fence {
  readonly manager: string | null
  readonly epoch: number
}

/** An operator sends 256 KiB at once. */
const MAX_BYTES = 2 * 1024 * 1024
const BOUNDS: JsonBounds = { maxBytes: { map: MAX_BYTES, list: MAX_BYTES }, cutDepth: {} }
/** Of all that is held: with 100 bytes each, 20 MB in each process. */
const MOST_ADDRESSES = 200_000
const MOST_SERVICES = 10_000

export const endpointsEndpoint = (
  fence: () => Fence,
  endpoints: ToldEndpoints,
  bodies: Omit<BodyReading, 'bounds'>,
): Endpoint => {
  let epoch = 0
  let sender = ''
  let sequence = -1

  return {
    path: '/service_endpoints',
    post: async (req, res) => {
      if (fence().manager === null) throw notOwner(null)
      await withJson(req, { ...bodies, bounds: BOUNDS }, async (text) => {
        const read = readEndpointsCall(parseMap(text, CALL_WANTED))
        if (!read.ok) throw invalidArgument(`${read.path}: ${read.message}`)
        const { call } = read
        const { manager, epoch: synced } = fence()
        if (call.managedBy !== manager) throw notOwner(manager)
        epoch = Math.max(epoch, synced)
        if (call.epoch < epoch) throw staleEpoch(epoch)
        if (call.sender === sender && call.sequence <= sequence) throw overtaken()
        const change = { put: call.put ?? [], delete: call.delete ?? [], only: call.only }
        checkRoom(endpoints.directory, change)
        // Before anything is awaited: of two calls at once the later one counts.
        epoch = call.epoch
        sender = call.sender
        sequence = call.sequence
        await endpoints.apply(change)
        sendJson(res, 200, { services: endpoints.directory.size })
      })
    },
  }
}

const CALL_WANTED = 'A call that tells of endpoints is a JSON object'

const staleEpoch = (epoch: number): ManagementFault =>
  new ManagementFault(409, 'svc.error.stale_epoch', 'A later leader has been here', {
    description: 'Whoever leads raises the epoch above this one and calls again.',
    extra: { epoch },
  })

const overtaken = (): ManagementFault =>
  new ManagementFault(409, 'svc.error.stale_sequence', 'A later call of this sender was here', {
    description: 'Nothing was changed. Send what is known now, with a sequence above all before.',
  })

/** @throws ManagementFault 503: the operator may go on without; Services have their own addresses */
const checkRoom = (directory: ToldEndpoints['directory'], { put }: EndpointsChange): void => {
  const fresh = put.filter(({ service }) => directory.find(service) === undefined)
  const addresses = put.reduce((sum, { ports }) => sum + countAddresses(ports), 0)
  if (
    directory.size + fresh.length > MOST_SERVICES ||
    directory.countAddresses() + addresses > MOST_ADDRESSES
  )
    throw overloaded(
      `This gateway keeps the addresses of ${MOST_SERVICES} Services and ${MOST_ADDRESSES} Pods at most`,
    )
}
