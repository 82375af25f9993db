// Describes the place of a string while it is planned: what it may read, and how its problems are reported.

import type { INVALID, FoldScope } from './scope.ts'

export interface Site {
  readonly scope: FoldScope
  /**
   * Reports the message at the pointer of the string.
   * @param offset of what is wrong, within the string; absent: all of it
   */
  refuse(message: string, offset?: number): typeof INVALID
}
