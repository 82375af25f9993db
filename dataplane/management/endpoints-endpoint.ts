// Serves `POST /service_endpoints`, by which the operator reports the Pods behind Services: a call is fenced like a
// sync call, and reaches every serving process before it is answered. It does not wait for sync calls, and changes no
// digest.

import {
  countAddresses,
  type EndpointsChange,
  type ReportedEndpoints,
} from '../upstream/endpoints/service-directory.ts'
import { sendJson } from './respond.ts'
import { type BodyReading, withJson } from './body.ts'
import type { Endpoint } from './endpoint.ts'
import { readEndpointsCall } from './endpoints-call.ts'
import { invalidArgument, ManagementError, notOwner, overloaded } from './management-error.ts'
import type { JsonBounds } from './json-body.ts'
import { asMap } from './spec-endpoints.ts'

/** The current owner and epoch of the store. */
export interface Fence {
  readonly manager: string | null
  readonly epoch: number
}

/** An operator sends 256 KiB in one call. */
const MAX_BYTES = 2 * 1024 * 1024
const BOUNDS: JsonBounds = { maxBytes: { map: MAX_BYTES, list: MAX_BYTES }, lazyDepth: {} }
/** Bounds of everything stored: with 100 bytes each, 20 MB in each process. */
const MOST_ADDRESSES = 200_000
const MOST_SERVICES = 10_000

export const endpointsEndpoint = (
  fence: () => Fence,
  endpoints: ReportedEndpoints,
  bodies: Omit<BodyReading, 'bounds'>,
): Endpoint => {
  let epoch = 0
  let sender = ''
  let sequence = -1

  return {
    path: '/service_endpoints',
    post: async (req, res) => {
      if (fence().manager === null) throw notOwner(null)
      await withJson(req, { ...bodies, bounds: BOUNDS }, async (body) => {
        const read = readEndpointsCall(asMap(body, CALL_WANTED))
        if (!read.ok) throw invalidArgument(`${read.path}: ${read.message}`)
        const { call } = read
        const { manager, epoch: synced } = fence()
        if (call.managedBy !== manager) throw notOwner(manager)
        epoch = Math.max(epoch, synced)
        if (call.epoch < epoch) throw staleEpoch(epoch)
        if (call.sender === sender && call.sequence <= sequence) throw overtaken()
        const change = { put: call.put ?? [], delete: call.delete ?? [], only: call.only }
        checkRoom(endpoints.directory, change)
        // Before anything is awaited, so that of two simultaneous calls the later one wins.
        epoch = call.epoch
        sender = call.sender
        sequence = call.sequence
        await endpoints.apply(change)
        sendJson(res, 200, { services: endpoints.directory.size })
      })
    },
  }
}

const CALL_WANTED = 'A call of /service_endpoints must be a JSON object'

const staleEpoch = (epoch: number): ManagementError =>
  new ManagementError(
    409,
    'svc.error.stale_epoch',
    'A call with a later epoch was accepted before this one',
    {
      description: 'The leader must raise its epoch above this one and call again.',
      extra: { epoch },
    },
  )

const overtaken = (): ManagementError =>
  new ManagementError(
    409,
    'svc.error.stale_sequence',
    'A later call of this sender was accepted before this one',
    {
      description:
        'Nothing was changed. Send the current state, with a sequence above all earlier ones.',
    },
  )

/** @throws ManagementError 503: the operator can go on without, as Services have addresses of their own */
const checkRoom = (directory: ReportedEndpoints['directory'], { put }: EndpointsChange): void => {
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
