// Defines why bytes of a peer are not read as a value, whatever their format. The message is for the peer that sent them, and
// quotes nothing of them.

import { CodedError } from '../base/coded-error.ts'

export type DecodeErrorCode =
  | 'malformed' // not of the format
  | 'too_many_values' // no body may have as many
  | 'no_memory' // for so many values, now

export class DecodeError extends CodedError<DecodeErrorCode> {}
