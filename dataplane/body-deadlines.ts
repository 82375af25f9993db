// Holds the one deadline list for all bodies that are being received. Its clock does not count the time that the
// process stood still, so that a body which arrived meanwhile is not rejected.

import { createDeadlines } from './deadlines.ts'

export const bodyDeadlines = createDeadlines()
