// Runs an example against a gateway that serves its document: what it sends on is not known.

import type { PlacedExample } from '../../language/examples/example.ts'
import { mismatchesOf } from '../../language/examples/match-expectation.ts'
import { writeRequest } from '../../language/examples/write-request.ts'
import { messageOf } from '../../base/thrown.ts'
import type { ExampleComparison } from './run-example.ts'
import { sendRequest } from './send-request.ts'

const TIMEOUT_MS = 10_000

/** Why an example is not sent; undefined: it may be. */
export const reasonNotToSend = (
  { example, method }: PlacedExample,
  url: URL,
  methods: readonly string[],
): string | undefined => {
  const { as, address, scheme, method: other = method.toUpperCase() } = example.request ?? {}
  if (as !== undefined) return 'it has a caller'
  if (address !== undefined) return 'it has an address of a client'
  if (scheme !== undefined && `${scheme}:` !== url.protocol) return `it is sent by ${scheme}`
  return methods.includes(other)
    ? undefined
    : `it is sent by ${other}, which --methods does not name`
}

export const askGatewayBy = async (placed: PlacedExample, url: URL): Promise<ExampleComparison> => {
  const request = writeRequest(placed)
  if ('problem' in request)
    return { mismatches: [], problems: [{ path: '/request', message: request.problem }] }
  const { protocol, hostname, port } = url
  const host = request.host ?? url.host
  const connection = {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    servername: host.replace(/:\d+$/, ''),
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }
  try {
    const response = await sendRequest({ ...request, host }, connection)
    return {
      mismatches: mismatchesOf(placed.example.expect, { ...response, sent: undefined }),
      problems: [],
    }
  } catch (error) {
    const message = `there is no response: ${messageOf(error)}`
    return { mismatches: [], problems: [{ path: '', message }] }
  }
}
