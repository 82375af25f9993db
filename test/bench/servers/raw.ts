// The floor of every static table: node:http with a fixed body and two headers.

import { createServer } from 'node:http'
import { STATIC_BODY } from '../documents.ts'

const body = JSON.stringify(STATIC_BODY)

createServer((_request, response) => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}).listen(Number(process.argv[2]), '127.0.0.1')
