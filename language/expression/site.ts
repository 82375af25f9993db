// Where a string stands while it is planned: what it may read, and how a fault of it is reported.

import type { FAULT, FoldScope } from './scope.ts'

export interface Site {
  readonly scope: FoldScope
  /** Reports the message at the pointer of the string. */
  refuse(message: string): typeof FAULT
}
