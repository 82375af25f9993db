// Defines that a destination may not be connected to: an upstream, an identity provider or a router.

import { CodedError } from '../base/coded-error.ts'

/** No connection was attempted. The message is for the log only, as it names an internal address. */
export class DestinationError extends CodedError<'denied'> {
  constructor(message: string) {
    super('denied', message)
  }
}
