// Loads the class of undici that sends requests, without the rest of the package (fetch, caches, mocks, WebSocket):
// that would take 11 MB and 30 ms of every start.

import { createRequire } from 'node:module'
import type { Client } from 'undici'

/** The rest of the package would add `request` and its like. */
export type UndiciClient = Omit<Client, 'request' | 'stream' | 'pipeline' | 'connect' | 'upgrade'>

/** undici has no entry of its own for it; a release that moves the file fails every test of forwarding. */
export const UndiciClient = createRequire(import.meta.url)(
  'undici/lib/dispatcher/client.js',
) as new (...args: ConstructorParameters<typeof Client>) => UndiciClient
