// Reads the files that a browser loads from the example backend: the page that speaks WAMP, autobahn for browsers, and
// an icon. Serves no other file of this machine.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { findPageFile } from '../web/page-files.ts'
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

/** Browsers ask for it on their own. */
export const readIcon = (): Reply => {
  const icon = findPageFile('/favicon.ico')
  if (icon === undefined) return { status: 404, json: { error: 'no icon' } }
  return { status: 200, file: { type: icon.mediaType, bytes: icon.bytes } }
}
