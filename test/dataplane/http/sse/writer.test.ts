// Bytes of events over TLS, where the socket is not the kernel's: in order, whole, and bounded too.

import { afterEach, expect, it } from '@jest/globals'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventOutput, toEventBytes } from '../../../../dataplane/http/sse/writer.ts'
import { createUnboundedMemory } from '../../../../dataplane/memory/memory-budget.ts'
import { createSecureServer } from '../../../../dataplane/listen/http-server.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRequest } from '../../../support/http-request.ts'

const LIMITS = {
  maxHeaderBytes: 16_384,
  headersTimeoutSeconds: 5,
  requestTimeoutSeconds: 5,
  keepAliveSeconds: 5,
}

const authority = createCertificateAuthority('test CA')
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const openOverTls = async (
  memory = createUnboundedMemory(),
): Promise<{ output: EventOutput; incoming: IncomingMessage }> => {
  let output: EventOutput | undefined
  const server = createSecureServer(
    LIMITS,
    {
      onRequest: (_, response) => {
        response.writeHead(200)
        response.flushHeaders()
        output = new EventOutput(response, memory.open())
      },
    },
    authority.issue('gateway.test'),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closers.push(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const { port } = server.address() as AddressInfo
  const tls = { ca: authority.cert, servername: 'gateway.test' }
  const incoming = await openRequest(`https://127.0.0.1:${port}/`, { tls })
  incoming.on('error', () => undefined)
  if (output === undefined) throw new Error('there was no request')
  return { output, incoming }
}

it('comes whole and in order, also to who reads late', async () => {
  const { output, incoming } = await openOverTls()
  let expected = ''
  let count = 0
  while (output.isIdle || count % 10 !== 0) {
    const text = `data: ${count++} ${'x'.repeat(20_000)}\n\n`
    expect(output.write(toEventBytes(text))).toBe(true)
    expected += text
  }
  output.end()
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(incoming, 'end')
  expect(Buffer.concat(chunks).toString() === expected).toBe(true)
  expect(output.bytes).toBe(expected.length)
})

it('is full at some point for who does not read, and then takes nothing', async () => {
  const { output } = await openOverTls()
  const event = toEventBytes('x'.repeat(100_000))
  let taken = 0
  while (taken < 1000 && output.write(event)) taken++
  expect(taken).toBeGreaterThan(10)
  expect(taken).toBeLessThan(1000)
  expect([output.write(event), output.isGone]).toEqual([false, false])
  output.destroy()
  output.end()
  await eventually(() => {
    expect(output.isGone).toBe(true)
  })
  expect(output.write(event)).toBe(false)
})

it('counts an event that waits for several clients once, and nothing when they are gone', async () => {
  const memory = createUnboundedMemory()
  const outputs = [await openOverTls(memory), await openOverTls(memory)].map(({ output }) => output)
  const event = toEventBytes('x'.repeat(8_000_000))
  const isTaken = outputs.map((output) => [output.write(event), output.write(event)])
  expect(isTaken).toEqual([
    [true, true],
    [true, true],
  ])
  expect(memory.held).toBeGreaterThanOrEqual(event.chunk.length)
  expect(memory.held).toBeLessThan(1.1 * event.chunk.length)
  for (const output of outputs) output.destroy()
  expect([memory.held, event.waiting]).toEqual([0, 0])
})
