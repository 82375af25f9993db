// The reference for forwarding: undici's dispatch handler straight into the response, and nothing else
// than what it cannot do without: back-pressure, and releasing what is not read any more.

import { createServer } from 'node:http'
import { type Dispatcher, Pool } from 'undici'

const [port, upstream] = [Number(process.argv[2]), process.argv[3] ?? '']
const pool = new Pool(upstream, { connections: 200 })

const toText = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '')

createServer((request, response) => {
  let upstreamController: Dispatcher.DispatchController | undefined
  response.on('drain', () => {
    upstreamController?.resume()
  })
  response.on('close', () => {
    if (!response.writableFinished) upstreamController?.abort(new Error('the client went away'))
  })
  pool.dispatch(
    {
      method: 'GET',
      path: request.url?.slice('/v1'.length) ?? '/',
      headers: { 'x-forwarded-for': request.socket.remoteAddress ?? '' },
    },
    {
      onRequestStart(controller) {
        upstreamController = controller
      },
      onResponseStart(_controller, status, headers) {
        const list: string[] = []
        for (const [name, value] of Object.entries(headers))
          if (name !== 'connection' && name !== 'keep-alive') list.push(name, toText(value))
        response.writeHead(status, list)
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
