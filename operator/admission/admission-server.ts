// Serves AdmissionReviews over HTTPS, with one function per path. A new connection gets the certificate that is current
// then; open connections stay. Never logs what is in an object.

import { parseJson } from '../../base/parse-json.ts'
import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../telemetry/log.ts'
import { boundAddress, urlOf } from '../../telemetry/bound-address.ts'
import type { Address } from '../../telemetry/settings-table.ts'
import { EXCESS, findExcess } from '../../base/json-weight.ts'
import { listen } from '../listen.ts'
import { BODY_LIMITS, type BodyLimits, BodyReader } from './read-body.ts'
import {
  type AdmissionResponse,
  type AdmissionRequest,
  readReview,
  reviewResponse,
} from './review.ts'

/**
 * Must be quick: the server answers nothing else while it computes, and the API server waits for 3 s at most. If it
 * throws, the response is 500, and the failure policy of the API server decides.
 */
export type Admit = (
  request: AdmissionRequest,
  /** The rest of the path; empty: there is none. Only the API server knows the right word (review-key.ts). */
  word?: string,
) => AdmissionResponse | Promise<AdmissionResponse>

export interface AdmissionServerOptions {
  readonly address: Address
  /** PEM. Read at each new connection; undefined: connections are not accepted yet. */
  readonly certificate: () => { readonly cert: string; readonly key: string } | undefined
  /** @example {'/validate': (request) => validateReview(request, {className: 'svc'})} */
  readonly paths: Readonly<Record<string, Admit>>
  readonly log: Log
  readonly limits?: BodyLimits
}

export interface AdmissionServer {
  /** `https://127.0.0.1:9443` */
  readonly url: string
  /** Finishes the requests that it has received, within a second. */
  close(): Promise<void>
}

/** @throws Error with a `code` such as EADDRINUSE */
export const startAdmissionServer = async (
  options: AdmissionServerOptions,
): Promise<AdmissionServer> => {
  const reader = new BodyReader(options.limits)
  const server = createServer({ ...TLS, ...TIMES, maxHeaderSize: 16_384 })
  server.on('request', (request, response) => {
    void answer(request, response, { ...options, reader })
  })
  // Before the listener that begins TLS.
  server.prependListener('connection', followCertificate(server, options))
  server.maxConnections = 256
  await listen(server, options.address)
  return {
    url: urlOf('https', boundAddress(server, options.address)),
    close: () => closeServer(server),
  }
}

const TLS = { minVersion: 'TLSv1.2' } as const

const TIMES = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  // Longer than an API server keeps an unused connection (90 s), so that it is the API server that closes it.
  keepAliveTimeout: 120_000,
  connectionsCheckingInterval: 1_000,
} as const

const followCertificate = (
  server: Server,
  { certificate, log }: AdmissionServerOptions,
): ((socket: Socket) => void) => {
  let used: ReturnType<typeof certificate>
  let refused: ReturnType<typeof certificate>
  return (socket) => {
    const current = certificate()
    if (current !== undefined && current !== used && current !== refused) {
      try {
        server.setSecureContext({ ...TLS, cert: current.cert, key: current.key })
        used = current
      } catch (error) {
        refused = current
        log.error('the new certificate of the webhook cannot be used', { error })
      }
    }
    if (used === undefined) socket.destroy()
  }
}

type Context = AdmissionServerOptions & { readonly reader: BodyReader }

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { paths, log, reader, limits = BODY_LIMITS }: Context,
): Promise<void> => {
  const [path = '/'] = (request.url ?? '/').split('?')
  const admit = findAdmit(paths, path)
  if (admit === undefined) {
    refuse(response, 404, `there is no path ${path.slice(0, 100)}`)
    return
  }
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST')
    refuse(response, 405, 'an AdmissionReview must be sent by POST')
    return
  }
  const body = await reader.read(request)
  // The client has disconnected: validating for it would only delay others.
  if (response.destroyed || body.result === 'gone') return
  if (body.result !== 'body') {
    const { status, words } = REFUSALS[body.result]
    refuse(response, status, `${words} (${limits.maxBytes} bytes)`)
    return
  }
  const excess = findExcess(body.bytes, BOUNDS)
  if (excess !== undefined) {
    refuse(response, 413, `the AdmissionReview ${EXCESS[excess]} to be validated here`)
    return
  }
  const review = readReview(parse(body.bytes))
  if (review === undefined)
    refuse(response, 400, 'this is not an AdmissionReview of admission.k8s.io/v1')
  else await respond(review, response, { admit, log })
}

const findAdmit = (
  paths: AdmissionServerOptions['paths'],
  path: string,
): ((request: AdmissionRequest) => ReturnType<Admit>) | undefined => {
  const end = path.lastIndexOf('/')
  const [base, word] = Object.hasOwn(paths, path)
    ? [path, '']
    : [path.slice(0, end), path.slice(end + 1)]
  const admit = Object.hasOwn(paths, base) ? paths[base] : undefined
  return admit && ((request) => admit(request, word))
}

const respond = async (
  review: AdmissionRequest,
  response: ServerResponse,
  { admit, log }: { readonly admit: ReturnType<typeof findAdmit> & object; readonly log: Log },
): Promise<void> => {
  try {
    sendJson(response, 200, reviewResponse(review, await admit(review)))
  } catch (error) {
    const { kind, namespace, name } = review
    log.error('an object could not be validated', { kind, namespace, object: name, error })
    refuse(response, 500, 'the object could not be validated')
  }
}

/**
 * Enough for an object and its old version of the largest size that the API server stores: documents have at least ten
 * bytes of text for each value. Half a million of the largest values take 60 MB.
 */
const BOUNDS = { maxDepth: 128, maxValues: 500_000 } as const

const REFUSALS = {
  too_large: { status: 413, words: 'the AdmissionReview is too large to be validated here' },
  overloaded: { status: 503, words: 'too many objects are being validated: try again' },
} as const

const parse = (bytes: Buffer): unknown => {
  try {
    return parseJson(bytes.toString())
  } catch {
    return undefined
  }
}

/** With an unread rest of the request, the connection can't be used again. */
const refuse = (response: ServerResponse, status: number, message: string): void => {
  response.setHeader('connection', 'close')
  sendJson(response, status, {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    code: status,
    message,
  })
}

const sendJson = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(JSON.stringify(body))
}

const CLOSE_MS = 1_000

const closeServer = async (server: Server): Promise<void> => {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  const timer = setTimeout(() => {
    server.closeAllConnections()
  }, CLOSE_MS)
  await closed
  clearTimeout(timer)
}
