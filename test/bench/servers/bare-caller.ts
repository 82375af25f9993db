// The peer of the WAMP calls: node:http and autobahn, and nothing else. GET /v1/items/7 becomes a call, its
// result JSON.

import { createServer } from 'node:http'
import { connectAutobahn } from '../../../dev/router/autobahn-client.ts'
import { autobahnOptions } from '../autobahn-options.ts'
import { PROCEDURE } from '../wamp-documents.ts'

const [port, router = '', realm = ''] = process.argv.slice(2)
const { session } = await connectAutobahn(router, realm, autobahnOptions(router))

createServer((request, response) => {
  const id = request.url?.slice('/v1/items/'.length) ?? ''
  session.call(PROCEDURE, [id]).then(
    (result) => {
      const body = JSON.stringify(result)
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    },
    (error: unknown) => {
      response.writeHead(502)
      response.end(String(error))
    },
  )
}).listen(Number(port), '127.0.0.1')
