// Requests that a page of another site makes a browser send, to paths whose credentials the browser adds by itself.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'
import { accepted } from './verdicts.ts'

let gateway: ServedGateway

const FORWARD = { action: { type: 'forward', host: 'a' } }
const NAMED = ['multipart/form-data', 'text/plain', 'application/x-www-form-urlencoded']
const basic = { type: 'basic' }

beforeEach(async () => {
  gateway = await serveGateway({
    authenticate: () => accepted(),
    forward: (exchange) => {
      exchange.succeed({ status_code: 200, headers: {}, body: 'passed' })
    },
  })
  const written = { on_result: { body: 'done' } }
  const each = { ...FORWARD, response: written }
  await gateway.load(
    apiOf({
      '/silent': { security: basic, post: each, put: each },
      '/all': { security: basic, accepts: ['*/*'], post: each },
      '/named': { security: basic, accepts: NAMED, post: each, put: each },
      '/fixed': { security: basic, post: answers('fixed'), get: answers('fixed') },
      '/key': { security: { type: 'api_key', header_name: 'x-key' }, post: each },
      '/cookie': { security: { type: 'api_key', header_name: 'Cookie' }, post: each },
      '/token': { security: { type: 'oauth2', flow: 'client_credentials' }, post: each },
      '/open': { post: each },
      '/inside': { security: { networks: ['127.0.0.0/8'] }, post: each },
      '/either': { security: [{ type: 'oauth2', flow: 'client_credentials' }, basic], post: each },
      '/optional': { security: [{ type: 'api_key', header_name: 'x-key' }, {}], post: each },
    }),
  )
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const sent = async (
  method: string,
  path: string,
  { type, site, body = 'x' }: { type?: string; site?: string; body?: string },
) =>
  gateway.ask(method, path, {
    headers: {
      ...(type !== undefined && { 'content-type': type }),
      ...(site !== undefined && { 'sec-fetch-site': site }),
    },
    ...(body !== '' && { body }),
  })

type Case = readonly [
  method: string,
  path: string,
  type: string | undefined,
  site: string | undefined,
  status: number,
]

const CASES: readonly Case[] = [
  // Those types pass where the document names them, and the browser does not say that another site asks.
  ['POST', '/silent', 'multipart/form-data; boundary=b', undefined, 415],
  ['POST', '/silent', 'Text/Plain; charset=utf-8', 'same-origin', 415],
  ['POST', '/silent', 'application/x-www-form-urlencoded', 'none', 415],
  ['PUT', '/silent', 'multipart/form-data; boundary=b', undefined, 415],
  ['POST', '/all', 'multipart/form-data; boundary=b', undefined, 415],
  ['POST', '/named', 'multipart/form-data; boundary=b', undefined, 200],
  ['POST', '/named', 'text/plain', 'same-origin', 200],
  ['POST', '/named', 'application/x-www-form-urlencoded', 'same-site', 200],
  ['POST', '/named', 'text/plain', 'none', 200],
  ['POST', '/named', 'text/plain', 'cross-site', 403],
  ['POST', '/named', 'TEXT/PLAIN ;charset=utf-8', 'cross-site', 403],
  ['POST', '/named', 'text/plain;a="b, application/json', 'cross-site', 403],
  ['POST', '/named', 'multipart/form-data; boundary=b', 'cross-site', 403],
  ['POST', '/silent', 'application/x-www-form-urlencoded', 'cross-site', 403],
  // Browsers ask before they send any of these.
  ['POST', '/silent', 'application/json', 'cross-site', 200],
  ['POST', '/silent', 'image/png', 'cross-site', 200],
  ['PUT', '/named', 'text/plain', 'cross-site', 200],
  // A page can leave the type out, and so may other clients.
  ['POST', '/silent', undefined, undefined, 200],
  ['POST', '/silent', undefined, 'same-origin', 200],
  ['POST', '/silent', undefined, 'cross-site', 403],
  ['POST', '/silent', '', 'cross-site', 403],
  // Credentials that pages have to add, or none.
  ['POST', '/key', 'multipart/form-data; boundary=b', 'cross-site', 200],
  ['POST', '/token', 'text/plain', 'cross-site', 200],
  ['POST', '/open', 'application/x-www-form-urlencoded', 'cross-site', 200],
  ['POST', '/open', undefined, 'cross-site', 200],
  ['POST', '/cookie', 'text/plain', undefined, 415],
  // Also where one alternative of several is such, and where being in a network is enough.
  ['POST', '/inside', 'multipart/form-data; boundary=b', undefined, 415],
  ['POST', '/inside', undefined, 'cross-site', 403],
  ['POST', '/inside', 'application/json', 'cross-site', 200],
  ['POST', '/either', 'text/plain', undefined, 415],
  ['POST', '/either', undefined, 'cross-site', 403],
  ['POST', '/optional', 'text/plain', 'cross-site', 200],
  ['POST', '/cookie', undefined, 'cross-site', 403],
]

describe('a request with a body', () => {
  it.each(CASES)('%s %s of type %p from %p: %d', async (...[method, path, type, site, status]) => {
    const response = await sent(method, path, {
      ...(type !== undefined && { type }),
      ...(site !== undefined && { site }),
    })
    expect(response.status).toBe(status)
  })
})

describe('a request without a body', () => {
  it.each<Case>([
    ['POST', '/fixed', undefined, 'cross-site', 403],
    ['POST', '/fixed', 'text/plain;,', 'cross-site', 403],
    ['POST', '/fixed', undefined, 'same-origin', 200],
    ['POST', '/fixed', undefined, undefined, 200],
    ['GET', '/fixed', undefined, 'cross-site', 200],
    ['HEAD', '/fixed', undefined, 'cross-site', 200],
    ['OPTIONS', '/fixed', undefined, 'cross-site', 204],
  ])('%s %s of type %p from %p: %d', async (...[method, path, type, site, status]) => {
    for (let round = 0; round < 2; round++) {
      const response = await sent(method, path, {
        body: '',
        ...(type !== undefined && { type }),
        ...(site !== undefined && { site }),
      })
      expect(response.status).toBe(status)
    }
  })
})

describe('the refusal', () => {
  it('is an error record that says what to do, and is distinct in log and decision', async () => {
    const response = await sent('POST', '/named', { type: 'text/plain', site: 'cross-site' })
    expect(response.json()).toMatchObject({
      code: 'svc.error.forbidden',
      message: 'A page of another site may not send this request with credentials of the browser',
    })
    expect(gateway.failures).toMatchObject([{ status: 403, failure: { reason: 'cross_site' } }])
  })

  it('of a type that must be named says so', async () => {
    const response = await sent('POST', '/silent', { type: 'text/plain' })
    expect(response.json()).toMatchObject({
      code: 'svc.error.unsupported_media_type',
      description: expect.stringContaining('only where its document names them in accepts'),
    })
  })
})
