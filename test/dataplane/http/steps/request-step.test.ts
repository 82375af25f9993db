import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import type { IncomingRequest } from '../../../../dataplane/http/incoming-request.ts'
import { SeenRequest } from '../../../../dataplane/http/steps/request-step.ts'

/** At a door that says nothing of its own. */
class PlainRequest extends SeenRequest {
  readonly isAcceptable = true
  protected readonly incomingRequest: Omit<IncomingRequest, 'response'>

  constructor(
    from: string | undefined,
    { client, headers = {} }: { client?: IncomingRequest['client']; headers?: object } = {},
  ) {
    super()
    const request = { method: 'OPTIONS', headers, socket: { remoteAddress: from } }
    // Only what is read of it.
    this.incomingRequest = { request: request as unknown as IncomingMessage, client } as never
  }

  checkOrigin(): undefined {
    return undefined
  }

  checkHead(): readonly [] {
    return []
  }

  checkHandshake(): undefined {
    return undefined
  }

  limit(): undefined {
    return undefined
  }

  authenticate(): undefined {
    return undefined
  }
}

const behind = (address: string, isAddressKnown: boolean): IncomingRequest['client'] =>
  ({ address, isAddressKnown }) as IncomingRequest['client']

describe('a request as steps see it', () => {
  it.each([
    ['its own, of IPv4', new PlainRequest('192.0.2.7'), '192.0.2.7'],
    [
      'of an IPv4 address that a socket of IPv6 has',
      new PlainRequest('::ffff:192.0.2.7'),
      '192.0.2.7',
    ],
    ['the /64 of an IPv6 address', new PlainRequest('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2'],
    [
      'what a trusted proxy says',
      new PlainRequest('10.0.0.1', { client: behind('192.0.2.7', true) }),
      '192.0.2.7',
    ],
    [
      'none where a trusted proxy does not say for whom it sends',
      new PlainRequest('10.0.0.1', { client: behind('10.0.0.1', false) }),
      undefined,
    ],
    ['none of a socket without addresses', new PlainRequest(undefined), undefined],
  ])('has the address of its client: %s', (_, request, address) => {
    expect(request.clientAddress).toBe(address)
  })

  it.each([
    ['a preflight', { origin: 'https://a.test', 'access-control-request-method': 'PUT' }, true],
    ['OPTIONS without a method to ask for', { origin: 'https://a.test' }, false],
    ['OPTIONS without an origin', { 'access-control-request-method': 'PUT' }, false],
  ])('tells a preflight from other requests: %s', (_, headers, isPreflight) => {
    expect(new PlainRequest('192.0.2.7', { headers }).isPreflight).toBe(isPreflight)
  })
})
