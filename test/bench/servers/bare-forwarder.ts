// The reference for forwarding: undici's dispatch handler straight into the response, and nothing else.

import { createServer, type ServerResponse } from 'node:http'
import { Pool } from 'undici'

const [port, upstream] = [Number(process.argv[2]), process.argv[3] ?? '']
const pool = new Pool(upstream, { connections: 200 })

const toText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '')

createServer((request, response: ServerResponse) => {
  pool.dispatch(
    { method: 'GET', path: request.url ?? '/', headers: { 'x-forwarded-for': '127.0.0.1' } },
    {
      onResponseStart(controller, status, headers) {
        const list: string[] = []
        for (const [name, value] of Object.entries(headers))
          if (name !== 'connection' && name !== 'keep-alive') list.push(name, toText(value))
        response.writeHead(status, list)
        response.on('drain', () => {
          controller.resume()
        })
      },
      onResponseData(controller, chunk) {
        if (!response.write(chunk)) controller.pause()
      },
      onResponseEnd() {
        response.end()
      },
      onResponseError() {
        response.destroy()
      },
    },
  )
}).listen(port, '127.0.0.1')
