// The callee of the WAMP tables: answers every call with the same JSON, as cheaply as it can be done.

import { createServer } from 'node:net'
import { MESSAGE } from '../../../dataplane/wamp/protocol/messages.ts'
import { STATIC_BODY } from '../documents.ts'
import { ask, joinRouter } from '../raw-session.ts'
import { PROCEDURE } from '../wamp-documents.ts'

const [port, router = '', realm = ''] = process.argv.slice(2)
const session = await joinRouter(router, realm)
await ask(session, [MESSAGE.register, 1, {}, PROCEDURE], MESSAGE.registered)
const result = JSON.stringify([STATIC_BODY])
session.listen(([type, id]) => {
  if (type === MESSAGE.invocation) session.send(`[${MESSAGE.yield},${String(id)},{},${result}]`)
})
// A client that can connect knows that it has registered.
createServer((socket) => socket.destroy()).listen(Number(port), '127.0.0.1')
