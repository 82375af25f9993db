// A body is read as it was sent, whatever bodies others have sent before.

import { expect, it } from '@jest/globals'
import { apiOf, serveGateway } from '../served-gateway.ts'

const FILLING = 'x'.repeat(70_000)

it.each([
  ['a small body', ''],
  ['a body that is read in pieces', FILLING],
])('%s has the keys that its client has sent', async (_, filling) => {
  await using gateway = await serveGateway()
  const action = {
    type: 'static',
    body: { read: '{{request.body |> without([filling])}}' },
  } as const
  await gateway.load(apiOf({ '/x': { post: { action, response: {} } } }))
  // As text: this process would read the response as wrongly.
  const post = async (body: string): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    return (await gateway.ask('POST', '/x', { headers, body })).text
  }
  for (const poison of ['"\\\\u00":0', '"ad\\\\u0":0', '"\\\\":0'])
    await post(`{"id":[],${poison},"filling":"${filling}"}`)
  const nested = '[{"id":1,"ad\\u006din":true}]'
  expect(await post(`{"id":1,"\\u00fcber":${nested},"filling":"${filling}"}`)).toBe(
    '{"read":{"id":1,"über":[{"id":1,"admin":true}]}}',
  )
  expect(await post(`{"id":1,"\\"":2,"filling":"${filling}"}`)).toBe('{"read":{"id":1,"\\"":2}}')
})
