// Defines the error of a request whose upstream broke off or does not speak HTTP/1.1.

import { CodedError } from '../../base/coded-error.ts'

/** `closed`: before its response was complete. */
export class PeerError extends CodedError<'closed' | 'malformed'> {}
