// Reads the files that a browser loads from the example backend: the page that speaks WAMP, and autobahn for browsers.
// Serves no other file of this machine.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Asked, Reply } from './backend-reply.ts'

const require = createRequire(import.meta.url)

const FILES: ReadonlyMap<string, { readonly path: () => string; readonly type: string }> = new Map([
  [
    'websocket.html',
    {
      path: () => join(import.meta.dirname, 'pages/websocket.html'),
      type: 'text/html; charset=utf-8',
    },
  ],
  [
    'autobahn.js',
    {
      path: () => require.resolve('autobahn-browser'),
      type: 'text/javascript; charset=utf-8',
    },
  ],
])

export const readPage = async ({ rest }: Asked): Promise<Reply> => {
  const file = FILES.get(rest.join('/'))
  if (file === undefined) return { status: 404, json: { error: 'no such page' } }
  return { status: 200, file: { type: file.type, bytes: await readFile(file.path()) } }
}
