// The embedded router as clients see it that nobody here wrote: autobahn over WebSocket.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Router, startRouter } from '../../../dev/router/router.ts'
import { type AutobahnClient, connectAutobahn } from '../../../dev/router/autobahn-client.ts'

let router: Router
let caller: AutobahnClient
let callee: AutobahnClient

beforeAll(async () => {
  router = await startRouter({ realms: [{ uri: 'com.example.realm', anonymous: true }] })
  caller = await connectAutobahn(router.wsUrl, 'com.example.realm')
  callee = await connectAutobahn(router.wsUrl, 'com.example.realm')
})

afterAll(async () => {
  await router.close()
})

describe('two clients', () => {
  it('call each other', async () => {
    await callee.session.register('com.example.add', ([a, b]) => Number(a) + Number(b))
    expect(await caller.session.call('com.example.add', [2, 3])).toBe(5)
  })

  it('publish and are told', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    await callee.session.subscribe('com.example.topic', (args, kwargs) => {
      resolve([args, kwargs])
    })
    const options = { acknowledge: true }
    await caller.session.publish('com.example.topic', [1], { a: null }, options)
    expect(await promise).toEqual([[1], { a: null }])
  })
})
