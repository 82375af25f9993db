// Writes the head of the 101 that switches a connection to a WebSocket (RFC 6455 §4.2.2).

import { composeHead, type Envelope } from '../response/own-headers.ts'
import type { HeaderList } from '../response/headers.ts'
import { headLines } from '../response/raw-head.ts'

/** The texts were validated. */
interface Chosen {
  readonly accept: string
  readonly protocol?: string | undefined
  readonly extensions?: string | undefined
}

/** @param headers of the other end; names and values must have been checked */
export const switchHead = (
  { accept, protocol, extensions }: Chosen,
  headers: HeaderList,
  envelope: Envelope,
): string =>
  `HTTP/1.1 101 Switching Protocols\r\n${headLines([
    'upgrade',
    'websocket',
    'connection',
    'Upgrade',
    'sec-websocket-accept',
    accept,
    ...(protocol === undefined ? [] : ['sec-websocket-protocol', protocol]),
    ...(extensions === undefined ? [] : ['sec-websocket-extensions', extensions]),
    ...composeHead({ headers, body: 'of others' }, envelope),
  ])}\r\n`
