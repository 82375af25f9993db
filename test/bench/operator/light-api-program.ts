// Serves a light API server on loopback by TLS, and reports by IPC to the process that started it where, and what it was asked.

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { LightApi } from './light-api.ts'

const api = new LightApi()
const authority = createCertificateAuthority('light control plane')
const { cert, key } = authority.issue('localhost')

const server = createServer({ cert, key, keepAliveTimeout: 120_000 }, (incoming, response) => {
  const { method = '', url = '/', headers } = incoming
  text(incoming).then(
    (body) => {
      api.answer(
        {
          method,
          url,
          body,
          contentType: headers['content-type'] ?? '',
          isOnlyMetadata: headers.accept?.includes('PartialObjectMetadata;') ?? false,
        },
        response,
      )
    },
    () => response.destroy(),
  )
})

process.on('message', (asked) => {
  if (asked === 'mark') api.mark()
  else process.send?.({ counts: [...api.counts] })
})
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => {
  process.send?.({ ca: authority.cert, port: (server.address() as AddressInfo).port })
})
