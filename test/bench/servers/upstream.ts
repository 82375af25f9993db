// An upstream when there is no nginx: 200 bytes of JSON at /small, 1 MiB at /large.

import { createServer } from 'node:http'
import { LARGE_BYTES, SMALL_BODY } from '../documents.ts'

const large = Buffer.alloc(LARGE_BYTES, 'x')

createServer((request, response) => {
  const isLarge = request.url?.startsWith('/large') === true
  const body = isLarge ? large : SMALL_BODY
  response.writeHead(200, {
    'content-type': isLarge ? 'application/octet-stream' : 'application/json',
    'content-length': body.length,
  })
  response.end(body)
}).listen(Number(process.argv[2]), '127.0.0.1')
