// Checks whether an object is small enough for the API server's store, and says so to the person who applies it. Pure.

import { memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'

/**
 * etcd refuses larger requests, unless its `--max-request-bytes` says otherwise: "etcdserver: request is too large".
 * @internal exported for tests
 */
export const ETCD_REQUEST_BYTES = 1.5 * 1024 * 1024

/** For the `status` that is written later, and for what else the request contains. */
const RESERVED_BYTES = 32 * 1024

const LIMIT_BYTES = ETCD_REQUEST_BYTES - RESERVED_BYTES

/** From this size on, the author gets a warning. */
const NEAR_BYTES = 0.9 * LIMIT_BYTES

export type StoredSize =
  { readonly size: 'fits' } | { readonly size: 'near' | 'too_large'; readonly message: string }

/** Its managed fields and annotations count too, as they are stored. */
export const checkStoredSize = (object: ValueMap): StoredSize => {
  const bytes = storedBytes(object)
  if (bytes <= NEAR_BYTES) return { size: 'fits' }
  const size = bytes > LIMIT_BYTES ? 'too_large' : 'near'
  const fact =
    size === 'near'
      ? `the object takes ${shown(bytes)} in the store, close to the limit`
      : `the object takes ${shown(bytes)} in the store, more than the limit`
  return {
    size,
    message:
      `${fact} of ${shown(LIMIT_BYTES)} (etcd takes requests of 1.5 MiB; a part of that is kept for the status). ` +
      (memberAt(object, 'kind') === 'Realm' ? SMALLER_REALM : SMALLER_DOCUMENT),
  }
}

const SMALLER_DOCUMENT =
  'Split the document into several ApiSpecifications (the same host, another id, other paths), or put it gzipped into ' +
  'binaryData of a ConfigMap that documentFrom names'
const SMALLER_REALM = 'Make the Realm smaller'

const shown = (bytes: number): string =>
  `${String(Math.round(bytes)).replaceAll(/\B(?=(\d{3})+$)/g, ',')} bytes`

/** As Go's encoder writes JSON: it escapes characters with a meaning in HTML. */
const storedBytes = (object: ValueMap): number => {
  const text = JSON.stringify(object)
  const bytes = Buffer.byteLength(text)
  return bytes * MOST_ESCAPED <= NEAR_BYTES ? bytes : bytes + escapeBytes(text)
}

/** `<` becomes `\u003c`. */
const MOST_ESCAPED = 6

const escapeBytes = (text: string): number => {
  let bytes = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 0x3c || code === 0x3e || code === 0x26) bytes += 5
    else if (code === 0x2028 || code === 0x2029) bytes += 3
  }
  return bytes
}
