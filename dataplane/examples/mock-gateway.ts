// Serves documents with what their examples give in place of upstreams and routers. Any credentials are right, and have
// what their path requires.

import { SYSTEM_CLOCK } from '../upstream/retry.ts'
import type { IncomingMessage } from 'node:http'
import type { CompiledApi, CompiledOperation } from '../../language/compile/compiled.ts'
import { credentialPlaceOf, type SecurityScheme } from '../../language/compile/security.ts'
import type { PlacedExample } from '../../language/examples/example.ts'
import { writeRequest } from '../../language/examples/write-request.ts'
import type { HostPattern } from '../../language/routes/host-pattern.ts'
import { createAuthenticate } from '../security/schemes/create-authenticate.ts'
import { type AuthenticationResult, notPresented } from '../security/schemes/authenticator.ts'
import { createEndingStreams } from './ending-streams.ts'
import { verifyCaller } from './example-caller.ts'
import { createExampleRouter } from './example-router.ts'
import { createExampleUpstream } from './example-upstream.ts'
import { GivenResults } from './given-results.ts'
import { createInProcessGateway, type InProcessGateway } from './in-process-gateway.ts'

export interface MockOptions {
  /** Valid, without conflicts. */
  readonly documents: readonly CompiledApi[]
  readonly examples: readonly PlacedExample[]
  readonly onUnexpected: (error: unknown) => void
}

/** @returns a server that does not listen so far */
export const createMockGateway = async ({
  documents,
  examples,
  onUnexpected,
}: MockOptions): Promise<InProcessGateway['servers']['http']> => {
  const byOperation = Map.groupBy(examples, ({ api, operation }) => nameOf(api.id, operation))
  const { streams, endOpen } = createEndingStreams()
  const { servers } = await createInProcessGateway({
    documents: documents.map(onAnyHost),
    eventStreams: streams,
    reach: (operation, { apiId }, { incoming }) => {
      const own = byOperation.get(nameOf(apiId, operation)) ?? []
      const given = new GivenResults(chooseExample(own, incoming)?.example.given)
      return {
        upstream: createExampleUpstream(given),
        router: createExampleRouter(given, endOpen),
      }
    },
    authenticate: createAuthenticate(
      { realms: (uri) => ({ uri }), audit: () => undefined, now: Date.now },
      (scheme, { uri }, { request }) => admitAnybody(scheme, uri, request),
    ),
    onUnexpected,
    wallClock: Date.now,
    clock: SYSTEM_CLOCK,
  })
  return servers.http
}

const nameOf = (api: string, { pointer }: Pick<CompiledOperation, 'pointer'>): string =>
  `${api} ${pointer}`

const ALL: HostPattern = { labels: [], bindings: [], tail: true }

/** Clients of a mock name its address, and speak no TLS. */
const onAnyHost = (document: CompiledApi): CompiledApi => ({
  ...document,
  hosts: [...document.hosts, ...(document.hosts.some(isAny) ? [] : [ALL])],
  versions: document.versions.map((version) => ({
    ...version,
    paths: version.paths.map((path) => ({ ...path, schemes: ['http', 'https'] })),
  })),
})

const isAny = ({ labels }: HostPattern): boolean => labels.length === 0

/** As other mocks have it: `Prefer: example=NAME` (RFC 7240). */
const PREFERRED = /(?:^|[,;])\s*example=("?)([^",;]+)\1/

/**
 * The one that the client names, one whose request has the same path and query, the first that succeeds, or the first that
 * gives anything.
 */
const chooseExample = (
  examples: readonly PlacedExample[],
  { url, headers }: IncomingMessage,
): PlacedExample | undefined => {
  const preferred = PREFERRED.exec(String(headers['prefer'] ?? ''))?.[2]?.trim()
  const giving = examples.filter(({ example }) => example.given !== undefined)
  return (
    giving.find(({ name }) => name === preferred) ??
    giving.find((placed) => targetOf(placed) === url) ??
    giving.find(succeeds) ??
    giving[0]
  )
}

const succeeds = ({ example: { given = [] } }: PlacedExample): boolean =>
  [given]
    .flat()
    .every(({ error, status_code: status = 200 }) => error === undefined && status < 400)

const targetOf = (placed: PlacedExample): string | undefined => {
  const request = writeRequest(placed)
  return 'problem' in request ? undefined : request.target
}

const admitAnybody = (
  scheme: SecurityScheme,
  realmUri: string,
  { headers }: IncomingMessage,
): AuthenticationResult => {
  const { header } = credentialPlaceOf(scheme)
  if (header !== undefined && headers[header] === undefined && headers.cookie === undefined)
    return notPresented(scheme.type, realmUri)
  const { groups = [], roles = groups, scopes = [] } = scheme
  return verifyCaller({ authid: 'example', groups, roles, scopes }, scheme, realmUri)
}
