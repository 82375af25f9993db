// The peers of the WAMP tables, on the router of the playground.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { MESSAGE } from '../../dataplane/wamp/protocol/messages.ts'
import { type Router, startRouter } from '../../dev/router/router.ts'
import { ask, joinRouter } from './raw-session.ts'

const REALM = 'com.example.realm'
let router: Router

beforeAll(async () => {
  router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
})
afterAll(() => router.close())

it('one registers and answers, the other calls, as many at once as it likes', async () => {
  using callee = await joinRouter(router.rawSocketUrl, REALM)
  await ask(callee, [MESSAGE.register, 1, {}, 'com.bench.item'], MESSAGE.registered)
  callee.listen(([, id]) => {
    callee.send(`[${MESSAGE.yield},${String(id)},{},["ü"]]`)
  })

  using caller = await joinRouter(router.rawSocketUrl, REALM)
  const responses: unknown[] = []
  const all = new Promise<void>((resolve) => {
    caller.listen((message) => {
      if (responses.push(message) === 3) resolve()
    })
  })
  for (const id of [1, 2, 3]) caller.send(`[${MESSAGE.call},${id},{},"com.bench.item"]`)
  await all
  expect(responses).toEqual([1, 2, 3].map((id) => [MESSAGE.result, id, {}, ['ü']]))
})

it('says what the router has against a request', async () => {
  using peer = await joinRouter(router.rawSocketUrl, REALM)
  const request = [MESSAGE.call, 1, {}, 'com.bench.nobody']
  await expect(ask(peer, request, MESSAGE.result)).rejects.toThrow('no_such_procedure')
})

it('says what the router has against its joining', async () => {
  await expect(joinRouter(router.rawSocketUrl, 'com.example.none')).rejects.toThrow('no_such_realm')
})
