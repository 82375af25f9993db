import { describe, expect, it } from '@jest/globals'
import { makeDocument } from '../../dataplane/store/rig.ts'
import { isErrorRecord, startGateway } from './gateway.ts'

const realm = {
  uri: 'com.acme.people',
  description: 'd',
  users: [
    {
      username: 'alice',
      password_hash:
        '$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
      groups: ['staff'],
    },
  ],
  api_keys: [{ username: 'alice', key_sha256: 'ab'.repeat(32) }],
  router: {
    url: 'ws://127.0.0.1:1/ws',
    auth: { method: 'ticket', authid: 'gw', secret: 'ticket-secret-1' },
  },
}

describe('/realms', () => {
  it('creates, reads back without secrets, and lists', async () => {
    await using gateway = await startGateway()
    const created = await gateway.send('POST', '/realms', { json: realm })
    expect([created.status, created.text]).toEqual([204, ''])
    const { json, text } = await gateway.send('GET', '/realms/com.acme.people')
    expect(json).toEqual({
      uri: 'com.acme.people',
      description: 'd',
      users: [{ username: 'alice', groups: ['staff'] }],
      api_keys: [{ username: 'alice' }],
      router: { url: 'ws://127.0.0.1:1/ws', auth: { method: 'ticket', authid: 'gw' } },
      sessions: [],
      callbacks: [],
      failingProviders: [],
      failingCredentials: [],
    })
    const list = await gateway.send('GET', '/realms')
    expect(list.json).toEqual([
      {
        uri: 'com.acme',
        sessions: [],
        callbacks: [],
        failingProviders: [],
        failingCredentials: [],
      },
      json,
    ])
    expect(`${text}${list.text}`).not.toMatch(/\$scrypt|ticket-secret|abab/)
  })

  it('deletes, also what is not there, also while documents use it', async () => {
    await using gateway = await startGateway()
    await gateway.send('POST', '/api_specs', { json: makeDocument('a') })
    for (const uri of ['com.acme', 'com.acme', 'nobody', '__proto__'])
      expect((await gateway.send('DELETE', `/realms/${uri}`)).status).toBe(204)
    expect((await gateway.send('GET', '/realms/com.acme')).status).toBe(404)
    expect((await gateway.send('GET', '/api_specs/a')).status).toBe(200)
  })

  it.each([
    [{}, 'missing_required_value'],
    [{ uri: 'com.acme.people', users: 'all' }, 'invalid_datatype'],
  ])('rejects %j', async (json, code) => {
    await using gateway = await startGateway()
    const response = await gateway.send('POST', '/realms', { json })
    expect([response.status, isErrorRecord(response)]).toEqual([400, true])
    expect(response.record.code).toBe('wamp.error.invalid_argument')
    expect(response.record.errors?.[0]?.code).toBe(code)
  })

  it.each([
    ['', 'wamp.error.invalid_argument'],
    ['[]', 'wamp.error.invalid_argument'],
    ['nothing', 'svc.error.invalid_data'],
  ])('rejects the body %j', async (body, code) => {
    await using gateway = await startGateway()
    const headers = { 'content-type': 'application/json' }
    const response = await gateway.send('POST', '/realms', { body, headers })
    expect([response.status, response.record.code]).toEqual([400, code])
  })
})
