// Upstreams that authenticate connections: what one client has shown there must not count for the next one.

import { expect, it } from '@jest/globals'
import { call } from './forward-fixture.ts'
import { gatewayTo, serving } from './forward-rig.ts'

it.each<[string, Readonly<Record<string, string>>, readonly string[], boolean]>([
  ['a Negotiate credential', { authorization: 'Negotiate YII=' }, [], true],
  ['an NTLM credential', { authorization: 'NTLM TlRM' }, [], true],
  ['an NTLM challenge', {}, ['NTLM'], true],
  ['a Negotiate challenge in a list', {}, ['Basic realm="a", negotiate'], true],
  ['a Negotiate challenge in a second line', {}, ['Basic realm="a"', 'Negotiate'], true],
  ['a Basic credential', { authorization: 'Basic YTpi' }, ['Basic realm="NTLM"'], false],
])(
  '%s ends the connection: it serves no other client',
  async (...[, headers, challenges, ends]) => {
    const ports: (number | undefined)[] = []
    const server = await serving((request, response) => {
      ports.push(request.socket.remotePort)
      if (challenges.length > 0) response.setHeader('www-authenticate', challenges)
      response.end('ok')
    })
    const gateway = await gatewayTo(server.origin)
    await call(gateway, { headers })
    await call(gateway)
    expect(ports).toHaveLength(2)
    expect(ports[0] !== ports[1]).toBe(ends)
  },
)
