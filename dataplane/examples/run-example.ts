// Runs examples one after the other by a gateway in this process: each request goes in over a pair of streams, and what
// would leave is compared with what the example expects. Time and random numbers are the same in every run.

import { type Duplex, duplexPair } from 'node:stream'
import type { CompiledApi } from '../../language/compile/compiled.ts'
import type { PlacedExample } from '../../language/examples/example.ts'
import {
  type Mismatch,
  mismatchesOf,
  type ObservedResponse,
} from '../../language/examples/match-expectation.ts'
import { type WrittenRequest, writeRequest } from '../../language/examples/write-request.ts'
import { createAuthenticate } from '../security/schemes/create-authenticate.ts'
import type { RetryClock } from '../upstream/retry.ts'
import { createEndingStreams } from './ending-streams.ts'
import { credentialHeader, verifyCaller } from './example-caller.ts'
import { createExampleRouter } from './example-router.ts'
import { createExampleUpstream } from './example-upstream.ts'
import { GivenResults } from './given-results.ts'
import { createInProcessGateway, type InProcessGateway } from './in-process-gateway.ts'
import { sendRequest } from './send-request.ts'

export interface ExampleComparison {
  /** Empty: it is as the example says. */
  readonly mismatches: readonly Mismatch[]
  /** Why it could not be run, or what else is wrong, each with its pointer below the example. */
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

export type RunExample = (placed: PlacedExample) => Promise<ExampleComparison>

/** 2026-01-01T00:00:00Z */
const NOW = Date.UTC(2026, 0, 1)

interface Run {
  readonly placed: PlacedExample
  readonly given: GivenResults
  /** Operations that it does not belong to. */
  readonly elsewhere: string[]
  readonly unexpected: unknown[]
}

/** @param documents valid, without conflicts */
export const createExampleRunner = async (
  documents: readonly CompiledApi[],
): Promise<RunExample> => {
  let current: Run | undefined
  const run = (): Run => {
    if (current === undefined) throw new Error('no example is run')
    return current
  }
  const { streams, endOpen } = createEndingStreams()
  const gateway = await createInProcessGateway({
    documents,
    eventStreams: streams,
    reach: (operation, { apiId }) => {
      const { given, placed, elsewhere } = run()
      if (operation.pointer !== placed.operation.pointer || apiId !== placed.api.id)
        elsewhere.push(`it is served by ${operation.pointer} of ${apiId}`)
      return {
        upstream: createExampleUpstream(given),
        router: createExampleRouter(given, endOpen),
      }
    },
    authenticate: createAuthenticate(
      {
        // Each has the users that examples name.
        realms: (uri) => ({ uri }),
        audit: () => undefined,
        now: () => NOW,
      },
      (scheme, { uri }) => verifyCaller(run().placed.example.request?.as, scheme, uri),
    ),
    onUnexpected: (error) => run().unexpected.push(error),
    wallClock: () => NOW,
    clock: createExampleClock(),
  })
  return async (placed) => {
    const request = writeRequest(placed)
    if ('problem' in request)
      return { mismatches: [], problems: [{ path: '/request', message: request.problem }] }
    current = {
      placed,
      given: new GivenResults(placed.example.given),
      elsewhere: [],
      unexpected: [],
    }
    const observed = await exchange(gateway, request, current)
    return compareRun(current, observed)
  }
}

/** Time passes by the pauses between attempts alone, and nobody waits for them. The first of several hosts is taken. */
const createExampleClock = (): RetryClock => {
  let nowMs = 0
  return {
    now: () => nowMs,
    random: () => 0,
    after: (ms, callback) => {
      const soon = setImmediate(() => {
        nowMs += ms
        callback()
      })
      return () => {
        clearImmediate(soon)
      }
    },
  }
}

const compareRun = (
  { placed: { example }, given, elsewhere, unexpected }: Run,
  observed: ObservedResponse,
): ExampleComparison => ({
  mismatches: mismatchesOf(example.expect, observed),
  problems: [
    ...(given.problem === undefined ? [] : [given.problem]),
    ...elsewhere.map((message) => ({ path: '/request', message })),
    ...unexpected.map((error) => ({
      path: '',
      message: `the gateway has failed: ${String(error)}`,
    })),
  ],
})

const exchange = async (
  { servers }: InProcessGateway,
  request: WrittenRequest,
  { placed, given }: Run,
): Promise<ObservedResponse> => {
  const { address = '127.0.0.1', as } = placed.example.request ?? {}
  const [client, served] = duplexPair()
  servers[request.scheme].emit('connection', withPeer(served, address))
  const headers = [...request.headers, ...credentialHeader(placed.operation.security, as)]
  try {
    const host = request.host ?? 'example.test'
    const sent = { ...request, host, headers }
    return { ...(await sendRequest(sent, { createConnection: () => client })), sent: given.sent }
  } finally {
    client.destroy()
    served.destroy()
  }
}

const withPeer = (served: Duplex, address: string): Duplex =>
  Object.defineProperties(served, {
    remoteAddress: { value: address },
    remotePort: { value: 50_000 },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4' },
  })
