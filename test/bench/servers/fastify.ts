// A well-known framework on the same work, where it is installed.

import { STATIC_BODY } from '../documents.ts'

interface App {
  get(path: string, handler: () => unknown): void
  listen(options: { port: number; host: string }): Promise<unknown>
}

const name = 'fastify'
const { default: fastify } = (await import(name)) as { default: () => App }
const app = fastify()
app.get('/v1/static', () => STATIC_BODY)
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
