// Answers HTTP requests on a free port of 127.0.0.1 with what was seen, as JSON, or with the fault that the first path
// segment asks for (`echo-behaviours.ts`). It never interprets more than framing.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { isUtf8 } from 'node:buffer'
import { ByteStream } from './byte-stream.ts'
import { behaviourOf, type Echo } from './echo-behaviours.ts'

export interface EchoUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** `127.0.0.1:PORT` */
  readonly authority: string
  readonly port: number
  /** Every request so far whose path fits: those of one path in order, paths by their first request. */
  readonly seen: (fits: (path: string) => boolean) => readonly Echo[]
  /** Connections that are open right now. */
  readonly connections: () => number
  readonly close: () => Promise<void>
}

const SHOWN_BODY_BYTES = 100_000

/**
 * @example
 * await using upstream = await startEchoUpstream()
 * // forward to `${upstream.origin}/flaky/2/503`
 * expect(upstream.seen((path) => path === '/flaky/2/503')).toHaveLength(3)
 */
export const startEchoUpstream = async (): Promise<EchoUpstream> => {
  const seen = new Map<string, Echo[]>()
  const sockets = new Set<Socket>()
  const closing = new AbortController()
  const record = (echo: Echo): number => {
    const echoes = seen.get(echo.path) ?? []
    seen.set(echo.path, echoes)
    return echoes.push(echo)
  }
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Broken and reset connections are this server's daily bread.
    void serve(socket, record, closing.signal)
      .catch(() => undefined)
      .finally(() => {
        socket.destroySoon()
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    closing.abort()
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    authority: `127.0.0.1:${port}`,
    port,
    seen: (fits) => [...seen].flatMap(([path, echoes]) => (fits(path) ? echoes : [])),
    connections: () => sockets.size,
    close,
    [Symbol.asyncDispose]: close,
  }
}

const serve = async (
  socket: Socket,
  record: (echo: Echo) => number,
  closing: AbortSignal,
): Promise<void> => {
  const stream = new ByteStream(socket)
  for (;;) {
    const echo = await readEcho(stream)
    if (echo === undefined) return
    const words = echo.path.replace(/^\/+|\/+$/g, '').split('/')
    const attempt = record(echo)
    const act = behaviourOf(words[0] ?? '')
    const keep = await act({ socket, echo, attempt, closing, args: words.slice(1) })
    if (!keep) return
  }
}

const readEcho = async (stream: ByteStream): Promise<Echo | undefined> => {
  const [method, target, version] = (await stream.line()).split(' ', 3)
  if (method === undefined || target === undefined || version === undefined) return undefined
  const headers: [string, string][] = []
  for (let line = await stream.line(); line !== ''; line = await stream.line()) {
    const [name = '', ...value] = line.split(':')
    headers.push([name.toLowerCase(), value.join(':').trim()])
  }
  const body = await readBody(stream, new Map(headers))
  const [path = '', ...query] = target.split('?')
  return {
    method,
    path,
    query: query.join('?'),
    headers,
    header: valuesByName(headers),
    ...bodyFields(body),
  }
}

const readBody = async (
  stream: ByteStream,
  headers: ReadonlyMap<string, string>,
): Promise<Buffer> => {
  if (headers.get('transfer-encoding')?.includes('chunked') !== true) {
    return stream.take(Number(headers.get('content-length') ?? 0))
  }
  const chunks: Buffer[] = []
  for (;;) {
    const size = parseInt(await stream.line(), 16)
    if (!(size > 0)) break
    chunks.push(await stream.take(size))
    await stream.line()
  }
  while ((await stream.line()) !== '');
  return Buffer.concat(chunks)
}

const valuesByName = (
  headers: readonly (readonly [string, string])[],
): Record<string, string[]> => {
  const byName = new Map<string, string[]>()
  for (const [name, value] of headers) byName.set(name, [...(byName.get(name) ?? []), value])
  return Object.fromEntries(byName)
}

const bodyFields = (
  body: Buffer,
): Pick<Echo, 'body_length' | 'body_sha256' | 'body' | 'body_hex'> => ({
  body_length: body.length,
  body_sha256: createHash('sha256').update(body).digest('hex'),
  ...(body.length > SHOWN_BODY_BYTES
    ? {}
    : isUtf8(body)
      ? { body: body.toString() }
      : { body_hex: body.toString('hex') }),
})
