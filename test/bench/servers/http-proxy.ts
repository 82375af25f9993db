// A well-known proxy library on the same work, where it is installed.

import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'

interface Proxy {
  web(request: IncomingMessage, response: ServerResponse): void
  on(event: 'error', listener: () => void): void
}

interface Library {
  createProxyServer(options: { target: string; agent: Agent; xfwd: boolean }): Proxy
}

const name = 'http-proxy'
const { default: library } = (await import(name)) as { default: Library }
const proxy = library.createProxyServer({
  target: process.argv[3] ?? '',
  agent: new Agent({ keepAlive: true, maxSockets: 200 }),
  xfwd: true,
})
proxy.on('error', () => undefined)
createServer((request, response) => {
  request.url = request.url?.slice('/v1'.length) ?? '/'
  proxy.web(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')
