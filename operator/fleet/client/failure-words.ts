// Describes an error of a connection for a person: what is wrong and what to do. Never shows what the error carries
// beside its message.

import type { DataPlane } from '../../data-plane.ts'
import { plainText } from './plain-text.ts'

export const describeFailure = (error: unknown, { serverName }: DataPlane): string => {
  if (typeof error !== 'object' || error === null) return plainText(String(error), MAX_LENGTH)
  const member = (name: string): string => {
    const value: unknown = name in error ? error[name as keyof typeof error] : undefined
    return typeof value === 'string' ? value : ''
  }
  const code = member('code')
  if (serverName !== undefined && WRONG_NAME.has(code)) {
    return `its certificate does not carry the name ${serverName}: is it a gateway of another namespace?`
  }
  if (serverName !== undefined && UNTRUSTED.has(code)) {
    return `its certificate for ${serverName} was issued by a CA that this operator does not trust: was its Secret created by another operator?`
  }
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined
  if (known !== undefined) return known
  if (REFUSED_CERTIFICATE.test(code)) {
    return 'it does not accept our client certificate: see --management-cert and its --management-client-ca'
  }
  if (member('name') === 'TimeoutError') return NOT_IN_TIME
  const words = [member('message'), code, member('name')].find((each) => each !== '')
  return plainText(words ?? 'it failed', MAX_LENGTH)
}

/** What a library says may repeat what the other side sent. */
const MAX_LENGTH = 300

const WRONG_NAME: ReadonlySet<string> = new Set(['ERR_TLS_CERT_ALTNAME_INVALID'])
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])

/** Alerts of TLS 1.2 and 1.3 by which a server rejects a client's certificate. */
const REFUSED_CERTIFICATE =
  /^ERR_SSL_(TLS|SSL)V\w+_ALERT_(UNKNOWN_CA|CERTIFICATE_\w+|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|HANDSHAKE_FAILURE|ACCESS_DENIED)$/

const NOT_IN_TIME = 'it did not answer in time'
const UNKNOWN_CA = 'its CA is not trusted: name it with --management-ca'

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: is the gateway running?',
  ENOENT: 'there is no such socket: is the gateway running?',
  ECONNRESET: 'it broke the connection',
  UND_ERR_SOCKET: 'it broke the connection',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be established in time',
  UND_ERR_HEADERS_TIMEOUT: NOT_IN_TIME,
  UND_ERR_BODY_TIMEOUT: 'it did not finish its response in time',
  UND_ERR_HEADERS_OVERFLOW: 'the head of its response is too large: is it a gateway?',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is a clock wrong?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: name its CA with --management-ca',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate carries another name: see --management-server-name',
}
