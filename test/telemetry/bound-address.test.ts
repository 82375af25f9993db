import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { boundAddress, urlOf } from '../../telemetry/bound-address.ts'
import { parseAddress } from '../../telemetry/settings-value.ts'

const open = async (host?: string): Promise<Server> => {
  const server = createServer()
  server.listen(host === undefined ? { port: 0 } : { port: 0, host })
  await once(server, 'listening')
  return server
}

const asked = (text: string): NonNullable<ReturnType<typeof parseAddress>> => {
  const address = parseAddress(text)
  if (address === undefined) throw new Error(text)
  return address
}

describe('boundAddress', () => {
  it('keeps the host that was requested, with the port that 0 became', async () => {
    const server = await open('127.0.0.1')
    const bound = server.address()
    const port = typeof bound === 'object' ? bound?.port : undefined
    expect(boundAddress(server, asked('localhost:0'))).toEqual({
      kind: 'tcp',
      host: 'localhost',
      port,
    })
    server.close()
  })

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
  ])('every address is what the socket says: %s', async (host, said) => {
    const server = await open(host)
    expect(boundAddress(server, asked(':0'))).toMatchObject({ host: said })
    server.close()
  })
})

it.each([
  ['[::]:18080', 'http://[::]:18080'],
  ['0.0.0.0:1', 'http://0.0.0.0:1'],
  ['unix:/run/a.sock', 'unix:/run/a.sock'],
])('%s is %s', (text, url) => {
  expect(urlOf('http', asked(text))).toBe(url)
})
