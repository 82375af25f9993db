// Defines that a destination may not be connected to: an upstream, an identity provider or a router.

import { CodedError } from '../base/coded-error.ts'

/** Nobody tried to connect. The message goes to the log only: it names an inner address. */
export class DestinationError extends CodedError<'denied'> {
  constructor(message: string) {
    super('denied', message)
  }
}
