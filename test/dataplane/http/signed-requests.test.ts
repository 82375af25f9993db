// Signed requests through a whole listener: the signature covers the bytes as they came, within the limits of the document,
// whatever becomes of the body afterwards.

import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { eventually } from '../../support/eventually.ts'
import { type SecurityHome, securityHome } from '../security/security-home.ts'
import { apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

const SECRET = 'tell-nobody'

const REALM: RealmRecord = {
  uri: 'com.acme',
  signatures: {
    partner: { secrets: [SECRET] },
    hub: { preset: 'github', secrets: [SECRET] },
  },
}

let gateway: ServedGateway
let home: SecurityHome
let sent: string[]
let status: number
let memory: MemoryBudget

const LIMITS = { body_max_bytes: 4000, body_read_bytes: 1000 }

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await home.shared.close()
  if (gateway.unexpected.length > 0) throw gateway.unexpected[0] as Error
})

const serve = async (security: unknown = { type: 'hmac', signature: 'hub' }): Promise<void> => {
  home = securityHome({ realms: [REALM] })
  sent = []
  status = 200
  memory = new MemoryBudget({ size: 2 ** 24 })
  gateway = await serveGateway({
    memory,
    authenticate: (...given) => home.authenticate(...given),
    realms: new Map([[REALM.uri, REALM]]),
    forward: (exchange) => {
      sent.push(exchange.rawBody?.toString('latin1') ?? 'streamed')
      exchange.succeed({ status_code: status, headers: {}, body: 'sent', uri: '' })
    },
  })
  const forward = { type: 'forward', host: 'http://u.test' }
  await gateway.load(
    apiOf({
      '/forwarded': { security, ...LIMITS, post: { action: forward } },
      '/read': {
        security,
        ...LIMITS,
        post: { action: { type: 'static', body: '{{request.body}} of {{security.authid}}' } },
      },
      '/unread': { security, ...LIMITS, post: { action: { type: 'static', body: 'ok' } } },
      '/limited': {
        security,
        rate_limits: { own: { requests: 1, seconds: 60, by: '{{security.authid}}' } },
        post: { action: { type: 'static', body: 'ok' } },
      },
    }),
  )
}

const hub = (body: string | Buffer): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
})

const standard = (id: string, body: string): Readonly<Record<string, string>> => {
  const time = Math.floor(home.clock.now() / 1000)
  const mac = createHmac('sha256', SECRET).update(`${id}.${time}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,${mac}`,
  }
}

const post = (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer) =>
  gateway.ask('POST', path, { headers, body })

describe('a signed request', () => {
  it.each<[string, string, string]>([
    ['/forwarded', '{"a": 1.0}', '"sent"'],
    ['/read', '{"a": 1.0}', '{"a":1} of hub'],
    ['/unread', '{"a": 1.0}', '"ok"'],
    ['/unread', '', '"ok"'],
  ])('to %s with the body %s gets %s', async (path, body, text) => {
    await serve()
    const response = await post(path, hub(body), body)
    expect(response.status).toBe(200)
    expect(response.text.replaceAll('\\"', '"')).toContain(text.replaceAll(/^"|"$/g, ''))
    expect(sent).toEqual(path === '/forwarded' ? [body] : [])
    // What was held for it is given back with its response.
    await eventually(() => {
      expect(memory.held).toBe(0)
    })
  })

  it('that is compressed is signed, and forwarded, as it came', async () => {
    await serve()
    const body = gzipSync('{"a":1}')
    const headers = { ...hub(body), 'content-encoding': 'gzip' }
    expect((await post('/forwarded', headers, body)).status).toBe(200)
    expect(sent).toEqual([body.toString('latin1')])
    expect((await post('/read', headers, body)).text).toContain('of hub')
    const plain = { ...hub('{"a":1}'), 'content-encoding': 'gzip' }
    expect((await post('/read', plain, body)).status).toBe(401)
  })

  it.each(['/forwarded', '/read', '/unread'])(
    'to %s is refused where one byte is another, and nothing is done',
    async (path) => {
      await serve()
      const response = await post(path, hub('{"a":1}'), '{"a":2}')
      expect(response.status).toBe(401)
      expect(response.headers['www-authenticate']).toBe('Signature realm="com.acme"')
      expect(sent).toEqual([])
      expect(gateway.failures).toMatchObject([{ failure: { reason: 'signature_wrong' } }])
    },
  )

  it.each(['/forwarded', '/read', '/unread'])(
    'to %s may be as large as what is buffered, declared or not',
    async (path) => {
      await serve()
      const body = JSON.stringify('x'.repeat(1200))
      const declared = await post(path, hub(body), body)
      expect(declared.status).toBe(413)
      const chunked = { ...hub(body), 'transfer-encoding': 'chunked' }
      expect((await post(path, chunked, body)).status).toBe(413)
      expect(sent).toEqual([])
    },
  )

  it('without a signature is answered before its body has come', async () => {
    await serve()
    const client = await gateway.raw(
      'POST /read HTTP/1.1\r\nhost: a.test\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{',
    )
    expect((await client.response()).status).toBe(401)
    client.close()
  })

  it('does not lend its signature to the next one of the connection', async () => {
    await serve()
    const signature = hub('{}')['x-hub-signature-256'] ?? ''
    const head = (body: string): string =>
      `POST /read HTTP/1.1\r\nhost: a.test\r\ncontent-type: application/json\r\nx-hub-signature-256: ${signature}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const client = await gateway.raw(head('{}') + head('[]') + head('{}'))
    const statuses = [
      (await client.response()).status,
      (await client.response()).status,
      (await client.response()).status,
    ]
    expect(statuses).toEqual([200, 401, 200])
    client.close()
  })

  it('is counted by the limits of its sender', async () => {
    await serve()
    expect((await post('/limited', hub('{}'), '[]')).status).toBe(401)
    expect((await post('/limited', hub('{}'), '{}')).status).toBe(200)
    expect((await post('/limited', hub('[]'), '[]')).status).toBe(429)
  })

  it('of another method or path spelling needs its signature too', async () => {
    await serve()
    for (const path of ['/%72ead', '/read?x=1', '//read', '/read/'])
      expect((await post(path, {}, '{}')).status).not.toBe(200)
  })
})

describe('a delivery that comes again', () => {
  it('is refused with 409, and a retry with its own time passes', async () => {
    await serve({ type: 'hmac', signature: 'partner' })
    const headers = standard('msg_1', '{}')
    expect((await post('/forwarded', headers, '{}')).status).toBe(200)
    const again = await post('/forwarded', headers, '{}')
    expect([again.status, again.json()]).toMatchObject([409, { code: 'svc.error.conflict' }])
    expect(gateway.failures).toMatchObject([{ failure: { reason: 'signature_replayed' } }])
    home.clock.advance(1000)
    expect((await post('/forwarded', standard('msg_1', '{}'), '{}')).status).toBe(200)
    expect(sent).toHaveLength(2)
  })

  it('passes where the first one has failed at the upstream', async () => {
    await serve({ type: 'hmac', signature: 'partner' })
    const headers = standard('msg_1', '{}')
    status = 503
    expect((await post('/forwarded', headers, '{}')).status).toBe(503)
    status = 200
    expect((await post('/forwarded', headers, '{}')).status).toBe(200)
    expect((await post('/forwarded', headers, '{}')).status).toBe(409)
  })
})
