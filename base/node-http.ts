// Gives Node's HTTP module without fetch and WebSocket, which an `import` of it would load.

import type * as Http from 'node:http'

/**
 * `import … from 'node:http'` reads all that the module exports, and its `WebSocket` loads undici then: 15 MB and 20 ms of
 * every start, whether it is used or not. Types may be imported as usual.
 * @example const { createServer } = http
 */
export const http: typeof Http = process.getBuiltinModule('node:http')
