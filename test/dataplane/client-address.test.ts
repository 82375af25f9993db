import { expect, it } from '@jest/globals'
import { clientAddress, clientPeername } from '../../dataplane/client-address.ts'

const CLIENT = { address: '1.2.3.4', peername: '1.2.3.4:0' }

it.each([
  ['of the socket', ['192.0.2.1', 80, undefined], ['192.0.2.1', '192.0.2.1:80']],
  ['IPv6', ['2001:db8::1', 80, undefined], ['2001:db8::1', '[2001:db8::1]:80']],
  ['IPv4 in IPv6', ['::ffff:192.0.2.1', 80, undefined], ['192.0.2.1', '192.0.2.1:80']],
  ['of a Unix socket', [undefined, undefined, undefined], ['', ':0']],
  ['of whom a trusted proxy names', ['10.0.0.1', 80, CLIENT], ['1.2.3.4', '1.2.3.4:0']],
] as const)('the address %s', (_, [remoteAddress, remotePort, client], expected) => {
  const request = { socket: { remoteAddress, remotePort } }
  expect([clientAddress(request, client), clientPeername(request, client)]).toEqual(expected)
})
